"""Compose your own search strategies: from parts, with a Python heuristic, with a compiled one."""

from sklearn.datasets import load_wine

from codt import Heuristic, Search, Strategy

try:
    from numba import cfunc
except ModuleNotFoundError:
    cfunc = None


def prefer_shallow(
    lower_bound: float, support: float, depth: float, feature_rank: float, split_discrepancy: float
) -> float:
    """Prefer low bounds per sample; among equals, intervals close to the root and to the greedy split."""
    return lower_bound / support - depth + 0.01 * (feature_rank + split_discrepancy)


def strategies_to_try() -> list[Strategy]:
    by_parts = Strategy(
        "small-balanced",
        priority=["heuristic", "expanded"],
        left_right="fewest-expansions",
        heuristic=Heuristic.linear(lower_bound=1, support=1),
    )
    by_function = Strategy(
        "shallow", priority=["heuristic", "expanded"], left_right="heuristic", heuristic=prefer_shallow
    )
    found = [by_parts, by_function]
    if cfunc is not None:
        compiled = cfunc("f8(f8, f8, f8, f8, f8)")(prefer_shallow)
        found.append(
            Strategy(
                "shallow-compiled",
                priority=["heuristic", "expanded"],
                left_right="heuristic",
                heuristic=compiled,
            )
        )
    return found


def main() -> None:
    X, y = load_wine(return_X_y=True)
    for strategy in strategies_to_try():
        # With terminal="depth-two" the whole tree would be one subproblem, with nothing to watch.
        search = Search(X, y, task="classification", max_depth=2, strategy=strategy, terminal="left-right")
        print(strategy.name)
        while not search.complete:
            search.step(200)
            lower, upper = search.bounds
            print(f"  {search.n_expansions:6} expansions: between {lower:g} and {upper:g} misclassified")


if __name__ == "__main__":
    main()
