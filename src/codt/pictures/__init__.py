"""Pictures of fitted trees and of searches: matplotlib, SVG and HTML."""

from codt.pictures.plotting import plot_trace, plot_tree
from codt.pictures.svg import tree_svg

__all__ = ["plot_trace", "plot_tree", "tree_svg"]
