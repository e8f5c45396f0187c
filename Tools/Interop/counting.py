"""Serves a WSGI app on a free port of the loopback address, and counts what its clients do.

The first line of standard output is the port, or a JSON object about the server. `GET /counts` returns the counts as
JSON. The server ends when its standard input does, so it never outlives the process that started it.
"""

import json
import socket
import sys
import threading
import time

from werkzeug.serving import WSGIRequestHandler, make_server


class Counter:
    """A WSGI middleware that counts the responses by status, and when tokens were refreshed."""

    def __init__(self, app, refresh_path):
        self.app, self.refresh_path = app, refresh_path
        self.lock = threading.Lock()
        self.calls, self.refreshes, self.times = {}, {}, []

    def __call__(self, environ, start_response):
        path = environ["PATH_INFO"]
        if path == "/counts":
            body = json.dumps({"calls": self.calls, "refreshes": self.refreshes, "times": self.times}).encode()
            start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
            return [body]

        # The time of the request: a token is issued after it, so it never lives shorter than the difference.
        now = time.monotonic()

        def count(status, *rest):
            code = status.split()[0]
            with self.lock:
                if path == "/me":
                    self.calls[code] = self.calls.get(code, 0) + 1
                elif path == self.refresh_path:
                    self.refreshes[code] = self.refreshes.get(code, 0) + 1
                    self.times.append(now)
            return start_response(status, *rest)

        return self.app(environ, count)


class QuietHandler(WSGIRequestHandler):
    """Writes no line for each request."""

    def log_request(self, *_):
        pass


def free_port():
    """A port that no program listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def serve(app, refresh_path, port=0, about=None):
    """Serves until standard input ends."""
    server = make_server("127.0.0.1", port, Counter(app, refresh_path), threaded=True, request_handler=QuietHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps(about) if about else server.server_port, flush=True)
    sys.stdin.read()
