# SPDX-License-Identifier: GPL-2.0-or-later
#
# Command line; runs the tests one after another.

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.append(str(REPOSITORY / "Tests/KernelLab"))

import capture_tests  # noqa: E402, F401
import client_tests  # noqa: E402, F401
import pairing_tests  # noqa: E402, F401
import server_tests  # noqa: E402, F401
import waiting  # noqa: E402
from rows import rows  # noqa: E402
from setting import TESTS, Body, Setting  # noqa: E402
from waiting import LabError  # noqa: E402

DEADLINE = 420
# Other stages of Tests/run use the same processors.
waiting.patience = 6

logging.getLogger("bumble").setLevel(logging.CRITICAL)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run", description="The product and Bumble, in both roles, over H4 streams.")
    parser.add_argument("tests", nargs="*", metavar="test", help="names from --list (default: all)")
    parser.add_argument("--list", action="store_true", help="print the tests and end")
    parser.add_argument("--count", type=int, default=10_000, help="notifications and indications in each direction")
    parser.add_argument("--binary", type=Path, required=True, help="blewedge")
    parser.add_argument("--server", type=Path, required=True, help="gattpeer")
    options = parser.parse_args()
    for name in options.tests:
        if name not in TESTS:
            parser.error(f"no test {name}; there are: {', '.join(TESTS)}")
    return options


async def attempt(body: Body, setting: Setting) -> str:
    """Runs a test. Returns the cause of its failure; empty if it passed."""
    try:
        async with asyncio.timeout(DEADLINE):
            await body(setting)
    except LabError as error:
        return str(error)
    except TimeoutError as error:
        return str(error) or f"not over within {DEADLINE} s"
    except Exception as error:  # Bumble raises exceptions of many kinds
        return f"{type(error).__name__}: {error}"
    finally:
        await setting.close()
    return ""


async def main() -> int:
    options = parse()
    if options.list:
        for name, body in TESTS.items():
            print(f"{name:<26} {(body.__doc__ or '').strip().splitlines()[0]}")
        return 0
    # Ignore unhandled exceptions in Bumble's tasks: they affect the result of the test anyway.
    asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)
    passed = failed = 0
    for name in options.tests or TESTS:
        setting = Setting(options)
        start = time.monotonic()
        cause = await attempt(TESTS[name], setting)
        passed, failed = (passed, failed + 1) if cause else (passed + 1, failed)
        text = rows(TESTS[name].__doc__ or "") + (cause or setting.note)
        print(f"{'FAIL' if cause else 'ok  '}  {name:<26} {text}  ({time.monotonic() - start:.1f} s)", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 0 if passed > 0 and failed == 0 else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
