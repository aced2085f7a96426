"""Where :mod:`codt.problem.sums` used to be; the two are one module."""

import sys

from codt.problem import sums

sys.modules[__name__] = sums
