"""Draw how the bounds of four strategies close in on the optimum: docs/images/anytime.png."""

from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from codt import Search

OUTPUT = Path(__file__).parent.parent / "docs" / "images" / "anytime.png"
SHOWN = ["dfs-blossom", "dfs-contree", "bfs-lb", "lds"]


def main() -> None:
    X, y = load_wine(return_X_y=True)
    X = X[:, [0, 4, 9]]
    figure, panels = plt.subplots(2, 2, figsize=(7.5, 5.6), sharex=True, sharey=True, layout="constrained")
    last = 0
    for axes, strategy in zip(panels.flat, SHOWN, strict=True):
        # No greedy start and no depth-two solver: one expansion at a time, from nothing.
        search = Search(
            X, y, task="classification", max_depth=3, strategy=strategy, terminal="left-right", greedy_start=False
        )
        search.run()
        _, expansions, lower, upper = search.trace.T
        axes.step(expansions, upper, where="post", color="#d55e00", label="best tree found")
        axes.step(expansions, lower, where="post", color="#0072b2", label="lower bound")
        axes.fill_between(
            expansions, lower, upper, step="post", color="grey", alpha=0.2, label="the optimum is in here"
        )
        axes.set_title(f"{strategy}: proven after {search.n_expansions:,}", fontsize=10)
        last = max(last, search.n_expansions)
        axes.set_xscale("symlog", linthresh=1)
        axes.set_ylim(bottom=0)
    panels[0, 0].set_xlim(0, last)
    for axes in panels[-1]:
        axes.set_xlabel("expansions")
    for axes in panels[:, 0]:
        axes.set_ylabel("misclassified samples")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(OUTPUT, dpi=130)
    print(f"wrote {OUTPUT}")


if __name__ == "__main__":
    main()
