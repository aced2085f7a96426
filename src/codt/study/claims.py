"""What the paper says, statement by statement, and whether a run confirms it.

A statement is a row of :data:`CLAIMS`: its words, the study that tests it, the figure that shows it, and a test. Most
tests are made by one of the functions of :mod:`codt.study.judging`, from a metric, depths, and a condition on the
numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codt.study.confidence import NO_DATA, Verdict, weigh
from codt.study.description import find
from codt.study.judging import (
    Test,
    grows_logarithmically,
    means,
    no_difference,
    reduction,
    share_completed,
    threads_help,
    times_slower,
    wins,
)
from codt.study.metrics import Study


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, the study that tests it and the figure that shows it."""

    statement: str
    study: str
    figure: str
    test: Test

    def judge(self, studies: Sequence[Study]) -> tuple[Verdict, Study | None]:
        """Return the verdict of the first of the studies that tests this statement."""
        compared = find(self.study).variants()
        for study in studies:
            # A user's own study may happen to have the name, but compare something else.
            if study.description.base_name == self.study and study.description.variants() == compared:
                try:
                    return weigh(self.test, study), study
                except KeyError as error:  # a label that the run does not have
                    return Verdict(NO_DATA, f"the run has no {error.args[0]}"), study
        return Verdict(NO_DATA, f"{self.study} was not run"), None


_SMALL = ["bfs-small-lb", "bfs-small", "bfs-small-t-lb"]
_LARGE = ["bfs-large", "bfs-large-lb", "bfs-large-t-lb"]
_PEERS = ("codt", "pycontree", "pystreed")

# In the tests, m holds the mean of every label in ascending order: m.index[0] is the best label.
CLAIMS = (
    Claim(
        "bfs-small-lb completes the search fastest.",
        "strategies-runtime",
        "runtime",
        means("runtime", (3, 4), lambda m: m.index[0] == "bfs-small-lb", champion="bfs-small-lb"),
    ),
    Claim(
        "bfs-large-lb, GOSDT's order, is among the worst in run time.",
        "strategies-runtime",
        "runtime",
        means("runtime", (3, 4), lambda m: "bfs-large-lb" in m.index[-2:]),
    ),
    Claim(
        "bfs-small-lb and dfs-blossom have the best anytime behaviour.",
        "strategies-oi",
        "oi",
        means("oi", (4, 5, 6), lambda m: set(m.index[:2]) == {"bfs-small-lb", "dfs-blossom"}),
    ),
    Claim(
        "lds-mid and and-or have a medium anytime behaviour.",
        "strategies-oi",
        "oi",
        means("oi", (4, 5, 6), lambda m: set(m.index[2:4]) == {"lds-mid", "and-or"}),
    ),
    Claim(
        "dfs-blossom has the best anytime behaviour for d >= 5.",
        "strategies-oi",
        "oi",
        means("oi", (5, 6), lambda m: m.index[0] == "dfs-blossom", champion="dfs-blossom"),
    ),
    Claim(
        "Best-first strategies do not differ significantly in run time at d = 3.",
        "bfs-variants",
        "runtime",
        no_difference("runtime", 3),
    ),
    Claim(
        "Small support first beats a random order in run time.",
        "bfs-variants",
        "runtime",
        means("runtime", (4,), lambda m: bool((m[_SMALL] < m["bfs-random"]).all())),
    ),
    Claim(
        "Small support first beats a random order in anytime behaviour (d = 4, 5).",
        "bfs-variants",
        "oi",
        means("oi", (4, 5), lambda m: bool((m[_SMALL] < m["bfs-random"]).all())),
    ),
    Claim(
        "Small support as a tie breaker only (bfs-lb-t-small) does not beat a random order in run time.",
        "bfs-variants",
        "runtime",
        means("runtime", (4,), lambda m: m["bfs-lb-t-small"] >= m["bfs-random"]),
    ),
    Claim(
        "Large support first is worse than a random order.",
        "bfs-variants",
        "runtime",
        means("runtime", (4,), lambda m: bool((m[_LARGE] > m["bfs-random"]).all())),
    ),
    Claim(
        "Large support first is worse than a random order in anytime behaviour.",
        "bfs-variants",
        "oi",
        means("oi", (4, 5, 6), lambda m: bool((m[_LARGE] > m["bfs-random"]).all())),
    ),
    Claim(
        "At d = 6 the random order has the best anytime behaviour.",
        "bfs-variants",
        "oi",
        means("oi", (6,), lambda m: m.index[0] == "bfs-random", champion="bfs-random"),
    ),
    Claim(
        "Depth-first strategies differ little in run time.",
        "dfs-variants",
        "runtime",
        means("runtime", (3, 4), lambda m: m.iloc[-1] <= 1.2 * m.iloc[0], "taken as little: up to 20 %"),
    ),
    Claim(
        "dfs-contree is similar to dfs-random in anytime behaviour (d >= 5).",
        "dfs-variants",
        "oi",
        means(
            "oi",
            (5, 6),
            lambda m: 0.8 <= m["dfs-contree"] / m["dfs-random"] <= 1.25,
            "taken as similar: within a quarter",
        ),
    ),
    Claim(
        "dfs-prio and dfs-blossom have a better anytime behaviour than dfs-contree and dfs-random (d >= 5).",
        "dfs-variants",
        "oi",
        means("oi", (5, 6), lambda m: set(m.index[:2]) == {"dfs-prio", "dfs-blossom"}),
    ),
    Claim(
        "lds-mid beats lds in run time.",
        "lds-variants",
        "runtime",
        means("runtime", (3, 4), lambda m: m["lds-mid"] < m["lds"]),
    ),
    Claim(
        "lds-mid beats lds in anytime behaviour.",
        "lds-variants",
        "oi",
        means("oi", (5, 6), lambda m: m["lds-mid"] < m["lds"]),
    ),
    Claim(
        "dfs-blossom uses the least memory.",
        "memory",
        "memory",
        means("memory", (), lambda m: m.index[0] == "dfs-blossom"),
    ),
    Claim(
        "bfs-small-lb uses less memory than the other strategies that are not depth first.",
        "memory",
        "memory",
        means("memory", (), lambda m: m["bfs-small-lb"] < m.drop(["dfs-blossom", "bfs-small-lb"]).min()),
    ),
    Claim(
        "The depth-two terminal case beats left-right in time.",
        "terminal-cases",
        "runtime",
        reduction("runtime", (3, 4), "left-right", lambda share: share > 0),
    ),
    Claim(
        "Depth two beats left-right by about 30 % in time.",
        "terminal-cases",
        "runtime",
        reduction(
            "runtime", (3, 4), "left-right", lambda share: 0.2 <= share <= 0.4, "taken as about 30 %: 20 to 40 %"
        ),
    ),
    Claim(
        "At d = 2 left-right and depth two are similar.",
        "terminal-cases",
        "runtime",
        reduction("runtime", (2,), "left-right", lambda share: abs(share) <= 0.2, "taken as similar: within 20 %"),
    ),
    Claim(
        "Leaves as terminal case are slower by orders of magnitude at d = 2.",
        "terminal-cases",
        "runtime",
        reduction("runtime", (2,), "leaf", lambda share: share >= 0.99, "the paper: 99.7 %"),
    ),
    Claim(
        "Leaves as terminal case are slower by orders of magnitude for d >= 3.",
        "terminal-cases",
        "runtime",
        reduction("runtime", (3, 4), "leaf", lambda share: share >= 0.99),
    ),
    Claim(
        "Depth two needs less memory than left-right.",
        "terminal-cases",
        "memory",
        reduction("memory", (3, 4), "left-right", lambda share: share > 0, "the paper: 60 % at d = 3, 48 % at d = 4"),
    ),
    Claim(
        "The expansions of depth two grow with the logarithm of the samples.",
        "depth-two-scaling",
        "growth",
        grows_logarithmically,
    ),
    Claim(
        "One thread of codt is similar to ConTree in run time.",
        "baselines-classification",
        "runtime",
        times_slower("pycontree", lambda ratio: 0.5 <= ratio <= 2, "taken as similar: within a factor of 2"),
    ),
    Claim(
        "codt has the best anytime behaviour of all methods.",
        "baselines-classification",
        "oi",
        means(
            "oi", (), lambda m: m.index[0] == "codt", "peers have no trace: their tree counts from their end", _PEERS
        ),
    ),
    Claim(
        "codt has a much better anytime behaviour than ConTree for d >= 5.",
        "baselines-classification",
        "oi",
        means(
            "oi",
            (5, 6),
            lambda m: m["codt"] <= 0.5 * m["pycontree"],
            "taken as much: half; peers have no trace: their tree counts from their end",
            _PEERS,
        ),
    ),
    Claim(
        "STreeD struggles with one binary feature for every split.",
        "baselines-classification",
        "runtime",
        share_completed("pystreed", lambda share: share < 0.5),
    ),
    Claim("Several threads make codt faster.", "baselines-classification", "runtime", threads_help),
    Claim(
        "For regression codt outperforms the state of the art by a large margin.",
        "baselines-regression",
        "runtime",
        times_slower("pystreed", lambda ratio: ratio >= 10, "taken as a large margin: 10 times"),
    ),
    Claim(
        "On 100 samples codt is several orders of magnitude faster than GOSDT.",
        "down-sampled",
        "runtime",
        times_slower("gosdt", lambda ratio: ratio >= 100, "taken as several orders: 100 times"),
    ),
    Claim(
        "On 100 samples codt is an order of magnitude faster than STreeD.",
        "down-sampled",
        "runtime",
        times_slower("pystreed", lambda ratio: ratio >= 10),
    ),
    Claim(
        "dfs-blossom and lds-mid often have the best anytime behaviour.",
        "profiles",
        "oi",
        wins("oi", ("dfs-blossom", "lds-mid"), lambda share: share > 0.5),
    ),
)
