"""One search on several processes and machines."""

from codt.cluster.fitting import fit, on_cluster

__all__ = ["fit", "on_cluster"]
