"""Choose depth and complexity cost by cross-validation and draw the path: docs/images/tuning.png."""

from pathlib import Path

from sklearn.datasets import load_diabetes

from codt import OptimalTreeRegressorCV, plot_path

OUTPUT = Path(__file__).parent.parent / "docs" / "images" / "tuning.png"


def main() -> None:
    data = load_diabetes(as_frame=True)
    X, y = data.data[["bmi", "bp", "s3", "s5"]], data.target
    model = OptimalTreeRegressorCV(max_depths=[1, 2, 3], cv=10).fit(X, y)
    n_settings = len(model.path_) * (model.n_splits_ + 1)
    print(f"chosen: {model.best_params_}, R squared {model.best_score_:.3f}")
    print(f"{n_settings} trees proven optimal by {model.n_searches_} searches")
    print(model.export_text())
    figure = plot_path(model)
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(OUTPUT, dpi=130)
    print(f"wrote {OUTPUT}")


if __name__ == "__main__":
    main()
