"""One search on several processes and machines."""

from codt.cluster.fitting import fit, on_cluster
from codt.cluster.loss import ClusterLostError

__all__ = ["ClusterLostError", "fit", "on_cluster"]
