# SPDX-License-Identifier: GPL-2.0-or-later
#
# The lab's command line, and the loop over kernels and scenarios. One boot serves all scenarios of a kernel;
# a scenario that fails, or upsets the kernel, costs a fresh boot.

from __future__ import annotations

import argparse
import asyncio
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import Any

import kernels
import overline
import vm
import waiting
from bench import BOOT_SECONDS, REPOSITORY, Bench, Machine
from controllers import VARIANTS
from losses import PLACES, described
from rows import rows
from scenarios import ALL, Scenario
from scenarios.matrix import PREFIX
from table import OVER_A_LINE, Table
from waiting import LabError

DEFAULT = ["6.1", "6.12"]
LONG_SECONDS = 240  # what --long adds to a scenario's deadline

EXAMPLES = """examples:
  lab                                  everything on kernels 6.1 and 6.12, what is not the kernel's doing on 6.12 only
  lab scans-200                        one scenario on both
  lab --kernel 6.12 scan scans-200     two scenarios on one kernel
  lab --kernel all                     also 5.10 and 7.2
  lab --kernel all --whole             every scenario on all four, also what is not the kernel's doing
  lab --patience 3 --kernel 7.2        on a machine with much else to do: all that is waited for has three times as long
  lab --long latency stall-limit-20ms  longer measurements, and gates that only a quiet machine can hold
  lab --keep-logs /tmp/logs idle       keep what the programs printed and the HCI trace, pass or fail
  lab --table                          every controller on every kernel and over H4, as a table (matrix.md)
  lab --table --kernel 6.12            one column of it, and the one over H4
  lab --busy 40 simulate               with 40 % of each core taken by another process (Tests/busy)

what the lab itself loses:
  The kernel drops packets at a socket that is not read soon enough, and events at an event reader that comes late.
  The lab's sockets have long queues, and each of its programs counts what was dropped there (losses.h); what goes over
  its ports is counted at both ends. A scenario during which anything was lost fails by that name, for instance "the lab
  lost 3 packets on the relay's user channel", whatever came of it; the line before the sum adds them up. The scenarios
  control-relay and control-relay-queue lose some on purpose, and pass only if the lab fails them for just as many.
"""


class Lab:
    def __init__(self, options: argparse.Namespace) -> None:
        self.cache: Path = options.cache
        self.logs: Path = options.keep_logs or self.cache / "logs"
        self.keep: bool = options.keep_logs is not None
        self.binary: Path = options.binary
        self.long: bool = options.long
        self.seed: int | None = options.seed
        self.barcodes: int | None = options.barcodes
        self.passed = self.failed = 0
        self.kernel_faults: list[str] = []  # scenarios during which the kernel itself failed, as is known of it
        self.repeated = 0  # scenarios, for a fault of the emulator
        self.given_up = 0  # times that the kernel gave up controllers
        self.lost = dict.fromkeys(PLACES, 0)  # by the lab itself
        self.lost_on_purpose = dict.fromkeys(PLACES, 0)  # by its controls
        self.table = Table()
        self._machine: Machine | None = None
        self._unbootable = ""

    def note_exception(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """What went wrong in the peer's stack while nobody waited for it: for the logs, not the terminal."""
        self.logs.mkdir(parents=True, exist_ok=True)
        with (self.logs / "peer.log").open("a") as log:
            log.write(f"{context.get('message')}: {context.get('exception')!r}\n")

    async def run(self, names: list[str], chosen: list[Scenario], spare: bool) -> None:
        """Runs scenarios on kernels; to `spare` time, those that are not the kernel's doing on the last only."""
        tools = vm.build_tools(self.cache)
        for name in names:
            self._unbootable = ""
            for scenario in chosen:
                if scenario.once and spare and name != names[-1]:
                    continue
                await self._one(name, tools, scenario)
            await self._shut_down()

    async def run_over_lines(self, chosen: list[Scenario]) -> None:
        """The column of the table that has no kernel, in the rows of these scenarios."""
        for scenario in chosen:
            variant = VARIANTS.get(scenario.name.removeprefix(PREFIX))
            if variant is None:
                continue
            start = time.monotonic()
            cause = note = ""
            try:
                async with asyncio.timeout(LONG_SECONDS):
                    note = await overline.main_job(variant, self.binary)
            except LabError as error:
                cause = str(error)
            except TimeoutError:
                cause = f"not over within {LONG_SECONDS} s"
            except Exception as error:  # of the controller's own
                cause = f"{type(error).__name__}: {error}"
            self.failed, self.passed = self.failed + bool(cause), self.passed + (not cause)
            self.table.add(variant.name, variant.about, OVER_A_LINE, f"**fails**: {cause}" if cause else note)
            took = time.monotonic() - start
            print(f"{'FAIL' if cause else 'ok  '}  H4    {PREFIX + variant.name:<18} {cause or note}  ({took:.1f} s)", flush=True)

    async def _one(self, name: str, tools: Path, scenario: Scenario) -> None:
        for _ in range(3):
            start = time.monotonic()
            bench, cause, emulator_fault = await self._try(name, tools, scenario)
            if not emulator_fault:
                break
            print(f"    {name:<5} {scenario.name}: {emulator_fault}, once more", flush=True)
            self.repeated += 1
            self._unbootable = ""
        self._report(name, scenario, bench, cause, bench.started if bench else start)

    async def _try(self, name: str, tools: Path, scenario: Scenario) -> tuple[Bench | None, str, str]:
        """Runs a scenario; its bench, the cause if it failed, and the fault of an emulator that explains it."""
        logs = self.logs / name / scenario.name
        deadline = (scenario.deadline + (LONG_SECONDS if self.long else 0)) * waiting.patience
        shutil.rmtree(logs, ignore_errors=True)
        bench: Bench | None = None
        cause = ""
        try:
            bench = Bench(await self._boot(name, tools), logs, self.long)
            bench.seed = self.seed
            bench.barcodes = self.barcodes
            async with asyncio.timeout(deadline):
                await bench.set_up(scenario.peer)
                await scenario.body(bench)
        except LabError as error:
            cause = str(error)
        except TimeoutError:
            cause = f"not over within {deadline:g} s"
        except Exception as error:  # the peer's own, a fault of a scenario: the others run all the same
            cause = f"{type(error).__name__}: {error}"
        finally:
            if bench is not None:
                cause = await self._leave(bench, cause)
        machines = bench.machines if bench else [machine for machine in (self._machine,) if machine]
        emulator_fault = ""
        if cause and any(machine.vm.emulator_fault() for machine in machines):
            emulator_fault = "QEMU stopped the kernel (int3)"
        elif cause and bench is not None:
            emulator_fault = bench.emulator_fault
        if cause or (bench is not None and bench.kernel_fault):
            await self._shut_down()
        return bench, cause, emulator_fault

    async def _leave(self, bench: Bench, cause: str) -> str:
        """Cleans up after a scenario; its cause of failure, one that comes to light now included."""
        try:
            if not bench.kernel_fault:  # else nothing ends there any more
                async with asyncio.timeout(60):
                    await bench.clean()
                    cause = cause or await bench.machine.complaint()
        except (LabError, TimeoutError) as error:
            cause = cause or f"cleaning up: {error or 'not over within 60 s'}"
        cause = self._judge(bench, cause)
        if cause or bench.kernel_fault or self.keep:
            try:
                async with asyncio.timeout(30):
                    await bench.save()
            except (LabError, TimeoutError):
                pass  # what could be written is there
        return cause

    def _judge(self, bench: Bench, cause: str) -> str:
        """The cause that a scenario fails with, of what it found itself and what the lab has lost."""
        cause = bench.losses.cause(cause)
        if not bench.must_fail:
            return cause
        if cause != bench.must_fail:
            return f"the lab has to fail this with `{bench.must_fail}`, and found `{cause}`"
        bench.note = f"noticed: {cause}"
        return ""

    async def _boot(self, name: str, tools: Path) -> Machine:
        if self._unbootable:
            raise LabError(self._unbootable)
        if self._machine is None:
            machine = self._machine = Machine(kernels.get(name, self.cache), tools, self.logs / name)
            try:
                start = time.monotonic()
                await machine.boot(self.binary, BOOT_SECONDS * waiting.patience)
                print(f"    {name:<5} booted {machine.vm.kernel.release} ({time.monotonic() - start:.1f} s)", flush=True)
            except (LabError, vm.VMError, kernels.KernelError) as error:
                self._unbootable = f"{error}, see {machine.vm.console}"
                raise LabError(self._unbootable) from error
        return self._machine

    async def _shut_down(self) -> None:
        if self._machine is not None:
            machine, self._machine = self._machine, None
            await machine.stop()

    def losses(self) -> str:
        """The line at the end of what the lab itself has lost."""
        on_purpose = described(self.lost_on_purpose, only_losses=True)
        more = f"; in its controls, on purpose: {on_purpose}" if on_purpose else ""
        return f"the lab's own losses: {described(self.lost)}{more}"

    def repetitions(self) -> str:
        """The line at the end of what was begun again, and why."""
        return f"begun again: scenarios for a fault of the emulator {self.repeated}, controllers that the kernel gave up {self.given_up}"

    def _report(self, name: str, scenario: Scenario, bench: Bench | None, cause: str, start: float) -> None:
        text = bench.summary() if bench else ""
        if bench:
            counts = self.lost_on_purpose if bench.must_fail and not cause else self.lost
            for place, number in bench.losses.counts.items():
                counts[place] += number
            self.given_up += bench.given_up
        if cause:
            self.failed += 1
            text = f"{cause}" + (f" [{text}]" if text else "") + f"  logs: {self.logs / name / scenario.name}"
        else:
            self.passed += 1
            self.kernel_faults += [f"{name} {scenario.name}"] if bench and bench.kernel_fault else []
        if scenario.name.startswith(PREFIX):
            row, release = scenario.name.removeprefix(PREFIX), bench.machine.vm.kernel.release if bench else ""
            self.table.add(row, scenario.about, name, f"**fails**: {cause}" if cause else bench.note if bench else "", release)
        took = time.monotonic() - start
        print(f"{'FAIL' if cause else 'ok  '}  {name:<5} {scenario.name:<18} {rows(scenario.about)}{text}  ({took:.1f} s)", flush=True)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="lab",
        description="Runs the product against real kernels in QEMU, with an emulated radio and an independent peer.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    kernel_names = [*kernels.SUITES, "all"]
    parser.add_argument("scenarios", nargs="*", metavar="scenario", help="names from --list (default: all but measurements)")
    parser.add_argument("--kernel", action="append", choices=kernel_names, help="6.1 and 6.12 if not given; repeatable")
    parser.add_argument("--binary", type=Path, default=REPOSITORY / ".build/release/blewedge", metavar="PATH")
    parser.add_argument("--list", action="store_true", help="print the scenarios and end")
    parser.add_argument("--long", action="store_true", help="stalls for 120 s, and the measurements with their gates")
    parser.add_argument("--table", action="store_true", help="the table of kernels and controllers: what it needs, and then it")
    parser.add_argument("--barcodes", type=int, metavar="N", help="so many in each cell of the table, at most 200 (the default)")
    parser.add_argument("--whole", action="store_true", help="on each kernel also what is not the kernel's doing")
    parser.add_argument("--patience", type=float, default=1, metavar="FACTOR", help="wait so many times as long for everything")
    parser.add_argument("--seed", type=int, help="random numbers of this seed, which a scenario has printed")
    parser.add_argument("--keep-logs", type=Path, metavar="DIR", help="keep all logs there, also of what passes")
    parser.add_argument("--busy", metavar="PERCENT", help="take so much of each core meanwhile")  # by the shell script
    cache = Path.home() / ".cache/blewedge-lab"  # the shell script decides, and always gives it
    parser.add_argument("--cache", type=Path, metavar="DIR", default=cache, help="folder for what is downloaded and built")
    options = parser.parse_args()
    if options.table and not options.scenarios and not options.long:
        options.scenarios = [name for name in ALL if name.startswith(PREFIX)]
        options.kernel = options.kernel or ["all"]
        options.long = True
    for name in options.scenarios:
        if name not in ALL:
            parser.error(f"no scenario {name}; there are: {', '.join(ALL)}")
    return options


async def main() -> int:
    options = parse()
    if options.list:
        for scenario in ALL.values():
            print(f"{scenario.name:<18} {scenario.about}")
        return 0
    if not options.binary.is_file():
        print(f"lab: {options.binary} is not built (swift build -c release --static-swift-stdlib --product blewedge, or give --binary PATH)", file=sys.stderr)
        return 1
    chosen = [ALL[name] for name in options.scenarios] or [scenario for scenario in ALL.values() if options.long or not scenario.only_long]
    names = options.kernel or DEFAULT
    spare = not options.long and not options.scenarios and not options.whole
    waiting.patience = options.patience
    lab = Lab(options)
    asyncio.get_running_loop().set_exception_handler(lab.note_exception)
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    try:
        await lab.run(sorted(kernels.SUITES, key=kernels.number) if "all" in names else names, chosen, spare)
        if options.table:
            await lab.run_over_lines(chosen)
    except (vm.VMError, kernels.KernelError) as error:
        print(f"lab: {error}", file=sys.stderr)
        lab.failed += 1
    except asyncio.CancelledError:
        print("lab: interrupted", file=sys.stderr)
        lab.failed += 1
    finally:
        await lab._shut_down()
    if options.table:
        print(f"\n{lab.table.markdown()}\n")
    print(lab.losses())
    print(lab.repetitions())
    if lab.kernel_faults:
        print(f"the kernel's own faults, captured: {', '.join(lab.kernel_faults)}")
    print(f"{lab.passed} passed, {lab.failed} failed")
    return 0 if lab.passed > 0 and lab.failed == 0 and not any(lab.lost.values()) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
