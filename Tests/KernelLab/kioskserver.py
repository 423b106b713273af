#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Web server of the kiosk's page: `kioskserver.py` in the guest. Serves the page and prints its reports.

Prints one JSON object per line: {"event": "listening", "port": N}, then each report that the page posts.
"""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PAGE = (Path(__file__).resolve().parent / "kiosk.html").read_bytes()


class Handler(BaseHTTPRequestHandler):
    """Serves the page and receives its events."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(200 if self.path == "/" else 404, PAGE if self.path == "/" else b"")

    def do_POST(self) -> None:
        for news in json.loads(self.rfile.read(int(self.headers["Content-Length"]))):
            print(json.dumps(news), flush=True)
        self._answer(200, b"")

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_words: object) -> None:
        """Suppresses the server's log; the events of the page are printed to standard output."""


# A browser opens connections in advance. With a thread for each, no connection blocks another.
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(json.dumps({"event": "listening", "port": server.server_port}), flush=True)
server.serve_forever()
