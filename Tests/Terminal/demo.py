# SPDX-License-Identifier: GPL-2.0-or-later
"""X-17: a new user's way through `demo --tui`, with a screen of each step at every size."""

import re

from terminal import Bench, Failure
from words import WORDS, shows

SIZES = [(200, 50), (40, 12), (80, 24)]
STEP = {"en": "Step {} of 9:", "ja": "手順{}/9:"}
OPEN = {"en": "{} is not paired", "ja": "{} はペアリングされていません"}
CHOSEN = {"en": "{} is selected.", "ja": "{} を選択しました。"}
CONNECTED = {"en": "connected to {}", "ja": "通信可能です: {}"}
GATED = {"en": "gated", "ja": "停止中に破棄"}
LOST = {"en": "the link to SCALE-15K was lost", "ja": "接続が切れました: SCALE-15K"}
LOOKING = {"en": "looking for SCALE-15K", "ja": "接続を試みています: SCALE-15K"}
SWITCH = {"en": "Switch to SCALE-15K?", "ja": "(SCALE-15K)に切り替えますか?"}


# Frame characters, and the columns of bars and graphs.
EDGES, BARS = "┌┐└┘─│", "▁▂▃▄▅▆▇█"


def without_graph(screen):
    """Replaces the columns of the graphs of the last minute, which move every second."""
    return re.sub(rf"(?m)^(│ (?:received|typed|受信|入力) +\d+) [ {BARS}]*│$", r"\1 GRAPH", screen)


def plain(screen):
    """Removes the parts of a screen that differ between runs: numbers, typed text, and the mark of received data."""
    lines = []
    for line in re.sub(f"[{EDGES}{BARS}]", " ", screen).splitlines():
        line = line.strip()
        # The list pauses while the daemon looks for its own device.
        line = re.sub(r"Scanning \.\.\.|スキャン中\.\.\.", "", line)
        # The line is cut off where the mark of received data begins.
        line = re.sub(r"^(connected to \S+): .*", r"\1", line)
        line = re.sub(r"\* (received|受信)$|^\* (?=Last received|最終受信)", "", line)
        # The line break in the counts depends on the number of their digits.
        line = re.sub(r"^(notifications|通知の数) .*", "COUNTS", line)
        line = re.sub(r"^\d{13}\s*$|^ST,GS,\S*\s*$", "TYPED", re.sub(r"/\S*blewedge-demo\S*", "FOLDER", line))
        line = re.sub(r"\s+", " ", re.sub(r"-?\d+", "0", line)).strip()
        if line and line != (lines or [""])[-1]:
            lines.append(line)
    return "\n".join(lines)


def walk(checks, program, language, locale, here):
    with Bench(program, locale, 80, 24) as bench:
        bench.environment["XDG_RUNTIME_DIR"] = str(bench.folder)

        def pictures(number):
            for columns, rows in SIZES:
                bench.run("resize-window", "-x", str(columns), "-y", str(rows))
                bench.wait(STEP[language].format(number), height=rows)
                path = here / f"{language}-{columns}x{rows}" / f"demo-{number}.txt"
                checks.text(f"X-17: {language} {columns}x{rows} demo-{number}", path, bench, plain)

        def chosen(name):
            bench.wait(CHOSEN[language].format(name), CONNECTED[language].format(name))

        def steps():
            bench.begin("demo", "--tui")
            bench.wait("LINBLE-Z1", "SCALE-15K", "HID Scanner", "Nordic Reader")
            if not list(bench.folder.glob("blewedge-demo.*/control")):
                raise Failure("the demo has no folder of its own")
            for number in range(1, 10):
                if number == 6:
                    bench.wait(GATED[language])
                elif number == 8:
                    bench.wait(LOST[language])
                    bench.wait(LOOKING[language])
                pictures(number)
                if number == 1:
                    choose(bench, OPEN[language].format("LINBLE-Z1"))
                    chosen("LINBLE-Z1")
                elif number == 2:
                    bench.press("F2")
                    bench.wait("4902778020142")
                elif number == 3:
                    bench.press("F1")
                    choose(bench, SWITCH[language])
                    bench.wait(OPEN[language].format("SCALE-15K"))
                    bench.press("Right", "Enter")
                    chosen("SCALE-15K")
                elif number == 4:
                    bench.press("F2")
                    bench.wait("kg")
            # By now, the guide shows all steps as done.
            bench.press("F6")
            bench.wait(WORDS[language]["all"])
            bench.press("q")
            bench.wait("ended with 0")
            if left := list(bench.folder.glob("blewedge-demo.*")):
                raise Failure(f"the demo has left {left}")

        checks.run(f"the way of somebody new through demo --tui, {language}", steps)


def choose(bench, question):
    """Selects the device that this question names, wherever it is in the list, and confirms."""
    bench.press("Home")
    for _ in range(6):
        bench.press("Enter")
        if shows(bench.wait("[ OK ]"), [question]):
            return bench.press("Right", "Enter")
        bench.press("Escape", "Down")
    raise Failure(f"not asked: {question}")
