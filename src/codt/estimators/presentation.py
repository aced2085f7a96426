"""The methods of the estimators that show or export the tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from codt.export.graphviz import to_graphviz
from codt.export.json_writer import to_json
from codt.export.naming import FeatureNames, class_labels
from codt.export.python_source import to_python
from codt.export.scikit_learn import to_sklearn
from codt.export.sql import Dialect, to_sql
from codt.pictures.notebook import fitted_html


class PresentationMixin:
    """Exports and pictures of a fitted tree; every method calls a function of the package, which has the details."""

    tree_: Any

    def _shown(self) -> Any:
        """Return the estimator that is shown; one that chooses among others shows the chosen one."""
        return self

    def export_text(
        self,
        *,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[object] | None = None,
        decimals: int | None = None,
    ) -> str:
        """Draw ``tree_`` as text, with the names of the features and classes where they are known.

        Parameters
        ----------
        feature_names : sequence of str, optional
            What to call the features; by default the names of the data frame that the estimator was fitted to.
        class_names : sequence, optional
            What to call the classes, in the order of ``classes_``; by default their labels. Not used in regression.
        decimals : int, optional
            How many decimals thresholds and predicted numbers are shown with. By default thresholds have as many
            digits as they need to separate the training values.
        """
        check_is_fitted(self)
        names, classes = FeatureNames(self, feature_names), class_labels(self, class_names)
        return str(self.tree_.to_text(names, classes or None, decimals))

    def to_sklearn(self) -> Any:
        """Return a fitted scikit-learn tree that predicts the same for all training samples.

        See :func:`codt.to_sklearn`.
        """
        return to_sklearn(self._shown())

    def to_graphviz(
        self,
        *,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[object] | None = None,
        decimals: int | None = None,
    ) -> str:
        """Write the tree in the DOT language of Graphviz.

        Parameters
        ----------
        feature_names, class_names, decimals : optional
            As for :meth:`export_text`.
        """
        return to_graphviz(self._shown(), feature_names=feature_names, class_names=class_names, decimals=decimals)

    def to_json(self) -> str:
        """Write the fitted estimator as JSON; :func:`codt.from_json` reads it."""
        return to_json(self._shown())

    def to_python(
        self,
        function_name: str = "predict",
        *,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[object] | None = None,
    ) -> str:
        """Write the tree as the source of a Python function that needs no library.

        Parameters
        ----------
        function_name : str, default="predict"
            The name of the function.
        feature_names, class_names : optional
            As for :meth:`export_text`; the function returns the names of the classes. It compares with all digits of
            the thresholds.
        """
        return to_python(self._shown(), function_name, feature_names=feature_names, class_names=class_names)

    def to_sql(
        self,
        *,
        dialect: Dialect = "ansi",
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[object] | None = None,
    ) -> str:
        """Write the tree as an SQL ``CASE`` expression.

        Parameters
        ----------
        dialect : {"ansi", "mysql"}, default="ansi"
            How names and texts are quoted: as the standard says, or with backticks.
        feature_names, class_names : optional
            As for :meth:`export_text`: the columns that are compared, and what is returned for the classes. Thresholds
            are written with all digits.
        """
        return to_sql(self._shown(), dialect=dialect, feature_names=feature_names, class_names=class_names)

    def to_html(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        holdout: tuple[ArrayLike, ArrayLike] | None = None,
        sample_weight: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
        target_name: str = "target",
        decimals: int | None = None,
    ) -> str:
        """Write a page of HTML that explains the tree, complete in itself: to open in a browser, and to show to others.

        It shows the tree, to be folded, zoomed and followed with values of one's own; the rule, the samples and the
        distribution of every node; its errors; how the search went; and the tree that CART (scikit-learn) grows on the
        same rows within the same limits. The page holds counts and at most 200 rows, however many samples there are.

        Parameters
        ----------
        X, y : array-like
            The data to show the tree with, usually those it was fitted to; if not, the page says so.
        holdout : pair of array-like, optional
            Samples and targets that neither tree has seen, to compare the two on.
        sample_weight : array-like of shape (n_samples,), optional
            The weights of the samples of ``X``, if the tree was fitted with weights.
        feature_names, class_names : list of str, optional
            What to call the features and the classes (in the order of ``classes_``) instead of what fit has seen.
        target_name : str, default="target"
            What is predicted.
        decimals : int, optional
            How many decimals thresholds are shown with; by default as many digits as they need.
        """
        from codt.explain.page import explanation_page  # noqa: PLC0415 - slow to import

        return explanation_page(
            self._shown(),
            X,
            y,
            holdout=holdout,
            sample_weight=sample_weight,
            feature_names=feature_names,
            class_names=class_names,
            target_name=target_name,
            decimals=decimals,
        )

    def _repr_html_inner(self) -> str:
        """Return what notebooks show: the tree and what is proven, or scikit-learn's diagram before fit."""
        if hasattr(self, "tree_"):
            return fitted_html(self)
        return str(super()._repr_html_inner())  # type: ignore[misc]

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle
