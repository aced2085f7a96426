"""Provably optimal decision trees.

The estimators follow scikit-learn; :class:`Search` is the search itself, to be run and watched step by step;
:class:`Strategy` and :class:`Heuristic` compose new search strategies from the paper's parts.

Examples
--------
>>> from codt import OptimalTreeClassifier
>>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
>>> y = ["same", "different", "different", "same"]
>>> model = OptimalTreeClassifier(max_depth=2).fit(X, y)
>>> model.loss_, model.status_
(0, 'optimal')
"""

import sys as _sys
from importlib.metadata import version as _version

from codt.estimators.classifier import OptimalTreeClassifier
from codt.estimators.policy import OptimalPolicyTree
from codt.estimators.regressor import OptimalTreeRegressor
from codt.estimators.survival import OptimalSurvivalTree
from codt.export.scikit_learn import to_sklearn
from codt.loading.json_reader import from_json
from codt.loading.scikit_learn import from_sklearn
from codt.pictures import plot_trace, plot_tree, tree_svg
from codt.policies.doubly_robust import doubly_robust_scores
from codt.problem import objectives as _objectives
from codt.problem import sums as _sums
from codt.search.progress import Progress
from codt.search.search import Search
from codt.strategy.strategy import Heuristic, Strategy, strategies
from codt.tree.tree import Tree
from codt.tuning.cross_validation import (
    OptimalPolicyTreeCV,
    OptimalSurvivalTreeCV,
    OptimalTreeClassifierCV,
    OptimalTreeRegressorCV,
)
from codt.tuning.path import PathPoint, optimal_path
from codt.tuning.path_plot import plot_path
from codt.verification.certificate import Certificate, verify

__version__ = _version("codt")

# Modules under the paths that they had in earlier versions.
_sys.modules |= {"codt.objectives": _objectives, "codt.sums": _sums}

__all__ = [
    "Certificate",
    "Heuristic",
    "OptimalPolicyTree",
    "OptimalPolicyTreeCV",
    "OptimalSurvivalTree",
    "OptimalSurvivalTreeCV",
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
    "doubly_robust_scores",
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
