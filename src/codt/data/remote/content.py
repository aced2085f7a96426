"""The content of data, whatever their form: sizes, and a checksum of everything that matters to a decision tree.

The paper's files are scaled, and other copies have other row orders, column orders, units and names of classes. Trees
depend on none of that: only on the order of the samples in each feature, and on which samples share a label.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codt.input_checks.arrays import Floats
from codt.options.options import Task

#: The checksums of the paper's data sets, by :func:`checksum`; none for ``news``, of which only a part was available.
CHECKSUMS = {
    "avila": "acb3b4f88b94e76c96836dc914e8b02ee25fc7f0b4926787ea156c37bb251d3d",
    "bank": "5de30995851771dae57387ee7be9504b50c8520d5c23bb6289e042138d1b1794",
    "bean": "9b72472043cbc36e8ded18869fbbb08371ad5d05b39d87e2df972a43c1c669e8",
    "bidding": "ac69509b23256fd0a4c0fc413774ffca7dc7520113d1b91c0e8295c0fbead474",
    "eeg": "d480e0cf43826aca9ea2480246680087f422dc8f8792b48dcc660a0eeca98927",
    "fault": "a3bc1a0039975643a3f5e3468ecd18c67c9a1a588cdf6a85c642e20933257328",
    "htru": "cc4a49f6c5ade4c0c544174004fbde00691b0576dbef05c496efe61b7b372a69",
    "magic": "38fdb5d728877fa33cdc8f4ca99582fe1fa299b1cb0d119977e4ef0f14e62fdd",
    "occupancy": "1bbef3d873cab87e7115c1f53f31718885f9d084c1b2878d0b51be6251caeafd",
    "page": "bf286e194425254a908f313a68b29b6e23de7e609d0ff354e998e02ef276b782",
    "raisin": "ee9d491d58d1e36c88b61bfde2cd608ccc2d1f59d922e91e835428d30ef0e8b8",
    "rice": "6572b2a58d0b4cc6df81331f2360d25e9fd50f42b928ea690de431eae5e58617",
    "room": "d023cea45dbf64534a2eae921901ea3a5c43ab857e8fb29a20ac0974b59dc33a",
    "segment": "f91ba3cc3270c8280f28b0d6226232618c64c258e438f4b19b9b174dd2d21334",
    "skin": "7662eb82c8d6782bcaa238abe6d76aacbf9e53d5d54add722ba2dc31ab62da10",
    "wilt": "b4265911acefe0e0ce5cd8663a35f855ecadba8e3c0d0d78a167adc106d681cb",
    "casp": "dae83820366608c881c88d69af87f7e51ea1aef6b7f91559846aa4d2bf9356a3",
    "concrete": "7246a8c2754c6236a81be5e38083822ef81df02b93afaec16836d5689e949046",
    "energy": "b6dbce978d92e4caaab7b7f0ce165eaec8eb6a98af1754d18579e7f0c8b95da6",
    "fish": "66321279334358c8df80a8611c85f7179541429e1525bcc840fad8afbbf764ba",
    "gas": "5d73d2186a92eef3cac115bce4f6330d11b3ad603755be9b3f2587d4b6ffd2b5",
    "grid": "80b263ad09f001e5eb3337bec54052e8cf7143dd91e8c4b32d00d577d767e365",
    "qsar": "ace76e7a28316b5cac7334712698340d3c4edbf7497e09c90968daedddc418d5",
    "query1": "edda2d0648c4a041b2aaa7699e17943c2bf1e377af0ae1d7848c4ae69b012f2b",
}


def counts(X: Floats, y: NDArray[Any]) -> tuple[int, int, int, int]:
    """Return what the paper's table counts: samples, features, thresholds (unique values less one), labels.

    Examples
    --------
    >>> counts(np.array([[1.0, 5.0], [2.0, 5.0], [4.0, 6.0]]), np.array([0, 1, 1]))
    (3, 2, 3, 2)
    """
    thresholds = sum(len(np.unique(column)) - 1 for column in X.T)
    return X.shape[0], X.shape[1], thresholds, len(np.unique(y))


def checksum(X: Floats, y: NDArray[Any], task: Task) -> str:
    """Return a SHA-256 that is the same for all data from which the same trees can be learned.

    It does not depend on the order of samples and features, on the names of classes, nor on units: features, and
    targets of a regression, count by their ranks.

    Examples
    --------
    >>> X, y = np.array([[1.0, 5.0], [2.0, 7.0], [4.0, 6.0]]), np.array([0, 1, 1])
    >>> same = checksum(10 * X[::-1, ::-1], 7 - y[::-1], "classification")
    >>> checksum(X, y, "classification") == same, checksum(X, 1 - y[::-1], "classification") == same
    (True, False)
    """
    # Samples are grouped by class, whatever its name; in a regression all are one group, with their targets.
    columns = [_ranks(column) for column in X.T]
    if task == "regression":
        groups, last = [np.arange(len(y))], [_ranks(y)]
    else:
        groups, last = [np.flatnonzero(y == label) for label in np.unique(y)], []

    def digest(chosen: list[NDArray[np.uint32]]) -> bytes:
        rows = np.column_stack([*chosen, *last])
        return _digest(b"".join(sorted(_digest(_in_order(rows[group]).tobytes()) for group in groups)))

    # Columns are sorted by their own digests, so that their original order does not matter.
    return digest(sorted(columns, key=lambda column: digest([column]))).hex()


def _ranks(column: NDArray[Any]) -> NDArray[np.uint32]:
    ranks: NDArray[np.uint32] = np.unique(column, return_inverse=True)[1].astype("<u4")
    return ranks


def _in_order(rows: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return np.ascontiguousarray(rows[np.lexsort(rows.T[::-1])])


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()
