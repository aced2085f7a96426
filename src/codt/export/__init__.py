"""A fitted tree in other forms: Graphviz, JSON, Python source, SQL, scikit-learn."""

from codt.export.graphviz import to_graphviz
from codt.export.json_writer import to_json
from codt.export.python_source import to_python
from codt.export.sql import to_sql

__all__ = ["to_graphviz", "to_json", "to_python", "to_sql"]
