"""Texts in the lines of boxes: broken, shortened or cut to their width."""

from __future__ import annotations

import re
from collections.abc import Callable

from codt.pictures.layout import Placed

ELLIPSIS = "…"

# Names and tests that need more lines than this in a box are cut.
MOST_LINES = 3

Measure = Callable[[str], float]


def box_lines(node: Placed, width: float, measure: Measure, n_facts: int = 2) -> list[tuple[str, bool]]:
    """Return the lines of text in a node's box, and of each whether it is bold: what decides is.

    Of the facts, only the first ones may be shown.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> from codt.pictures.layout import place
    >>> box_lines(place(OptimalTreeClassifier(max_depth=1).fit([[1], [2]], ["a", "b"]))[0], 20, len)
    [('x[0]', False), ('≤ 1.5', True), ('n = 2, loss 1', False)]
    """
    # A class that does not fit in whole words is cut at once: the legend names it, and broken words are hard to read.
    broken = node.is_leaf and any(measure(piece.rstrip()) > width for piece in pieces_of(node.title))
    lines = [(line, node.is_leaf) for line in fit_text(node.title, width, 1 if broken else MOST_LINES, measure)]
    lines += [(line, True) for line in lines_of_test(node, width, measure)]
    return lines + [(line, False) for line in fact_lines(node, width, measure, n_facts)]


def lines_of_test(node: Placed, width: float, measure: Measure) -> list[str]:
    """Return the test with as many of its categories as there is room for.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> from codt.pictures.layout import place
    >>> X = [["red"], ["green"], ["blue"], ["grey"], ["pink"], ["gold"]]
    >>> model = OptimalTreeClassifier(max_depth=1, categorical_features=[0], categorical_splits="subset")
    >>> root = place(model.fit(X, [0, 1, 0, 1, 0, 1]))[0]
    >>> lines_of_test(root, 20, len), lines_of_test(root, 8, len)
    (['in {gold, green,', 'grey}'], ['in {gold', 'and 2', 'others}'])
    """
    for test in node.tests:
        if is_whole(test, width, measure):
            return fit_text(test, width, MOST_LINES, measure)
    return fit_text(node.tests[-1], width, MOST_LINES, measure) if node.tests else []


def is_whole(text: str, width: float, measure: Measure) -> bool:
    """Return whether a text fits into a box without broken words.

    Examples
    --------
    >>> is_whole("two words", 5, len), is_whole("two words", 4, len)
    (True, False)
    """
    lines = fit_text(text, width, MOST_LINES, measure)
    longest = max((measure(piece.rstrip()) for piece in pieces_of(text)), default=0.0)
    return not (lines and lines[-1].endswith(ELLIPSIS)) and longest <= width


def fact_lines(node: Placed, width: float, measure: Measure, n_facts: int = 2) -> list[str]:
    """Return the facts, or the first of them, in one line if they fit into it, and in two otherwise.

    Examples
    --------
    >>> from codt import OptimalTreeClassifier
    >>> from codt.pictures.layout import place
    >>> leaf = place(OptimalTreeClassifier(max_depth=0).fit([[1], [2]], ["a", "b"]))[0]
    >>> fact_lines(leaf, 20, len), fact_lines(leaf, 10, len)
    (['n = 2, loss 1'], ['n = 2', 'loss 1'])
    """
    facts = node.facts[:n_facts]
    together = ", ".join(facts)
    if measure(together) <= width:
        return [together] if facts else []
    return [fit_text(fact, width, 1, measure)[0] for fact in facts]


def pieces_of(text: str) -> list[str]:
    """Return a text in pieces after which a line may end; numbers are never broken, nor parted from a sign before them.

    Examples
    --------
    >>> pieces_of("mean_radius of -1.5")
    ['mean_', 'radius ', 'of ', '-1.5']
    >>> pieces_of("≤ 2.5 or missing")
    ['≤ 2.5 ', 'or ', 'missing']
    """
    return [piece for piece in re.split(r"(?<=[\s_/])(?<![\u2264>]\s)|(?=\()|(?<=[.\-])(?!\d)", text) if piece]


def fit_text(text: str, width: float, lines: int, measure: Measure) -> list[str]:
    """Break a text into at most so many lines of at most this width; what does not fit is left out, with an ellipsis.

    Lines end after blanks, dots, dashes and underscores where there are any, and anywhere else if need be.

    Examples
    --------
    >>> fit_text("mean radius of the nucleus", 12, 2, len)
    ['mean radius', 'of the nucl…']
    >>> fit_text("a_very_long_name", 8, 3, len)
    ['a_very_', 'long_', 'name']
    """
    pieces = pieces_of(" ".join(text.split()))
    found: list[str] = []
    while pieces and len(found) < lines:
        line = ""
        while pieces and measure((line + pieces[0]).rstrip()) <= width:
            line += pieces.pop(0)
        if not line:  # not even one piece fits: break it
            fits = 1
            while fits < len(pieces[0]) and measure(pieces[0][: fits + 1]) <= width:
                fits += 1
            line, pieces[0] = pieces[0][:fits], pieces[0][fits:]
            pieces = [piece for piece in pieces if piece]
        found.append(line.rstrip())
    if pieces:
        last = found[-1] + ("" if found[-1].endswith(("_", ".", "-", "/", "(")) else " ") + "".join(pieces)
        while last and measure(last.rstrip() + ELLIPSIS) > width:
            last = last[:-1]
        found[-1] = last.rstrip() + ELLIPSIS
    return found
