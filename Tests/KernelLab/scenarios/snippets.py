# SPDX-License-Identifier: GPL-2.0-or-later
#
# Snippets in a line editor that nobody wrote for them (readline's, in bash): where the cursor ends is where
# the next character stands.

from __future__ import annotations

import json
import signal
from pathlib import Path

from bench import Bench
from console import LineEditor
from scenarios import scenario
from scenarios.daemon import fresh, start, tell
from waiting import expect

VECTORS = Path(__file__).resolve().parents[2] / "Vectors/snippets.txt"
FILE = "/etc/blewedge/snippets.json"


def vectors() -> list[tuple[str, str]]:
    """Texts, and the same with `|` where input goes."""
    lines = (line for line in VECTORS.read_text().splitlines() if line and not line.startswith("#"))
    pairs = (line.split("\t") for line in lines)
    return [(text, marked) for text, marked in pairs]


async def typed(bench: Bench, editor: LineEditor, *words: str) -> str:
    """The line after a command that types, one character more, and Enter."""
    await tell(bench, *words)
    await tell(bench, "key", "7", "enter")
    return await editor.line()


@scenario("snippets", peer="", deadline=180)
async def snippets(bench: Bench) -> None:
    """HK-1 … HK-5: after each snippet the next character stands at its input point; what cannot be typed is named first."""
    await fresh(bench)
    plain = [(text, marked) for text, marked in vectors() if text.isascii() and "\\n" not in text]
    foreign = [text for text, _ in vectors() if not text.isascii()]
    file: dict[str, object] = {f"vector {number}": text for number, (text, _) in enumerate(plain)}
    file |= {f"foreign {number}": text for number, text in enumerate(foreign)}
    # HK-3: halves without an input point, and a built-in tag with another opening.
    file |= {"halves": {"opening": "(", "closing": "*)"}, "sarcasm": {"opening": "<irony>"}}
    await bench.guest.run("mkdir", "-p", str(Path(FILE).parent))
    await bench.guest.write_file(FILE, json.dumps(file).encode())
    daemon = await start(bench)
    editor = await LineEditor.open(bench)

    for number, (_, marked) in enumerate(plain):
        line = await typed(bench, editor, "snippet", f"vector {number}")
        expect(line == f"<{marked.replace('|', '7')}>", f"the line is {line}, wanted was {marked}")
    tags = {"halves": "(7*)", "sarcasm": "<irony>7</sarcasm>", "bold": "<b>7</b>", "link": '<a href="http://7"></a>'}
    for title, wanted in tags.items():
        line = await typed(bench, editor, "snippet", title)
        expect(line == f"<{wanted}>", f"{title}: the line is {line}, wanted was {wanted}")

    for number, text in enumerate(foreign):
        character = next(character for character in text if not character.isascii())
        said = await tell(bench, "snippet", f"foreign {number}", code=78)
        expect(character in said, f"{character} of {text} is not named: {said}")
    line = await typed(bench, editor, "key", "1")
    expect(line == "<17>", f"of a text that was refused came {line}")

    # HK-4, HK-5: left, the character before the cursor, and the whole field.
    line = await typed(bench, editor, "key", "1", "2", "3", "left", "left", "backspace", "right")
    expect(line == "<273>", f"left, backspace, right: the line is {line}")
    await tell(bench, "snippet", "link")
    line = await typed(bench, editor, "clear")
    expect(line == "<7>", f"of a field that was cleared is left {line}")
    await editor.close()
    await daemon.end(signal.SIGTERM, 143)
    bench.note = f"{len(plain) + len(tags)} input points, {len(foreign)} refused"
    await fresh(bench)
