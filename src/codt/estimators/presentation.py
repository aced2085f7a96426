"""The methods of the estimators that show or export the tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
        return to_sklearn(self)

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
        return to_graphviz(self, feature_names=feature_names, class_names=class_names, decimals=decimals)

    def to_json(self) -> str:
        """Write the fitted estimator as JSON; :func:`codt.from_json` reads it."""
        return to_json(self)

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
        return to_python(self, function_name, feature_names=feature_names, class_names=class_names)

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
        return to_sql(self, dialect=dialect, feature_names=feature_names, class_names=class_names)

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
