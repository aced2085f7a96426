"""Draw the trees of three pages of the guide: docs/images/counts.png, survival.png and policies.png.

The models are those of the pages: their Python is run.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.colors import ListedColormap

from codt import plot_tree

DOCS = Path(__file__).parent.parent / "docs"


def run_page(name: str) -> dict[str, Any]:
    """Run the Python of a page; return what it has defined."""
    text = (DOCS / name).read_text(encoding="utf-8")
    defined: dict[str, Any] = {}
    exec("\n".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)), defined)
    return defined


def save(figure: Any, name: str) -> None:
    figure.savefig(DOCS / "images" / name, dpi=110)
    print(f"wrote {DOCS / 'images' / name}")


def draw_counts() -> None:
    page = run_page("counts.md")
    model = page["larger"]
    table, claims, years = page["make_policies"](20_000, seed=1)
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(10, 7.5), height_ratios=[2, 1], layout="constrained")
    plot_tree(model, ax=top)
    leaves, reached = np.unique(model.apply(table), return_inverse=True)
    events, exposure = (np.bincount(reached, weights=numbers) for numbers in (claims, years))
    places = np.arange(len(leaves))
    bottom.bar(places, model.tree_.value[leaves, 0], width=0.5, color="#c8d9ee", label="predicted: the 2,000 policies")
    bottom.errorbar(
        places,
        events / exposure,
        yerr=np.sqrt(events) / exposure,
        fmt="o",
        color="#b5472f",
        label="20,000 new policies",
    )
    bottom.set_xticks(places, [f"leaf {place + 1}" for place in places])
    bottom.set_ylabel("claims by year")
    bottom.legend(frameon=False)
    save(figure, "counts.png")


def draw_survival() -> None:
    page = run_page("survival.md")
    model = page["model"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), width_ratios=[1.25, 1], layout="constrained")
    plot_tree(model, ax=left, feature_names=["x0", "x1", "x2"])
    times = np.linspace(0, 4, 400)
    for number, (leaf, curve) in enumerate(model.survival_curves_.items()):
        risk = model.tree_.value[leaf, 0]
        right.step(times, curve.at(times), where="post", color=f"C{number}", label=f"risk {risk:.2g}")
    right.set_xlabel("time")
    right.set_ylabel("without an event (Kaplan-Meier)")
    right.set_ylim(0, 1.02)
    right.legend(title="leaf", frameon=False)
    save(figure, "survival.png")


def draw_policies() -> None:
    page = run_page("policies.md")
    model, X = page["policy"], page["X"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), width_ratios=[1.25, 1], layout="constrained")
    plot_tree(model, ax=left, feature_names=["x0", "x1", "x2"])
    grid = np.stack(np.meshgrid(np.linspace(-3, 3, 301), np.linspace(-3, 3, 301)), axis=-1).reshape(-1, 2)
    chosen = model.predict(np.column_stack([grid, np.zeros(len(grid))]))
    codes = np.argmax(chosen[:, np.newaxis] == model.classes_, axis=1).reshape(301, 301)
    colours = ["#a9cfe6", "#f6dda6", "#a9dfd0"]  # as in the tree
    right.pcolormesh(
        np.linspace(-3, 3, 301), np.linspace(-3, 3, 301), codes, cmap=ListedColormap(colours), vmin=0, vmax=2
    )
    right.plot(X[:, 0], X[:, 1], ".", color="#1c2430", markersize=2)
    right.set(xlim=(-3, 3), ylim=(-3, 3), xlabel="x0", ylabel="x1")
    save(figure, "policies.png")


def main() -> None:
    (DOCS / "images").mkdir(parents=True, exist_ok=True)
    draw_counts()
    draw_survival()
    draw_policies()


if __name__ == "__main__":
    main()
