"""A data set served over HTTP by this machine, slowly enough to be killed in the middle, and how to get it."""

import dataclasses
import hashlib
import io
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import scipy.sparse as sp

from crash.children import featprop_command

__all__ = ["fetch", "serving"]

NAME = "served"
PIECES = 20


@contextmanager
def serving(seconds: float) -> Iterator[str]:
    """Serve the digits of scikit-learn as a sparse ``.npz`` file that takes so many seconds; yields its address."""
    content = _archive()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            step = -(-len(content) // PIECES)
            try:
                for start in range(0, len(content), step):
                    self.wfile.write(content[start : start + step])
                    time.sleep(seconds / PIECES)
            except OSError:
                pass

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    digest = hashlib.sha256(content).hexdigest()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/{digest}/{NAME}.npz"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def fetch(given: tuple[str, str]) -> None:
    """Get the data set into a cache, as ``featprop datasets fetch`` does."""
    from featprop.datasets import catalogue
    from featprop.datasets.catalogue import Form, RawFile
    from featprop.datasets.readers import read_sparse

    cache, address = given
    os.environ["FEATPROP_CACHE"] = cache
    os.environ.pop("FEATPROP_DATA", None)
    file = RawFile(f"{NAME}.npz", address, f"sha256:{address.split('/')[-2]}")
    form = Form("sparse .npz", (file,), read_sparse)
    entry = dataclasses.replace(catalogue.CATALOGUE["digits"], name=NAME, forms=(form,), build=None)
    catalogue.CATALOGUE[NAME] = entry
    featprop_command(["datasets", "fetch", NAME])


def _archive() -> bytes:
    from featprop.datasets import digits

    graph = digits()
    parts = {
        f"{name}_{part}": np.asarray(getattr(matrix, part))
        for name, matrix in (("adj", sp.csr_array(graph.adjacency)), ("attr", sp.csr_array(graph.features)))
        for part in ("data", "indices", "indptr", "shape")
    }
    file = io.BytesIO()
    np.savez(file, labels=graph.labels, **parts)
    return file.getvalue()
