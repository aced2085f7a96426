"""The methods that a study can run: one file with a short adapter for each.

To add one, write such a file and name it here.
"""

from codt.study.methods import cart, codt, gosdt, one_by_one, pycontree, pydl85, pystreed
from codt.study.methods.base import Method

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        *codt.METHODS,
        one_by_one.METHOD,
        cart.METHOD,
        pycontree.METHOD,
        pystreed.METHOD,
        gosdt.METHOD,
        pydl85.METHOD,
    )
}
