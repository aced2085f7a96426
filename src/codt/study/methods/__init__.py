"""The methods that a study can run: one file with a short adapter for each.

To add one, write such a file and name it here.
"""

from codt.study.methods import cart, codt, gosdt, pycontree, pydl85, pystreed
from codt.study.methods.base import Method

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        *codt.METHODS,
        cart.METHOD,
        pycontree.METHOD,
        pystreed.METHOD,
        gosdt.METHOD,
        pydl85.METHOD,
    )
}
