"""What the paper says, statement by statement, and whether a run confirms it.

A statement is a row of :data:`CLAIMS`: its words, the study that tests it, the figure that shows it, and a test. Most
tests are made by one of the functions of :mod:`codt.study.judging`, from a metric, depths, and a condition on the
numbers. Where the paper calls a difference significant, its test is ours, with a data set as the unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codt.study.confidence import NO_DATA, Verdict, weigh
from codt.study.description import find
from codt.study.judging import (
    Test,
    beats_peers,
    before,
    grows_logarithmically,
    means,
    no_difference,
    reduction,
    rises_with_depth,
    share_completed,
    significantly_better,
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
        """Return the verdict of the longest of the studies that tests this statement."""
        compared = find(self.study).variants()
        for study in sorted(studies, key=lambda study: _LONGEST_FIRST.index(study.description.form)):
            # A user's own study may happen to have the name, but compare something else.
            if study.description.base_name == self.study and study.description.variants() == compared:
                try:
                    return weigh(self.test, study), study
                except KeyError as error:  # a label that the run does not have
                    return Verdict(NO_DATA, f"the run has no {error.args[0]}"), study
        return Verdict(NO_DATA, f"{self.study} was not run"), None


_LONGEST_FIRST = ("full", "standard", "quick")

_SMALL = ["bfs-small-lb", "bfs-small", "bfs-small-t-lb"]
_LARGE = ["bfs-large", "bfs-large-lb", "bfs-large-t-lb"]
_REST = ["bfs-lb", "bfs-lb-t-small", "bfs-lb-t-large", "bfs-curiosity", *_LARGE]
_OTHERS = ["bfs-small-lb", "lds-mid", "and-or", "bfs-large-lb"]
_PEERS = ("pycontree", "pystreed")

# In the tests, m holds the mean of every label in ascending order: m.index[0] is the best label.
CLAIMS = (
    Claim(
        "bfs-small-lb completes the search fastest.",
        "strategies-runtime",
        "runtime",
        before("runtime", (3, 4), ["bfs-small-lb"]),
    ),
    Claim(
        "bfs-large-lb, GOSDT's order, is among the worst in run time.",
        "strategies-runtime",
        "runtime",
        means("runtime", (3, 4), lambda m: "bfs-large-lb" in m.index[-2:], pair=("bfs-small-lb", "bfs-large-lb")),
    ),
    Claim(
        "At larger depths almost no search is completed.",
        "strategies-oi",
        "oi",
        share_completed((), (5, 6), lambda share: share < 0.1),
    ),
    Claim(
        "bfs-small-lb and dfs-blossom have the best anytime behaviour.",
        "strategies-oi",
        "oi",
        before("oi", (4, 5, 6), ["bfs-small-lb", "dfs-blossom"]),
    ),
    Claim(
        "lds-mid and and-or have a medium anytime behaviour.",
        "strategies-oi",
        "oi",
        means(
            "oi",
            (4, 5, 6),
            lambda m: (
                m["dfs-blossom"] < m[["lds-mid", "and-or"]].min() and m[["lds-mid", "and-or"]].max() < m["bfs-large-lb"]
            ),
            "taken as medium: between dfs-blossom and bfs-large-lb",
            pair=("dfs-blossom", "lds-mid"),
        ),
    ),
    Claim(
        "dfs-blossom has the best anytime behaviour for d >= 5.",
        "strategies-oi",
        "oi",
        before("oi", (5, 6), ["dfs-blossom"]),
    ),
    Claim(
        "For d >= 5 dfs-blossom is significantly better than the rest.",
        "strategies-oi",
        "oi",
        significantly_better("oi", (5, 6), ["dfs-blossom"], _OTHERS),
    ),
    Claim(
        "Best-first strategies do not differ significantly in run time at d = 3.",
        "bfs-variants",
        "runtime",
        no_difference("runtime", 3),
    ),
    Claim(
        "Small support first beats a random order in run time (d = 4).",
        "bfs-variants",
        "runtime",
        before("runtime", (4,), _SMALL, ["bfs-random"]),
    ),
    Claim(
        "Small support first beats a random order in anytime behaviour (d = 4, 5).",
        "bfs-variants",
        "oi",
        before("oi", (4, 5), _SMALL, ["bfs-random"]),
    ),
    Claim(
        "Small support first has the best anytime behaviour of the best-first strategies (d = 4, 5).",
        "bfs-variants",
        "oi",
        before("oi", (4, 5), _SMALL),
    ),
    Claim(
        "Small support as a tie breaker only (bfs-lb-t-small) does not beat a random order in run time.",
        "bfs-variants",
        "runtime",
        before("runtime", (4,), ["bfs-random"], ["bfs-lb-t-small"]),
    ),
    Claim(
        "No other order than small support first beats a random one in run time (d = 4).",
        "bfs-variants",
        "runtime",
        before("runtime", (4,), ["bfs-random"], _REST),
    ),
    Claim(
        "No other order than small support first beats a random one in anytime behaviour (d = 4, 5).",
        "bfs-variants",
        "oi",
        before("oi", (4, 5), ["bfs-random"], _REST),
    ),
    Claim(
        "Large support first is significantly worse than a random order in run time (d = 4).",
        "bfs-variants",
        "runtime",
        significantly_better("runtime", (4,), ["bfs-random"], _LARGE),
    ),
    Claim(
        "Large support first is significantly worse than a random order in anytime behaviour.",
        "bfs-variants",
        "oi",
        significantly_better("oi", (4, 5, 6), ["bfs-random"], _LARGE),
    ),
    Claim(
        "At d = 6 the random order has the best anytime behaviour.",
        "bfs-variants",
        "oi",
        before("oi", (6,), ["bfs-random"]),
    ),
    Claim(
        "Depth-first strategies differ little in run time.",
        "dfs-variants",
        "runtime",
        means("runtime", (3, 4), lambda m: m.iloc[-1] <= 1.2 * m.iloc[0], "taken as little: up to 20 %"),
    ),
    Claim(
        "Depth-first strategies differ little in anytime behaviour at d = 3 and 4.",
        "dfs-variants",
        "oi",
        means("oi", (3, 4), lambda m: m.iloc[-1] - m.iloc[0] <= 0.1, "taken as little: a tenth of the scale"),
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
            pair=("dfs-random", "dfs-contree"),
        ),
    ),
    Claim(
        "The anytime behaviour of dfs-contree and dfs-random gets worse with the depth.",
        "dfs-variants",
        "oi",
        rises_with_depth("oi", (5, 6), ["dfs-contree", "dfs-random"]),
    ),
    Claim(
        "dfs-prio and dfs-blossom have a better anytime behaviour than dfs-contree and dfs-random (d >= 5).",
        "dfs-variants",
        "oi",
        before("oi", (5, 6), ["dfs-prio", "dfs-blossom"], ["dfs-contree", "dfs-random"]),
    ),
    Claim(
        "dfs-prio and dfs-blossom are significantly better than dfs-contree and dfs-random (d >= 5).",
        "dfs-variants",
        "oi",
        significantly_better("oi", (5, 6), ["dfs-prio", "dfs-blossom"], ["dfs-contree", "dfs-random"]),
    ),
    Claim(
        "Balancing the two sides, dfs-blossom instead of dfs-prio, improves the anytime behaviour (d >= 5).",
        "dfs-variants",
        "oi",
        before("oi", (5, 6), ["dfs-blossom"], ["dfs-prio"]),
    ),
    Claim(
        "lds-mid beats lds in run time.",
        "lds-variants",
        "runtime",
        before("runtime", (3, 4), ["lds-mid"], ["lds"]),
    ),
    Claim(
        "lds-mid beats lds in anytime behaviour.",
        "lds-variants",
        "oi",
        before("oi", (5, 6), ["lds-mid"], ["lds"]),
    ),
    Claim(
        "dfs-blossom uses the least memory.",
        "memory",
        "memory",
        before("memory", (), ["dfs-blossom"]),
    ),
    Claim(
        "bfs-small-lb needs hardly more memory than dfs-blossom.",
        "memory",
        "memory",
        means(
            "memory",
            (),
            lambda m: m["bfs-small-lb"] <= 2 * m["dfs-blossom"],
            "taken as hardly more: up to twice",
            pair=("dfs-blossom", "bfs-small-lb"),
        ),
    ),
    Claim(
        "The other strategies need much more memory.",
        "memory",
        "memory",
        means(
            "memory",
            (),
            lambda m: m.drop(["dfs-blossom", "bfs-small-lb"]).min() >= 2 * m["bfs-small-lb"],
            "taken as much: twice",
            pair=("bfs-small-lb", "and-or"),
        ),
    ),
    Claim(
        "The depth-two terminal case beats left-right in time.",
        "terminal-cases",
        "runtime",
        reduction("runtime", (3, 4), "left-right", lambda share: share > 0),
    ),
    Claim(
        "Depth two beats left-right by about 32 % in time at d = 3.",
        "terminal-cases",
        "runtime",
        reduction("runtime", (3,), "left-right", lambda share: 0.22 <= share <= 0.42, "taken as about: 10 points off"),
    ),
    Claim(
        "Depth two beats left-right by about 28 % in time at d = 4.",
        "terminal-cases",
        "runtime",
        reduction("runtime", (4,), "left-right", lambda share: 0.18 <= share <= 0.38, "taken as about: 10 points off"),
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
        reduction(
            "runtime", (2,), "leaf", lambda share: share >= 0.99, "taken as orders: 100 times; the paper: 99.7 %"
        ),
    ),
    Claim(
        "Leaves as terminal case are slower by orders of magnitude for d >= 3.",
        "terminal-cases",
        "runtime",
        reduction("runtime", (3, 4), "leaf", lambda share: share >= 0.99, "taken as orders: 100 times"),
    ),
    Claim(
        "Depth two needs less memory than left-right at d = 3.",
        "terminal-cases",
        "memory",
        reduction("memory", (3,), "left-right", lambda share: share > 0, "the paper: 60 %"),
    ),
    Claim(
        "Depth two needs less memory than left-right at d = 4.",
        "terminal-cases",
        "memory",
        reduction("memory", (4,), "left-right", lambda share: share > 0, "the paper: 48 %"),
    ),
    Claim(
        "The expansions of depth two seem to grow with the logarithm of the samples.",
        "depth-two-scaling",
        "growth",
        grows_logarithmically,
    ),
    Claim(
        "One thread of codt is similar to ConTree in run time.",
        "baselines-classification",
        "runtime",
        times_slower(
            "pycontree",
            (3, 4),
            lambda ratio: 0.5 <= ratio <= 2,
            "taken as similar: within a factor of 2; the paper's table has 0.59",
        ),
    ),
    Claim(
        "codt has the best anytime behaviour of codt, ConTree and STreeD.",
        "baselines-classification",
        "oi",
        beats_peers(_PEERS, ()),
    ),
    Claim(
        "At d = 3 and 4, too, no peer has a better anytime behaviour than codt.",
        "baselines-classification",
        "oi",
        beats_peers(_PEERS, (3, 4)),
    ),
    Claim(
        "codt has a much better anytime behaviour than ConTree for d >= 5.",
        "baselines-classification",
        "oi",
        beats_peers(("pycontree",), (5, 6), 0.5, "taken as much: half"),
    ),
    Claim(
        "STreeD struggles with one binary feature for every split.",
        "baselines-classification",
        "runtime",
        share_completed(("pystreed",), (), lambda share: share < 0.5),
    ),
    Claim("Several threads make codt faster.", "baselines-classification", "runtime", threads_help),
    Claim(
        "For regression codt is far faster than STreeD.",
        "baselines-regression",
        "runtime",
        times_slower(
            "pystreed",
            (3,),
            lambda ratio: ratio >= 10,
            "taken as far: 10 times; the paper's other peer, Quant-BnB, was not run",
        ),
    ),
    Claim(
        "On 100 samples codt is several orders of magnitude faster than GOSDT.",
        "down-sampled",
        "runtime",
        times_slower("gosdt", (), lambda ratio: ratio >= 100, "taken as several orders: at least two"),
    ),
    Claim(
        "On 100 samples codt is an order of magnitude faster than STreeD.",
        "down-sampled",
        "runtime",
        times_slower("pystreed", (), lambda ratio: ratio >= 10),
    ),
    Claim(
        "dfs-blossom and lds-mid often have the best anytime behaviour.",
        "profiles",
        "oi",
        wins("oi", ("dfs-blossom", "lds-mid"), lambda share: share > 0.5, "two of four would win half by chance"),
    ),
)
