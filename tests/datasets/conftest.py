import hashlib
import threading

import pytest

from served_files import QRELS, Server
from skfilterrank.datasets import _loaders


@pytest.fixture
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("served"))
    thread = threading.Thread(target=server.http.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.http.shutdown()
    server.http.server_close()
    thread.join()


@pytest.fixture
def track(server, monkeypatch):
    """web-2010 is a small file of the server, and the mirror holds nothing."""
    track = _loaders._Track(
        "trec-web-qrels/web2010.qrels.txt.gz",
        server.put("qrels", QRELS),
        hashlib.sha256(QRELS).hexdigest(),
        hashlib.md5(QRELS).hexdigest(),
        "About.",
    )
    monkeypatch.setattr(_loaders, "MIRROR", f"{server.url}mirror-")
    for name in ("web-2010", "covid-round1"):
        monkeypatch.setitem(_loaders._TRACKS, name, track)
    return track
