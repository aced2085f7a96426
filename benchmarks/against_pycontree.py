"""Codt beside pycontree in the same run, one thread; needs CODT_DATA_DIR and the extra `bench`."""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np
from pycontree import ConTree

from codt import OptimalTreeClassifier
from codt.datasets import load_dataset

DATASETS = ("bank", "wilt", "raisin", "page", "segment")


def main() -> None:
    """Print one row a data set: losses (which have to agree) and seconds, the best of several runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=DATASETS)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()

    print(f"{'data':<12}{'loss':>8}{'codt s':>12}{'pycontree s':>14}{'ratio':>9}")
    for name in arguments.datasets:
        X, y = load_dataset(name)
        ours: list[float] = []
        theirs: list[float] = []
        for _ in range(arguments.runs):
            start = perf_counter()
            model = OptimalTreeClassifier(max_depth=arguments.depth).fit(X, y)
            ours.append(perf_counter() - start)
            peer = ConTree(max_depth=arguments.depth)
            start = perf_counter()
            peer.fit(X, y)
            theirs.append(perf_counter() - start)
        peer_loss = int(np.count_nonzero(peer.predict(X) != y))
        if peer_loss != model.loss_:
            raise SystemExit(f"{name}: codt loses {model.loss_}, pycontree {peer_loss}; they have to agree")
        ratio = min(theirs) / min(ours)
        print(f"{name:<12}{model.loss_:>8}{min(ours):>12.3f}{min(theirs):>14.3f}{ratio:>8.1f}x")


if __name__ == "__main__":
    main()
