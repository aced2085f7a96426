"""Provably optimal decision trees on numeric features.

The estimators follow scikit-learn; :class:`Search` is the search itself, for those who want to watch it
step by step; :class:`Strategy` and :class:`Heuristic` compose new search strategies out of the paper's parts.

Examples
--------
>>> from codt import OptimalTreeClassifier
>>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
>>> y = ["same", "different", "different", "same"]
>>> model = OptimalTreeClassifier(max_depth=2).fit(X, y)
>>> model.loss_, model.status_
(0, 'optimal')
"""

from importlib.metadata import version as _version

from codt.certificate import Certificate, verify
from codt.classifier import OptimalTreeClassifier
from codt.export.json_reader import from_json
from codt.interop import from_sklearn
from codt.path import PathPoint, optimal_path
from codt.path_plot import plot_path
from codt.pictures import plot_trace, plot_tree, tree_svg
from codt.progress import Progress
from codt.regressor import OptimalTreeRegressor
from codt.search import Search
from codt.strategy import Heuristic, Strategy, strategies
from codt.to_scikit_learn import to_sklearn
from codt.tree import Tree
from codt.tuning import OptimalTreeClassifierCV, OptimalTreeRegressorCV

__version__ = _version("codt")

__all__ = [
    "Certificate",
    "Heuristic",
    "OptimalTreeClassifier",
    "OptimalTreeClassifierCV",
    "OptimalTreeRegressor",
    "OptimalTreeRegressorCV",
    "PathPoint",
    "Progress",
    "Search",
    "Strategy",
    "Tree",
    "__version__",
    "from_json",
    "from_sklearn",
    "optimal_path",
    "plot_path",
    "plot_trace",
    "plot_tree",
    "strategies",
    "to_sklearn",
    "tree_svg",
    "verify",
]
