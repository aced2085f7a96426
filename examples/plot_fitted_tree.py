"""Draw the optimal tree of depth three for the iris data: docs/images/fitted-tree.png."""

from pathlib import Path

from sklearn.datasets import load_iris

from codt import OptimalTreeClassifier, plot_tree

OUTPUT = Path(__file__).parent.parent / "docs" / "images" / "fitted-tree.png"


def main() -> None:
    data = load_iris(as_frame=True)
    model = OptimalTreeClassifier(max_depth=3).fit(data.data, data.target_names[data.target])
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    plot_tree(model).figure.savefig(OUTPUT, dpi=110)
    print(f"wrote {OUTPUT}")


if __name__ == "__main__":
    main()
