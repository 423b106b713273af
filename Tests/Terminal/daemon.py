# SPDX-License-Identifier: GPL-2.0-or-later
"""A fake daemon without a radio or a keyboard, which answers on a control socket like the product's daemon (D-9).

Text that it is requested to type goes to `typist`, which represents the program with the focus.
"""

import json
import os
import shlex
import socket
import threading
import time

DEVICES = [
    {"address": "F0:F1:F2:F3:F4:F5", "addressType": "random", "name": "LINBLE-TEST", "rssi": -51,
     "services": ["27ADC9CA-35EB-465A-9154-B8FF9076F3E8"],
     "lastHeard": "2099-05-24T17:07:59Z"},
    {"address": "00:1D:12:00:01:20", "addressType": "public", "name": "LT01 BC000120", "rssi": -55,
     "lastHeard": "2099-05-24T17:07:57Z"},
    {"address": "00:1D:12:00:01:42", "addressType": "public", "name": "バーコードリーダ", "rssi": -59, "services": ["1812"],
     "lastHeard": "2099-05-24T17:07:56Z"},
    {"address": "00:1D:12:00:01:22", "addressType": "public", "name": None, "rssi": -91,
     "lastHeard": "2099-05-24T17:07:51Z"},
]

KEYS = {"backspace": "BSpace", "enter": "Enter", "left": "Left", "right": "Right", "home": "Home", "end": "End",
        "delete": "DC", "space": "Space", "tab": "Tab"}

BADGES = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
BEACONS = {"available": True, "availability": "possible", "known": 2, "watched": [BADGES, BADGES + "/7"], "inside": [BADGES],
           "actions": [{"name": "badge", "region": BADGES, "do": "type"}],
           "sightings": [{"region": BADGES, "name": "社員証 Badges", "inside": True, "secondsAgo": 3, "beacon": BADGES + "/1/2"},
                         {"region": BADGES + "/7", "inside": False}],
           "designated": [{"code": "A17C", "beacon": BADGES + "/1/2", "segment": 1, "switcher": True}],
           "advertising": "off", "counts": {"reports": 12, "heard": 4, "badEvents": 0}}

# Number of seconds for which received bytes are kept after a client asked for them.
KEPT = 10

SNIPPETS = {"bold": ("<b></b>", 4)}


class Daemon:
    def __init__(self, path, typist):
        self.path = path
        self.typist = typist
        self.requests = []
        self.lock = threading.RLock()
        self.clients = set()
        self.followers = set()
        self.server = None
        self.state = "unselected"
        self.chosen = None
        self.paused = False
        self.received = 0
        # Last received text in hexadecimal, and the time until which it is kept.
        self.value = None
        self.kept = 0

    def start(self):
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(self.path)
        self.server.listen(16)
        threading.Thread(target=self.accept, args=(self.server,), daemon=True).start()

    def stop(self):
        """Stops without notice, like a daemon that is killed."""
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()
        os.unlink(self.path)
        with self.lock:
            for client in list(self.clients):
                client.shutdown(socket.SHUT_RDWR)
            self.followers.clear()

    def accept(self, server):
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            with self.lock:
                self.clients.add(client)
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            for line in client.makefile(encoding="utf-8"):
                words = shlex.split(line)[2:]
                with self.lock:
                    self.requests.append(" ".join(words))
                    answer = self.answer(words)
                    answer.setdefault("ok", True)
                    self.send(client, {"version": 1, **answer})
                    if words[0] == "events":
                        self.followers.add(client)
        except OSError:
            pass
        finally:
            with self.lock:
                self.clients.discard(client)
                self.followers.discard(client)
            client.close()

    def send(self, client, value):
        client.sendall((json.dumps(value) + "\n").encode())

    def publish(self, event):
        for client in list(self.followers):
            try:
                self.send(client, event)
            except OSError:
                self.followers.discard(client)

    def set_state(self, state):
        with self.lock:
            self.state = state
            self.publish({"event": "state", "state": state})

    def receive(self, text):
        """Simulates text received from the device."""
        with self.lock:
            self.received += len(text)
            self.value = text.encode().hex().upper() if time.monotonic() < self.kept else None
            self.publish({"event": "received", "notifications": 1, "bytes": len(text)})
        self.typist(text)

    def status(self):
        status = {"state": self.state, "seconds": 75, "adapter": "hci0", "keyboard": "/dev/input/event7",
                  "profile": "linble", "layout": "us", "table": "linble", "paused": self.paused,
                  "gate": "closed" if self.paused else "open", "rivals": [],
                  "counts": {"notifications": 1 if self.received else 0, "received": self.received,
                             "typed": self.received, "discarded": 0}}
        if self.paused:
            status |= {"gateReason": "paused", "gateRemedy": "`blewedge resume`",
                       "texts": {"gateReason": ["ReasonText.paused"], "gateRemedy": ["RemedyText.resume"]}}
        if self.chosen:
            status["device"] = self.chosen["name"] or self.chosen["address"]
            status["selection"] = {k: self.chosen[k] for k in ("name", "address", "addressType")}
            if self.state == "connected":
                status["link"] = {"rssi": -50, "mtu": 185, "security": "none"}
        if self.received:
            status["lastReceived"] = {"secondsAgo": 3, "length": self.received}
        return status

    def answer(self, words):
        match words:
            case ["status"]:
                return self.status()
            case ["beacons", "status"]:
                return dict(BEACONS)
            case ["scan", _] | ["scan", _, "anew"]:
                return {"devices": DEVICES}
            case ["received"]:
                self.kept = time.monotonic() + KEPT
                return {"hex": self.value} if self.value else {}
            case ["use", address, *rest]:
                if self.chosen and self.chosen["address"] != address and "yes" not in rest:
                    old = f"{self.chosen['name'] or '-'} ({self.chosen['address']})"
                    return {"ok": False, "error": {"code": 64, "kind": "chosen-already", "cause": f"{old} is chosen", "remedy": None,
                                                   "texts": {"cause": ["CommandFaultText.chosenAlready", old]}}}
                if "security" not in rest:
                    # Refuse an unpaired device as the product does.
                    cause = f"{address} is not paired: anyone who copies its name and address can type"
                    return {"ok": False, "error": {"code": 78, "kind": "open-device", "cause": cause, "remedy": None,
                                                   "texts": {"cause": ["LinkFaultText.openDevice", address, address]}}}
                self.chosen = next(device for device in DEVICES if device["address"] == address)
                self.set_state("connected")
            case ["forget"]:
                self.chosen = None
                self.set_state("unselected")
            case ["connect"]:
                self.set_state("connected")
            case ["disconnect"]:
                self.set_state("disconnected")
            case ["pause" | "resume" as verb]:
                self.paused = verb == "pause"
                self.publish({"event": "gate", "open": not self.paused, "paused": self.paused})
            case ["key", *names]:
                for name in names:
                    self.typist(*([name] if name not in KEYS else []), keys=[KEYS[name]] if name in KEYS else [])
            case ["snippet", title]:
                if title not in SNIPPETS:
                    return {"ok": False, "error": {"code": 78, "cause": f'snippet "{title}": U+20AC has no key in layout us',
                                                   "remedy": "choose another layout"}}
                text, left = SNIPPETS[title]
                self.typist(text, keys=["Left"] * left)
            case ["events" | "clear" | "reload" | "stop"]:
                pass
            case _:
                return {"ok": False, "error": {"code": 64, "cause": "no such request", "remedy": None}}
        return {}
