"""Draw in which order the strategies expand the search tree: docs/images/search-order.png.

Every dot is one expansion, from left to right in the order in which they were made. Its height is the test at the root
of the trees considered: a strategy that stays with one root until it is done draws lines, one that goes where its
heuristic is best at the moment draws clouds.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from sklearn.datasets import load_wine

from codt import Search

OUTPUT = Path(__file__).parent.parent / "docs" / "images" / "search-order.png"
FEATURES = [0, 9]  # alcohol and colour intensity
SHOWN = ["dfs-prio", "dfs-blossom", "dfs-contree", "dfs-random", "bfs-lb", "bfs-small", "lds", "and-or"]
COLORS = {"at the root": "black", "below, on the left": "#0072b2", "below, on the right": "#e69f00"}


def search_order(strategy: str, X: np.ndarray, y: np.ndarray) -> Search:
    """Run a search that expands every node itself: no terminal case, no greedy start."""
    search = Search(
        X,
        y,
        task="classification",
        max_depth=2,
        strategy=strategy,
        terminal="leaf",
        greedy_start=False,
        random_state=0,
        log_expansions=True,
    )
    search.run()
    return search


def draw(axes: Axes, search: Search, height: dict[tuple[int, float], int]) -> None:
    """Draw one dot for every expansion."""
    dots: dict[str, list[tuple[int, int]]] = {label: [] for label in COLORS}
    for number, (path, feature, threshold) in enumerate(search.expansions, start=1):
        if not path:
            dots["at the root"].append((number, height[feature, threshold]))
        else:
            side = "left" if path[0].went_left else "right"
            dots[f"below, on the {side}"].append((number, height[path[0].feature, path[0].threshold]))
    for label, color in COLORS.items():
        size = 9 if label == "at the root" else 3
        axes.scatter(*np.array(dots[label]).reshape(-1, 2).T, s=size, color=color, label=label, linewidths=0)


def main() -> None:
    X, y = load_wine(return_X_y=True)
    X, y = X[::3, FEATURES], y[::3]
    tests = [
        (feature, (low + high) / 2)
        for feature in range(len(FEATURES))
        for low, high in zip(np.unique(X[:, feature])[:-1], np.unique(X[:, feature])[1:], strict=True)
    ]
    height = {test: position for position, test in enumerate(tests)}
    n_first = sum(feature == 0 for feature, _ in tests)

    figure, panels = plt.subplots(4, 2, figsize=(7.5, 10), sharey=True, layout="constrained")
    for axes, strategy in zip(panels.flat, SHOWN, strict=True):
        search = search_order(strategy, X, y)
        draw(axes, search, height)
        axes.axhline(n_first - 0.5, color="grey", linewidth=0.6)
        axes.set_title(f"{strategy}: {search.n_expansions} expansions", fontsize=10)
        axes.set_yticks([n_first / 2, n_first + (len(tests) - n_first) / 2], ["alcohol", "colour\nintensity"])
        axes.tick_params(axis="y", length=0)
    for axes in panels[-1]:
        axes.set_xlabel("expansions, in their order")
    figure.supylabel("test at the root: feature and threshold")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, markerscale=3)
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(OUTPUT, dpi=130)
    print(f"wrote {OUTPUT}")


if __name__ == "__main__":
    main()
