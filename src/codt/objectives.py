"""Where :mod:`codt.problem.objectives` used to be; the two are one module."""

import sys

from codt.problem import objectives

sys.modules[__name__] = objectives
