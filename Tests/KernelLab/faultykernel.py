# SPDX-License-Identifier: GPL-2.0-or-later
#
# The fault of the kernels in kernels.FAULTY, which free the channel of a link twice
# (Sources/BluetoothAdapters/Links/ChannelFault.swift).

from __future__ import annotations

import asyncio
import re

from bench import Bench
from waiting import expect

FUNCTION = re.compile(r"\b(hci_chan_del)\+0x")
WORDS = re.compile(r"list_del corruption[^\n]*|kernel BUG at [^\n]*|general protection fault[^\n]*")
REMEDY = "Linux 6.1.190 or 6.12, or `adapter = \"user:hci0\"`; kernel.panic_on_oops=1 and kernel.panic=10 start the machine anew"


def known_fault(bench: Bench) -> str:
    """Returns the known fault in the log of an affected kernel, identified by the function that failed, and its remedy; empty if
    there is none."""
    if not bench.machine.vm.kernel.is_faulty:
        return ""
    log = bench.machine.vm.console_text()
    function, words = FUNCTION.search(log), WORDS.search(log)
    return f"{words[0].strip()} in {function[1]}; remedy: {REMEDY}" if function and words else ""


async def until_fault(bench: Bench, seconds: float) -> str:
    """Waits for the fault, which the scenario expects."""
    clock, kernel = bench.clock(), bench.machine.vm.kernel
    while not (fault := known_fault(bench)):
        expect(clock() < seconds, f"{kernel.package} is known for its fault in hci_chan_del, and has not failed within {seconds:g} s")
        await asyncio.sleep(0.1)  # the log is a file, so poll it
    return fault
