"""Draw three optimal trees of depth two for a rare class, each best by another measure: docs/images/imbalance.png."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap

from codt import OptimalTreeClassifier

OUTPUT = Path(__file__).parent.parent / "docs" / "images" / "imbalance.png"
COLORS = ("#0072b2", "#e69f00")  # distinguishable by colour-blind readers too


def made_data(n: int = 600, seed: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Return samples of which few are rare, most of these in a corner that others are in, too."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    chance = 0.02 + 0.4 * ((X[:, 0] > 0.7) & (X[:, 1] > 0.4))
    return X, (rng.random(n) < chance).astype(int)


def main() -> None:
    X, y = made_data()
    across = up = np.linspace(X.min() - 0.2, X.max() + 0.2, 500)
    grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    figure, panels = plt.subplots(1, 3, figsize=(11, 4.2), sharex=True, sharey=True, layout="constrained")
    for axes, metric, title in zip(
        panels,
        (None, "f1", "balanced_accuracy"),
        ("fewest errors", "highest F1", "highest balanced accuracy"),
        strict=True,
    ):
        model = OptimalTreeClassifier(max_depth=2, metric=metric).fit(X, y)
        regions = model.predict(grid).reshape(len(up), len(across))
        axes.pcolormesh(across, up, regions, cmap=ListedColormap(COLORS), vmin=0, vmax=1, alpha=0.25, rasterized=True)
        for code, name in enumerate(("common", "rare")):
            axes.scatter(*X[y == code].T, s=7 if code == 0 else 18, color=COLORS[code], label=name, linewidths=0)
        found, alarms = model.predict(X)[y == 1].sum(), model.predict(X)[y == 0].sum()
        axes.set_title(f"{title}\nrare found: {found} of {y.sum()}, false alarms: {alarms}", fontsize=10)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(OUTPUT, dpi=150)
    print(f"wrote {OUTPUT}")


if __name__ == "__main__":
    main()
