# SPDX-License-Identifier: GPL-2.0-or-later
#
# Snippets in a line editor that knows nothing about them (readline in bash). The next character shows the position of the cursor.

from __future__ import annotations

import json
import signal

from bench import REPOSITORY, Bench
from console import LineEditor
from daemons import CONFIGURATION, fresh, start, tell, until_connected, until_status, use_open, write
from peer import NAME
from scenarios import scenario
from waiting import expect

VECTORS = REPOSITORY / "Tests/Vectors/snippets.txt"
FILE = "/etc/blewedge/snippets.json"


def vectors() -> list[tuple[str, str]]:
    """Returns texts, each with a copy that marks the input point with `|`."""
    lines = (line for line in VECTORS.read_text().splitlines() if line and not line.startswith("#"))
    pairs = (line.split("\t") for line in lines)
    return [(text, marked) for text, marked in pairs]


async def typed(bench: Bench, editor: LineEditor, *words: str) -> str:
    """Runs a command that types, then types one character and Enter. Returns the line."""
    await tell(bench, *words)
    await tell(bench, "key", "7", "enter")
    return await editor.line()


@scenario("snippets", peer="", deadline=300, once=True)
async def snippets(bench: Bench) -> None:
    """HK-1, HK-2, HK-3, HK-4, HK-5: after a snippet the next character is at its input point; text that cannot be typed is reported."""
    await fresh(bench)
    await write(bench, CONFIGURATION, 'snippets = "habr"\n')
    # Single-line texts with an input point before their end, and one without.
    plain = [(text, marked) for text, marked in vectors() if text.isascii() and "\\n" not in text]
    plain = [pair for pair in plain if not pair[1].endswith("|") or pair[0] == "plain"]
    foreign = [text for text, _ in vectors() if not text.isascii()]
    file: dict[str, object] = {f"vector {number}": text for number, (text, _) in enumerate(plain)}
    file |= {f"foreign {number}": text for number, text in enumerate(foreign)}
    # HK-3: pairs without an input point, and a built-in tag with another opening.
    file |= {"halves": {"opening": "(", "closing": "*)"}, "sarcasm": {"opening": "<irony>"}}
    await write(bench, FILE, json.dumps(file))
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

    # HK-4, HK-5: Left, Backspace, and clearing the whole field.
    line = await typed(bench, editor, "key", "1", "2", "3", "left", "left", "backspace", "right")
    expect(line == "<273>", f"left, backspace, right: the line is {line}")
    await tell(bench, "snippet", "link")
    line = await typed(bench, editor, "clear")
    expect(line == "<7>", f"of a field that was cleared is left {line}")
    # A changed file takes effect after `reload`; an invalid one changes nothing.
    keyboards = lambda: [o for o in daemon.program.objects if o.get("event") == "keyboard"]  # noqa: E731
    for text, code, wanted in (("{", 78, "<b>7</b>"), ('{"bold": "[b][/b]"}', 0, "[b]7[/b]")):
        await write(bench, FILE, text)
        await tell(bench, "reload", code=code)
        if code == 0:
            await daemon.program.until(lambda: len(keyboards()) == 2, "the daemon begins anew", 30)
        line = await typed(bench, editor, "snippet", "bold")
        expect(line == f"<{wanted}>", f"after a reload with {code} the line is {line}")
    await editor.close()
    await daemon.end(signal.SIGTERM, 143)
    bench.note = f"{len(plain) + len(tags)} input points, {len(foreign)} refused"
    await fresh(bench)


@scenario("snippets-received", deadline=240, once=True)
async def snippets_received(bench: Bench) -> None:
    """HK-1, HK-2: after a scan or a byte that triggers a snippet, the next character is at its input point; other scans are typed."""
    await fresh(bench)
    await write(bench, CONFIGURATION, 'snippets = "habr"\n')
    await write(bench, FILE, json.dumps({"bold": {"received": "*B"}, "sig": {"text": "Doe", "received": "\2"}}))
    table = "/etc/blewedge/bytes.table"
    await write(bench, table, '0x02 = macro text "<b></b>" ' + "key left " * 4 + "\n")

    refusal = await tell(bench, "run", code=78)
    expect('"bold"' in refusal and "--scan" in refusal, f"without scan mode: {refusal}")
    editor = await LineEditor.open(bench)
    ways = [(("--scan",), b"*B\r", "<b>7</b>"), (("--scan",), b"\2\n", "Doe7"), (("--stall", "50ms", "--table", table), b"\2", "<b>7</b>")]
    for options, code, wanted in ways:
        if "--table" in options:
            await bench.guest.run("rm", FILE)
        daemon = await start(bench, *options)
        if (options, code, wanted) == ways[0]:
            await use_open(bench)
        await until_connected(bench, daemon)
        bench.peer.burst([code])
        taken = lambda answer: answer["counts"]["typed"] + answer["counts"]["discarded"]  # noqa: E731
        await until_status(bench, 20, f"{code!r} is typed", lambda answer: taken(answer) >= len(code))
        await tell(bench, "key", "7", "enter")
        line = await editor.line()
        expect(line == f"<{wanted}>", f"for {code!r} the line is {line}, wanted was {wanted}")
        bench.peer.burst([b"49*B\r"])
        line = await editor.line()
        expect(line == "<49*B>", f"another scan came as {line}")
        await daemon.end(signal.SIGTERM, 143)
        await bench.peer.until_alone()
    await editor.close()
    bench.note = "two scans and a byte"
    await fresh(bench)
