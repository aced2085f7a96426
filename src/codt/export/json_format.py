"""What the writer and the reader of the JSON format agree on; docs/model-format.md describes it."""

from codt.tree.split import GAP_COLUMNS, TEST_COLUMNS

FORMAT = "codt-model"
# Version 1 has no objective, version 2 does not say whether the tree is the smallest, and version 3 has only numbers,
# none of them missing.
VERSION = 4

# Deeper trees and more features are refused: working with a model takes time and memory in proportion to both.
MOST_LEVELS = 500
MOST_FEATURES = 10_000_000

LABEL_TYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"),
    *("str", "object"),
)

DOCUMENT = (
    *("format", "version", "task", "objective", "n_features", "feature_names", "features", "classes"),
    *("parameters", "result", "tree"),
)
RESULT = (
    *("status", "smallest", "loss", "objective", "penalty", "lower_bound", "n_expansions", "trace"),
    "search_stats",
)
TREE = (*TEST_COLUMNS, "left", "right", "n_samples", "weight", "loss", "value", "label", *GAP_COLUMNS)
