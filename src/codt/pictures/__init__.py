"""Pictures of fitted trees and of searches: matplotlib, SVG and HTML."""

from codt.pictures.svg import tree_svg
from codt.pictures.trace_plot import plot_trace
from codt.pictures.tree_plot import plot_tree

__all__ = ["plot_trace", "plot_tree", "tree_svg"]
