"""Addresses that Dask's configuration of encryption does not fit: no client is made for them, because it would hang."""

from __future__ import annotations

from typing import Any

import pytest

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")

from codt.cluster import on_cluster

TLS = "distributed.comm.tls"


@pytest.fixture(autouse=True)
def never_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed, "Client", lambda *given, **options: pytest.fail("a client was made"))


@pytest.mark.parametrize(
    ("address", "configuration", "words"),
    [
        ("tls://127.0.0.1:1", {}, "there are no certificates for an encrypted connection"),
        ("127.0.0.1:1", {"distributed.comm.default-scheme": "tls"}, "there are no certificates"),
        (
            "tcp://127.0.0.1:1",
            {"distributed.comm.require-encryption": True},
            "Dask's configuration requires encryption",
        ),
        (
            "tls://127.0.0.1:1",
            {f"{TLS}.ca-file": "/no/such/file", f"{TLS}.client.cert": "/no/such/file"},
            r"the certificates of Dask's configuration \(distributed.comm.tls\) cannot be read",
        ),
    ],
)
def test_what_does_not_fit_is_refused(address: str, configuration: dict[str, Any], words: str) -> None:
    with (
        dask.config.set(configuration),
        pytest.raises(ValueError, match=f"client='{address}': {words}"),
        on_cluster(address),
    ):
        pass


def test_certificates_that_come_from_elsewhere_are_left_to_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    class Made(Exception):  # noqa: N818 (it is no error)
        """A client was made."""

    def made(*given: Any, **options: Any) -> None:
        raise Made

    monkeypatch.setattr(distributed, "Client", made)
    with dask.config.set({"distributed.client.security-loader": "a.loader"}), pytest.raises(Made):
        on_cluster("tls://127.0.0.1:1").__enter__()
