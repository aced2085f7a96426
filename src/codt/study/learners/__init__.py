"""The methods whose predictions for new samples are compared: one file with short adapters for each family.

To add one, write such a file and name it here. No package on PyPI that we know of has greedy trees with look-ahead, so
there are none.
"""

from codt.study.learners import cart, ensembles, optimal, streed
from codt.study.learners.base import Learner

LEARNERS: dict[str, Learner] = {
    learner.name: learner for learner in (*optimal.LEARNERS, *cart.LEARNERS, streed.LEARNER, *ensembles.LEARNERS)
}
