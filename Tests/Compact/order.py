#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The symbols that order.txt names, in its order, for the linker.

  order.py FILE...            the symbols of these objects and libraries, a line each
  order.py --missing FILE...  the lines of order.txt that none of them has
  order.py --span MAP SYMBOLS how far apart the first and the last of these symbols lie by a linker's map

Exit status: 0, or 1 if one line in twenty is missing or the span is more than 128 KiB, 64 usage.
"""

import pathlib
import re
import subprocess
import sys

LIST = pathlib.Path(__file__).with_name("order.txt")
SPAN = 128 << 10
IN_MAP = re.compile(r"\s*([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)\s+\d+ {17}(\S.*)")
WITNESS = re.compile(r"protocol witness for (?:static )?[\w.]+\.([^ .]+) in conformance ([\w.]+)$")
MADE_OF = re.compile(r"^(?:static |specialized |merged |partial apply for )")
ACCESSOR = re.compile(r"\.(?:getter|setter|unsafeMutableAddressor)$")


def named():
    lines = (line.strip() for line in LIST.read_text().splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def functions(files):
    """The symbols of all functions in objects and libraries."""
    command = ["nm", "--defined-only", "--format=posix", *files]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    fields = (line.split() for line in printed.splitlines())
    return sorted({field[0] for field in fields if len(field) > 2 and field[1] in "tTwWiu"})


def plain(name):
    """The name that a line of the list has, for the compiler's name of a function in words."""
    while MADE_OF.match(name):
        name = MADE_OF.sub("", name)
    if witness := WITNESS.match(name):
        name = f"{witness[2]}.{witness[1]}"
    inside = re.match(r"(?:closure #\d+ in )+(.*)", name)
    name = ACCESSOR.sub("", (inside[1] if inside else name).split("(")[0].split("<")[0])
    return f"closures in {name}" if inside else name


def span(path, symbols):
    wanted = set(pathlib.Path(symbols).read_text().split())
    lines = (IN_MAP.match(line) for line in pathlib.Path(path).read_text(errors="replace").splitlines())
    # A section that was not linked in has no address.
    found = sorted((int(line[1], 16), int(line[2], 16)) for line in lines if line and line[3] in wanted and int(line[1], 16))
    if not found:
        print(f"{path} has none of {len(wanted)} symbols")
        return 1
    length = sum(found[-1]) - found[0][0]
    print(f"{len(found)} of {len(wanted)} symbols, {sum(size for _, size in found)} bytes, within {length}")
    return int(length > SPAN)


def main():
    arguments = sys.argv[1:]
    if arguments[:1] in (["-h"], ["--help"]):
        print(__doc__.strip())
        return 0
    if arguments[:1] == ["--span"] and len(arguments) == 3:
        return span(*arguments[1:])
    tells_missing = arguments[:1] == ["--missing"]
    files = arguments[tells_missing:]
    if not files or files[0].startswith("--"):
        print("usage: order.py [--missing] FILE... | --span MAP SYMBOLS", file=sys.stderr)
        return 64
    symbols = functions(files)
    words = subprocess.run(
        ["swift", "demangle", "--simplified"], check=True, input="\n".join(symbols), stdout=subprocess.PIPE, text=True
    ).stdout.splitlines()  # fmt: skip
    found = {}
    for symbol, name in zip(symbols, words, strict=True):
        for line in {plain(name), symbol} if symbol.startswith("$s") else {symbol}:
            found.setdefault(line, []).append(symbol)
    missing = [line for line in named() if line not in found]
    if tells_missing:
        print("\n".join(missing), end="\n" if missing else "")
        return int(len(missing) * 20 > len(named()))
    for line in named():
        print("\n".join(found.get(line, [])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
