"""Draw the optimal tree of depth two and CART's, with their decision regions: docs/images/optimal-vs-cart.png.

Two features of scikit-learn's wine data, chosen because greedy splitting goes astray on them.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from sklearn.datasets import load_wine
from sklearn.tree import DecisionTreeClassifier

from codt import OptimalTreeClassifier, from_sklearn, plot_tree

OUTPUT = Path(__file__).parent.parent / "docs" / "images" / "optimal-vs-cart.png"
FEATURES = ["alcohol", "color_intensity"]
DEPTH = 2
COLORS = ("#0072b2", "#e69f00", "#009e73")  # distinguishable by colour-blind readers too


def codes(model: OptimalTreeClassifier, X: np.ndarray) -> np.ndarray:
    """Predict the numbers of the classes, for samples without names."""
    return model.tree_.label[model.tree_.apply(X)]


def draw(
    axes: Axes,
    model: OptimalTreeClassifier,
    X: np.ndarray,
    y: np.ndarray,
    names: list[str],
) -> None:
    """Shade the regions of the tree, and mark the samples it gets wrong."""
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.05 * (high - low)
    across, up = (np.linspace(a, b, 600) for a, b in zip(low - margin, high + margin, strict=True))
    grid = np.stack(np.meshgrid(across, up), axis=-1)
    regions = codes(model, grid.reshape(-1, 2)).reshape(grid.shape[:2])
    axes.pcolormesh(across, up, regions, cmap=ListedColormap(COLORS), vmin=0, vmax=2, alpha=0.25, rasterized=True)
    wrong = codes(model, X) != y
    for code, color in enumerate(COLORS):
        samples = X[y == code]
        axes.scatter(*samples.T, s=16, color=color, label=names[code], linewidths=0)
    axes.scatter(*X[wrong].T, s=46, facecolors="none", edgecolors="black", linewidths=0.9, label="misclassified")


def main() -> None:
    data = load_wine(as_frame=True)
    frame = data.data[FEATURES].set_axis(["alcohol", "colour intensity"], axis=1)
    X, y = frame.to_numpy(), data.target.to_numpy()
    names = [f"cultivar {code + 1}" for code in range(3)]
    optimal = OptimalTreeClassifier(max_depth=DEPTH).fit(frame, np.array(names)[y])
    cart = from_sklearn(DecisionTreeClassifier(max_depth=DEPTH, random_state=0).fit(frame, np.array(names)[y]))

    figure, panels = plt.subplots(2, 2, figsize=(10, 7.8), height_ratios=(1, 0.72), layout="constrained")
    for (tree, regions), model, title in zip(panels.T[:, ::-1], (cart, optimal), ("CART", "Optimal tree"), strict=True):
        draw(regions, model, X, y, names)
        regions.set_title(f"{title}, depth {DEPTH}: {model.loss_} of {len(y)} misclassified")
        regions.set_xlabel("alcohol")
        regions.set_ylabel("colour intensity")
        plot_tree(model, tree)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(OUTPUT, dpi=150)
    print(f"wrote {OUTPUT}")


if __name__ == "__main__":
    main()
