# SPDX-License-Identifier: GPL-2.0-or-later
#
# Random arguments of the pairing functions with Bumble's results, as lines of security-toolbox.txt.

from __future__ import annotations

import random
import sys

from bumble import crypto
from bumble.crypto import EccKey


def line(function: str, arguments: list[bytes], *results: bytes) -> None:
    """Returns a line. Bumble uses the opposite byte order."""
    words = [value[::-1].hex() for value in arguments]
    print(function, *words, "=", *(value[::-1].hex() for value in results))


def main(count: int, seed: str) -> None:
    numbers = random.Random(seed)
    for _ in range(count):
        key, one, other, check = (numbers.randbytes(16) for _ in range(4))
        x, y, secret = (numbers.randbytes(32) for _ in range(3))
        first, second = (numbers.randbytes(6) + bytes([numbers.randrange(2)]) for _ in range(2))
        features = [[code, numbers.randrange(5), numbers.randrange(2), numbers.randrange(256), numbers.randrange(7, 17)]
                    + [numbers.randrange(256), numbers.randrange(256)] for code in (1, 2)]
        request, response = map(bytes, features)
        types = first[6:], second[6:]
        value = crypto.c1(key, one, request, response, first[6], second[6], first[:6], second[:6])
        line("c1", [key, one, request, response, types[0], first[:6], types[1], second[:6]], value)
        line("s1", [key, one, other], crypto.s1(key, one, other))
        part = numbers.randbytes(3)
        line("ah", [key, part], crypto.ah(key, part))
        bit = bytes([numbers.choice((0, 0x80, 0x81))])
        line("f4", [x, y, one, bit], crypto.f4(x, y, one, bit))
        line("f5", [secret, one, other, first, second], *crypto.f5(secret, one, other, first, second))
        capabilities = bytes([numbers.randrange(5), numbers.randrange(2), numbers.randrange(256)])
        value = crypto.f6(key, one, other, check, capabilities, first, second)
        line("f6", [key, one, other, check, capabilities, first, second], value)
        line("g2", [x, y, one, other], crypto.g2(x, y, one, other).to_bytes(4, "little"))
        mine, theirs = EccKey.from_private_key_bytes(secret), EccKey.from_private_key_bytes(x)
        line("dh", [secret[::-1], theirs.x[::-1], theirs.y[::-1]], mine.dh(theirs.x, theirs.y)[::-1])


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
