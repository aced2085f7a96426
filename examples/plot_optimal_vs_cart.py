"""Draw the decision regions of the optimal tree of depth two beside CART's: docs/images/optimal-vs-cart.png.

Two features of scikit-learn's wine data, chosen because greedy splitting goes astray on them.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from sklearn.datasets import load_wine
from sklearn.tree import DecisionTreeClassifier

from codt import OptimalTreeClassifier

OUTPUT = Path(__file__).parent.parent / "docs" / "images" / "optimal-vs-cart.png"
FEATURES = ["alcohol", "color_intensity"]
DEPTH = 2
COLORS = ("#0072b2", "#e69f00", "#009e73")  # told apart by colour-blind readers too


def draw(
    axes: Axes,
    model: OptimalTreeClassifier | DecisionTreeClassifier,
    X: np.ndarray,
    y: np.ndarray,
    names: list[str],
) -> None:
    """Shade the regions of the tree, and mark the samples it gets wrong."""
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.05 * (high - low)
    across, up = (np.linspace(a, b, 600) for a, b in zip(low - margin, high + margin, strict=True))
    grid = np.stack(np.meshgrid(across, up), axis=-1)
    regions = model.predict(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    axes.pcolormesh(across, up, regions, cmap=ListedColormap(COLORS), vmin=0, vmax=2, alpha=0.25, rasterized=True)
    wrong = model.predict(X) != y
    for code, color in enumerate(COLORS):
        samples = X[y == code]
        axes.scatter(*samples.T, s=16, color=color, label=names[code], linewidths=0)
    axes.scatter(*X[wrong].T, s=46, facecolors="none", edgecolors="black", linewidths=0.9, label="misclassified")


def main() -> None:
    data = load_wine(as_frame=True)
    X, y = data.data[FEATURES].to_numpy(), data.target.to_numpy()
    names = [f"cultivar {code + 1}" for code in range(3)]
    optimal = OptimalTreeClassifier(max_depth=DEPTH).fit(X, y)
    cart = DecisionTreeClassifier(max_depth=DEPTH, random_state=0).fit(X, y)

    figure, panels = plt.subplots(1, 2, figsize=(10, 4.8), sharex=True, sharey=True, layout="constrained")
    for axes, model, title in zip(panels, (cart, optimal), ("CART", "Optimal tree"), strict=True):
        draw(axes, model, X, y, names)
        errors = np.count_nonzero(model.predict(X) != y)
        axes.set_title(f"{title}, depth {DEPTH}: {errors} of {len(y)} misclassified")
        axes.set_xlabel("alcohol")
    panels[0].set_ylabel("colour intensity")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(OUTPUT, dpi=150)
    print(f"wrote {OUTPUT}")


if __name__ == "__main__":
    main()
