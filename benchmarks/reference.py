"""Figures that others have measured or proven on the paper's data sets."""

from __future__ import annotations

#: A description of the reference times below, for the report.
SOURCE = (
    "the paper authors' implementation (CODT, December 2025), strategy bfs-balance-small-lb, one thread,"
    " measured 2026-11-15 on a two-core AVX-512 machine with both cores busy"
)

#: Seconds of the paper authors' implementation at depth three.
AUTHORS_SECONDS = {
    "concrete": 0.5007,
    "fish": 1.0212,
    "qsar": 0.3949,
    "query1": 3.362,
    "grid": 234.4464,
}

#: Seconds of pycontree 1.0.8 at depth three on the machine of AUTHORS_SECONDS, to scale those to another machine.
PYCONTREE_SECONDS = {
    "avila": 74.522,
    "bank": 0.096,
    "bean": 94.902,
    "bidding": 5.448,
    "eeg": 267.665,
    "fault": 95.492,
    "htru": 293.695,
    "magic": 159.728,
    "occupancy": 39.481,
    "page": 7.015,
    "raisin": 1.508,
    "rice": 34.652,
    "room": 2.177,
    "segment": 3.369,
    "skin": 11.484,
    "wilt": 1.3,
}

#: Optimal losses by data set and depth: misclassified samples, proven by pycontree 1.0.8 and for most of them
#: by the paper authors' implementation as well, and sums of squared errors, proven by the latter.
OPTIMA: dict[tuple[str, int], float] = {
    ("avila", 2): 9617,
    ("avila", 3): 8664,
    ("bank", 2): 100,
    ("bank", 3): 23,
    ("bean", 2): 4608,
    ("bean", 3): 1748,
    ("bidding", 2): 113,
    ("bidding", 3): 50,
    ("bidding", 4): 22,
    ("eeg", 2): 4956,
    ("eeg", 3): 4350,
    ("fault", 2): 803,
    ("fault", 3): 627,
    ("htru", 2): 369,
    ("htru", 3): 343,
    ("magic", 2): 3746,
    ("magic", 3): 3240,
    ("occupancy", 2): 208,
    ("occupancy", 3): 185,
    ("page", 2): 253,
    ("page", 3): 168,
    ("page", 4): 117,
    ("raisin", 2): 109,
    ("raisin", 3): 94,
    ("raisin", 4): 74,
    ("rice", 2): 257,
    ("rice", 3): 243,
    ("room", 2): 559,
    ("room", 3): 80,
    ("room", 4): 14,
    ("segment", 2): 990,
    ("segment", 3): 278,
    ("segment", 4): 101,
    ("skin", 2): 17920,
    ("skin", 3): 7761,
    ("skin", 4): 2607,
    ("wilt", 2): 138,
    ("wilt", 3): 88,
    ("wilt", 4): 50,
    ("concrete", 2): 22.68391719648969,
    ("concrete", 3): 15.229259320252243,
    ("fish", 2): 11.495670553835197,
    ("fish", 3): 9.444974876166254,
    ("grid", 2): 289.9112431618496,
    ("grid", 3): 242.0373810965674,
    ("qsar", 2): 9.665517775897733,
    ("qsar", 3): 6.96273777512798,
    ("query1", 2): 60.7123098573009,
    ("query1", 3): 29.582903183479896,
}
