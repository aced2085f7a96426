"""A short demonstration on data that ship with scikit-learn: ``python -m codt.demo``."""

from __future__ import annotations

from time import perf_counter

from numpy.typing import ArrayLike
from sklearn.datasets import load_breast_cancer, load_diabetes

from codt.baseline.cart import cart_loss
from codt.command_line.summary import report
from codt.estimators.classifier import OptimalTreeClassifier
from codt.estimators.regressor import OptimalTreeRegressor


def main() -> None:
    """Fit a classification and a regression tree; show the trees, the proofs and what CART gets."""
    cancer = load_breast_cancer(as_frame=True)
    labels = cancer.target_names[cancer.target]
    title = "Breast cancer: 569 tumours, 30 measurements"
    _show(title, OptimalTreeClassifier(max_depth=3), cancer.data, labels)
    print()
    diabetes = load_diabetes(as_frame=True)
    title = "Diabetes: progression in 442 patients, 10 measurements"
    _show(title, OptimalTreeRegressor(max_depth=2), diabetes.data, diabetes.target)


def _show(title: str, model: OptimalTreeClassifier | OptimalTreeRegressor, X: ArrayLike, y: ArrayLike) -> None:
    print(f"{title}, depth {model.max_depth}\n{'=' * 78}")
    start = perf_counter()
    model.fit(X, y)
    seconds = perf_counter() - start
    print(model.export_text())
    print()
    print(report(model, cart_loss(X, y, model._task, model.max_depth, importance=model._importance()), seconds))


if __name__ == "__main__":
    main()
