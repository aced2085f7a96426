"""The methods of the estimators that show or export the tree."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from codt.export.graphviz import to_graphviz
from codt.export.json_writer import to_json
from codt.export.python_source import to_python
from codt.export.scikit_learn import to_sklearn
from codt.export.sql import Dialect, to_sql
from codt.pictures.notebook import fitted_html


class PresentationMixin:
    """Exports and pictures of a fitted tree; every method calls a function of the package, which has the details."""

    tree_: Any

    def export_text(self) -> str:
        """Draw ``tree_`` as text, with the names of the features and classes where they are known."""
        check_is_fitted(self)
        return str(
            self.tree_.to_text(
                feature_names=getattr(self, "feature_names_in_", None), class_names=getattr(self, "classes_", None)
            )
        )

    def to_sklearn(self) -> Any:
        """Return a fitted scikit-learn tree that predicts the same for all training samples.

        See :func:`codt.to_sklearn`.
        """
        return to_sklearn(self)

    def to_graphviz(self) -> str:
        """Write the tree in the DOT language of Graphviz."""
        return to_graphviz(self)

    def to_json(self) -> str:
        """Write the fitted estimator as JSON; :func:`codt.from_json` reads it."""
        return to_json(self)

    def to_python(self, function_name: str = "predict") -> str:
        """Write the tree as the source of a Python function that needs no library.

        Parameters
        ----------
        function_name : str, default="predict"
            The name of the function.
        """
        return to_python(self, function_name)

    def to_sql(self, *, dialect: Dialect = "ansi") -> str:
        """Write the tree as an SQL ``CASE`` expression.

        Parameters
        ----------
        dialect : {"ansi", "mysql"}, default="ansi"
            How names and texts are quoted: as the standard says, or with backticks.
        """
        return to_sql(self, dialect=dialect)

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
