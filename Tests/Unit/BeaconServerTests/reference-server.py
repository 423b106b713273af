#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A server of beacons that gives every answer there can be, and checks each request against the article on the wire.

  reference-server.py FOLDER

FOLDER has localhost.pem and elsewhere.pem, each a key with its certificate, and a file `token`. The first part of a request's
path is the answer that is wanted: https://localhost:PORT/fine/regions. Prints `ready PORT ELSEWHERE SILENT`: the ports of the
server, of the same under a certificate of another name, and of one that takes connections and says nothing. Then a line for
each request, `request {"path": …, "body": …}`. It ends with its standard input.
"""

from __future__ import annotations

import http.server
import json
import pathlib
import re
import socket
import ssl
import sys
import threading

UUID = re.compile(r"[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}")
NAMESPACE = re.compile(r"[0-9A-F]{20}")
INSTANCE = re.compile(r"[0-9A-F]{12}")
BADGE = "4A1C0D9E-5B8F-4E57-9B7E-1C2D3E4F5A6B"
OFFICIAL = "B9407F30-F5F8-466E-AFF9-25556B57FE6D"
REGIONS = [
    {"uuid": BADGE, "type": "owned", "name": "badges"},
    {"uuid": BADGE, "major": 12, "type": "owned", "beacons": "dynamic"},
    {"uuid": BADGE, "major": 12, "minor": 3456, "type": "test"},
    {"namespace": "00112233445566778899", "instance": "AABBCCDDEEFF", "type": "third-party"},
    {"uuid": OFFICIAL, "type": "service", "name": "official"},
    {"uuid": OFFICIAL, "major": 1, "type": "service", "beacons": "dynamic"},
]
LATER = [REGIONS[0], {"uuid": BADGE, "major": 13, "type": "owned"}, *REGIONS[2:]]

printing = threading.Lock()
ending = threading.Event()


def say(line: str) -> None:
    with printing:
        print(line, flush=True)


def is_number(value: object, highest: int) -> bool:
    return type(value) is int and 0 <= value <= highest


def has_only(value: object, needed: set[str], others: set[str] = frozenset()) -> bool:
    return isinstance(value, dict) and needed <= set(value) <= needed | others


def is_region(value: object) -> bool:
    if has_only(value, {"namespace"}, {"instance"}):
        return bool(NAMESPACE.fullmatch(value["namespace"]) and INSTANCE.fullmatch(value.get("instance", "0" * 12)))
    return (
        has_only(value, {"uuid"}, {"major", "minor"})
        and bool(UUID.fullmatch(value["uuid"]))
        and is_number(value.get("major", 0), 0xFFFF)
        and is_number(value.get("minor", 0), 0xFFFF)
        and not ("minor" in value and "major" not in value)
    )


def is_sighting(value: object, is_eddystone: bool) -> bool:
    return (
        has_only(value, {"after"} | ({"instance"} if is_eddystone else {"major", "minor"}), {"keyCode", "rssi"})
        and is_number(value.get("major", 0), 0xFFFF)
        and is_number(value.get("minor", 0), 0xFFFF)
        and bool(INSTANCE.fullmatch(value.get("instance", "0" * 12)))
        and is_number(value["after"], 15000)
        and isinstance(value.get("keyCode", ""), str)
        and -128 <= value.get("rssi", 0) <= 127
    )


def is_right(name: str, body: object) -> bool:
    """Whether a request is as the article says; each may have an `auid`."""
    if isinstance(body, dict) and "auid" in body:
        auid = body.pop("auid")
        if not isinstance(auid, str) or not 1 <= len(auid.encode()) <= 128:
            return False
    if name == "regions":
        return (
            has_only(body, {"type"}, {"beacons"})
            and body["type"] in ("whole", "service", "test", "owned", "third-party")
            and body.get("beacons", "static") in ("static", "dynamic")
            and not ("beacons" in body and body["type"] not in ("service", "owned"))
        )
    if name == "track":
        return (
            has_only(body, {"record", "region", "at", "sightings"})
            and bool(re.fullmatch(r"[0-9a-f]{16}", body["record"]))
            and is_region(body["region"])
            and is_number(body["at"], 1 << 40)
            and 1 <= len(body["sightings"]) <= 260
            and all(is_sighting(sighting, "namespace" in body["region"]) for sighting in body["sightings"])
        )
    if name == "test-log":
        return (
            has_only(body, {"region", "event", "at"})
            and is_region(body["region"])
            and body["event"] in ("enter", "exit", "inside", "outside")
            and is_number(body["at"], 1 << 40)
        )
    return name == "validate" and is_region(body) and "minor" in body


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    token = ""
    first_port = 0

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        say(f"request {json.dumps({'method': 'GET', 'path': self.path})}")
        self.answer(405, b"")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        _, scenario, name = self.path.split("/", 2)
        say("request " + json.dumps({"path": self.path, "body": body.decode()}))
        if self.headers["Authorization"] != f"Bearer {self.token}":
            return self.answer(401, b"")
        wanted = {"Content-Type": "application/json", "Accept": "application/json"}
        if any(self.headers[key] != value for key, value in wanted.items()) or not is_right(name, json.loads(body)):
            return self.answer(400, b"")
        getattr(self, scenario.replace("-", "_"), self.numbered)(name, json.loads(body), scenario)

    def answer(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for key, value in headers.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)

    def json(self, value: object) -> None:
        self.answer(200, json.dumps(value).encode())

    def fine(self, name: str, body: dict, _: str, regions: list[dict] = REGIONS) -> None:
        if name == "regions":
            asked = [entry for entry in regions if body["type"] in ("whole", entry["type"])]
            sort = body.get("beacons")
            self.json({"regions": [entry for entry in asked if sort in (None, entry.get("beacons", "static"))]})
        elif name == "validate":
            self.json({"valid": body["minor"] == 3456})
        elif name == "track":
            self.json({"accepted": True, "result": "marked"})
        else:
            self.json({"accepted": True})

    def later(self, name: str, body: dict, scenario: str) -> None:
        self.fine(name, body, scenario, LATER)

    def twice(self, name: str, body: dict, scenario: str) -> None:
        """The same answer two times in a row."""
        self.fine(name, body, scenario)
        self.fine(name, body, scenario)

    def empty(self, *_: object) -> None:
        self.json({"regions": []})

    def numbered(self, name: str, body: dict, scenario: str) -> None:
        """error-1400, status-503, contact-skipped, or a file of the folder `answers`: its bytes."""
        kind, _, number = scenario.partition("-")
        if kind == "error":
            self.json({"error": int(number)})
        elif kind == "contact":
            self.json({"accepted": True, "result": number})
        elif kind == "status":
            self.answer(int(number), b"{}")
        else:
            self.answer(200, (pathlib.Path(sys.argv[1]) / "answers" / scenario).read_bytes())

    def redirect(self, *_: object) -> None:
        self.answer(302, b"", Location="file:///etc/passwd")

    def redirect_here(self, name: str, *_: object) -> None:
        self.answer(307, b"", Location=f"/fine/{name}")

    def slow(self, name: str, body: dict, scenario: str) -> None:
        """An answer that comes in pieces, but comes."""
        self.send_response(200)
        text = json.dumps({"accepted": True, "valid": True, "regions": REGIONS}).encode()
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        for byte in text:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()

    def never(self, *_: object) -> None:
        ending.wait()

    def dribble(self, *_: object) -> None:
        """An answer that begins, and does not end."""
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"{")
        self.wfile.flush()
        ending.wait()

    def cut(self, *_: object) -> None:
        """An answer that ends too early."""
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b'{"accepted":')
        self.close_connection = True

    def huge(self, *_: object) -> None:
        """100 MB, announced; ends as the client does."""
        self.flood(100_000_000)

    def endless(self, *_: object) -> None:
        """The same in chunks whose sum nobody knows."""
        self.flood(None)

    def flood(self, length: int | None) -> None:
        self.send_response(200)
        if length is None:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()
        part = b" " * 65536
        sent = 0
        try:
            while sent < 100_000_000:
                self.wfile.write(b"10000\r\n" + part + b"\r\n" if length is None else part)
                sent += len(part)
        except OSError:
            pass
        say(f"flooded {sent}")
        self.close_connection = True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client that goes is no news."""


def serve(certificate: pathlib.Path) -> int:
    server = Server(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    Handler.token = (folder / "token").read_text().strip()
    ports = [serve(folder / "localhost.pem"), serve(folder / "elsewhere.pem")]
    silent = socket.create_server(("127.0.0.1", 0))
    say(f"ready {ports[0]} {ports[1]} {silent.getsockname()[1]}")
    sys.stdin.read()


main()
