import threading

import pytest

from served_files import Server


@pytest.fixture
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("served"))
    thread = threading.Thread(target=server.http.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.http.shutdown()
    server.http.server_close()
    thread.join()
