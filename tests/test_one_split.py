"""Only one place in each language compares with a threshold and writes the comparison; any other is found."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PYTHON = sorted({*(ROOT / "src/codt").rglob("*.py")} - {ROOT / "src/codt/tree/split.py"})
#: The page follows values that its readers type in: split.js compares them. The rest of it is given its words.
SCRIPTS = sorted(path for path in (ROOT / "src/codt").rglob("*.js") if path.name not in ("split.js", "d3.min.js"))
#: These folders identify thresholds by number, and compare those; sorting turns values into ranks.
BY_RANK = {"scans", "bounds", "frontier", "terminal"}
ENGINE = [
    path
    for path in sorted((ROOT / "engine").rglob("*.[ch]pp"))
    if path.parent.name not in BY_RANK and path.stem not in ("split", "radix_sort")
]

AT_MOST = re.compile(r"(?<!\?)<=|≤|&lt;")
ORDER = "(?:<=|>=|<|>)"
CPP_PATTERNS = [
    re.compile(pattern)
    for pattern in (
        rf" {ORDER} [\w.>()-]*\bthreshold\b",
        rf"\bthreshold(?:\[\w+\])? {ORDER} ",
        rf"\bvalues(?:\([\w.]+\))?\[.*\] {ORDER} ",
        r"_bound\(.*\bthreshold\b",
        r"\bdouble \w*threshold\b",
    )
]


def in_python(source: str) -> Iterator[str]:
    """Yield what looks like a test of its own in a module: comparisons with thresholds, and texts of them."""
    tree = ast.parse(source)
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        parts = list(ast.walk(node))
        names = {part.id for part in parts if isinstance(part, ast.Name)}
        names |= {part.attr for part in parts if isinstance(part, ast.Attribute)}
        looked_up = {ast.unparse(part.value) for part in parts if isinstance(part, ast.Subscript)}
        if isinstance(node, ast.Compare) and any(
            isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in node.ops
        ):
            by_name = names & {"threshold", "column", "cut"} or {"low", "middle", "high"} <= names
            if by_name or looked_up & {"X", "samples", "narrow"}:
                yield ast.unparse(node)
        elif isinstance(node, ast.FormattedValue) and "threshold" in names:
            yield ast.unparse(node.value)
        elif isinstance(node, ast.JoinedStr):
            texts = [str(part.value) for part in node.values if isinstance(part, ast.Constant)]
            yield from filter(AT_MOST.search, texts)
        elif isinstance(node, ast.Constant) and id(node) not in docs and str(node.value) not in ("<=", "≤"):
            # The sign alone is what words are asked for with.
            yield from filter(AT_MOST.search, [str(node.value)])


def in_cpp(source: str) -> Iterator[str]:
    """Yield what looks like a test of its own in the engine: comparisons, and thresholds without their feature."""
    code = re.sub("//.*", "", source)
    for pattern in CPP_PATTERNS:
        yield from pattern.findall(code)


def test_only_split_py_compares_with_thresholds_and_writes_tests_down() -> None:
    assert len(PYTHON) > 80
    found = {path.name: list(in_python(path.read_text(encoding="utf-8"))) for path in PYTHON}
    assert {name: tests for name, tests in found.items() if tests} == {}


def test_pages_are_given_their_words() -> None:
    assert SCRIPTS
    for path in SCRIPTS:
        assert not re.search(r"threshold|<=|≤|\.at\b", path.read_text(encoding="utf-8")), path
    assert "values[node.feature] <= node.at" in (ROOT / "src/codt/explain/split.js").read_text(encoding="utf-8")


def test_only_split_hpp_compares_with_thresholds() -> None:
    assert len(ENGINE) > 50
    found = {str(path.relative_to(ROOT)): list(in_cpp(path.read_text(encoding="utf-8"))) for path in ENGINE}
    assert {name: tests for name, tests in found.items() if tests} == {}


@pytest.mark.parametrize(
    "line",
    [
        "goes_left = samples[moving, self.feature[node]] <= self.threshold[node]",
        "left = X[inner, tree.feature[at]] <= tree.threshold[at]",
        "left = narrow[rows, tree.feature[node]] <= cuts[node]",
        "left = column <= value",
        "columns = [X[:, [feature]] <= np.unique(X[:, feature])[:-1] for feature in range(X.shape[1])]",
        "cut = middle if low <= middle < high else low",
        "thresholds[node] = threshold if low <= threshold < high else low / 2 + high / 2",
        "limits = (low, high) if low < threshold else (high, low)",
        'text = f"{names[node.feature]} <= {shown}"',
        'text = f"{node.threshold:.6g}"',
        'test = "≤ " + shown',
        'text = "{} &lt;= {}".format(name, shown)',
        'lines.append(f"{margin}if row[{feature}] <= {cut!r}:")',
    ],
)
def test_a_test_in_another_module_is_found(line: str) -> None:
    assert list(in_python(line))


@pytest.mark.parametrize(
    "line",
    [
        "std::upper_bound(distinct.begin(), distinct.end(), threshold) - distinct.begin());",
        "return values[ranks[sample_[ordered[end - 1]]]] <= value;",
        "const bool left = data.values(f)[rank] <= cut;",
        "const bool left = x[row] <= node.threshold;",
        "const bool right = split->threshold < value;",
        "double threshold = 0;  // x <= threshold goes left",
        "Parted part(std::uint32_t f, double threshold, std::span<const std::uint32_t> rows) const;",
        "if (tree.threshold[i] >= value) ++left;",
    ],
)
def test_a_test_in_another_file_of_the_engine_is_found(line: str) -> None:
    assert list(in_cpp(line))
