# SPDX-License-Identifier: GPL-2.0-or-later
#
# Command line of the lab, which also runs the scenarios one after another. All scenarios of a kernel share one boot. A scenario
# that fails or damages the kernel requires another boot.

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import kernels
import overline
import vm
import waiting
from bench import REPOSITORY, Bench, Machine
from controllers import VARIANTS
from plan import Plan
from scenarios import ALL, Scenario
from scenarios.matrix import PREFIX
from sums import Outcome, Sum
from waiting import LabError
from workers import share_out

DEFAULT = ["6.1", "6.12", "6.1.192"]
LONG_SECONDS = 240  # added to a scenario's deadline with --long

EXAMPLES = """examples:
  lab                                  everything on kernels 6.1 and 6.12, what is not the kernel's doing on one of them only;
                                       on 6.1.192, which has a fault, what is about that
  lab scans-200                        one scenario on both
  lab --kernel 6.12 scan scans-200     two scenarios on one kernel
  lab --kernel all                     also 5.10 and 7.2
  lab --kernel 6.1.192 bonded          a scenario on the kernel with the fault
  lab --kernel all --whole             every scenario on all four, also what is not the kernel's doing
  lab --patience 3 --kernel 7.2        on a machine with much else to do: all that is waited for has three times as long
  lab --long latency stall-limit-20ms  longer measurements, and gates that only a quiet machine can hold
  lab --keep-logs /tmp/logs idle       keep what the programs printed and the HCI trace, pass or fail
  lab --table                          every controller on every kernel and over H4, as a table (matrix.md)
  lab --table --kernel 6.12            one column of it, and the one over H4
  lab --busy 40 simulate               with 40 % of each core taken by another process (Tests/Checks/busy)

kernels:
  Each is a package of Debian's, whose name and version the line `booted` has. Two are asked for by version, both Debian 12's:
  6.1 is linux-image-6.1.0-50 (6.1.176-1); where that is not served any more, what linux-image-amd64 depends on, and the line
  says so. 6.1.192 is linux-image-6.1.0-56 (6.1.192-2), which frees a channel of Bluetooth twice; where that is not served,
  its scenarios fail.

two machines at a time (--jobs 2):
  A scenario mostly waits for timers as long as real ones: one machine leaves most of two cores unused. So there are two,
  each on a kernel of its own, as long as there are kernels; what one kernel is enough for runs on whichever is free. While
  a scenario tells how soon something was, or plays a reader that must not be late, the other machine does nothing. Each
  takes 1.5 GB of memory, and a kiosk's browser (kiosk-browser, 240 MB of packages once) 3 GB more; a scanner in a machine
  of its own (hid-bluetoothd) takes 0.8 GB more. With --jobs 1 all runs one after another, and what one kernel is enough for on
  the last.

what the lab itself loses:
  The kernel drops packets at a socket that is not read soon enough, and events at an event reader that comes late.
  The lab's sockets have long queues, and each of its programs counts what was dropped there (losses.h); what goes over
  its ports is counted at both ends. A scenario during which anything was lost fails by that name, for instance "the lab
  lost 3 packets on the relay's user channel", whatever came of it; the line before the sum adds them up. The scenarios
  control-relay and control-relay-queue lose some on purpose, and pass only if the lab fails them for just as many.
"""


class Lab:
    """Runs scenarios on one machine at a time."""

    def __init__(self, options: argparse.Namespace, say: Callable[[str], None]) -> None:
        self.cache: Path = options.cache
        self.logs: Path = options.keep_logs or self.cache / "logs"
        self.keep: bool = options.keep_logs is not None
        self.binary: Path = options.binary
        self.long: bool = options.long
        self.seed: int | None = options.seed
        self.barcodes: int | None = options.barcodes
        self._worker: str = f"worker-{options.worker}" if options.worker else ""
        self._say = say
        self._tools: Path | None = None
        self._kernel = ""
        self._machine: Machine | None = None
        self._unbootable = ""

    def note_exception(self, _loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Logs an unhandled exception in the peer's stack to a file instead of the terminal."""
        self.logs.mkdir(parents=True, exist_ok=True)
        with (self.logs / f"peer{self._worker and '-'}{self._worker}.log").open("a") as log:
            log.write(f"{context.get('message')}: {context.get('exception')!r}\n")

    async def play(self, name: str, scenario: Scenario) -> Outcome:
        """Runs a scenario on a kernel and returns its outcome."""
        if name != self._kernel:
            await self.shut_down()
            self._kernel, self._unbootable = name, ""
        tools = self._tools = self._tools or vm.build_tools(self.cache)
        for repeated in range(3):
            start = time.monotonic()
            bench, cause, emulator_fault = await self._try(name, tools, scenario)
            if not emulator_fault:
                break
            self._say(f"    {name:<5} {scenario.name}: {emulator_fault}, once more")
            self._unbootable = ""
        outcome = Outcome(name, scenario.name, scenario.about, cause, logs=str(self.logs / name / scenario.name))
        outcome.repeated = repeated + bool(emulator_fault)
        if bench:
            outcome.figures, outcome.note, outcome.release = bench.summary(), bench.note, bench.machine.vm.kernel.release
            outcome.lost, outcome.is_on_purpose = bench.losses.counts, bool(bench.must_fail and not cause)
            outcome.kernel_fault, outcome.given_up = bool(bench.kernel_fault), bench.given_up
        outcome.seconds = time.monotonic() - (bench.started if bench else start)
        return outcome

    async def _try(self, name: str, tools: Path, scenario: Scenario) -> tuple[Bench | None, str, str]:
        """Runs a scenario. Returns its bench, the cause if it failed, and the emulator's fault that explains the failure."""
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
        except Exception as error:  # an exception of the peer or of the scenario; continue with the other scenarios
            cause = f"{type(error).__name__}: {error}"
        finally:
            if bench is not None:
                cause = await self._leave(bench, cause)
        machines = bench.machines if bench else [machine for machine in (self._machine,) if machine]
        emulator_fault = ""
        if cause and any(machine.vm.emulator_fault() for machine in machines):
            emulator_fault = "QEMU stopped the kernel (int3)"
        elif cause and bench is not None:
            emulator_fault = bench.emulator_fault or await bench.machine.standstill()
        if cause or (bench is not None and bench.kernel_fault):
            await self.shut_down()
        return bench, cause, emulator_fault

    async def _leave(self, bench: Bench, cause: str) -> str:
        """Cleans up after a scenario and returns the cause of its failure, including one that appears only now."""
        try:
            if not bench.kernel_fault:  # otherwise the programs can no longer be stopped
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
                pass  # some of the files were saved
        return cause

    def _judge(self, bench: Bench, cause: str) -> str:
        """Returns the cause of the scenario's failure, considering what the lab has lost."""
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
            machine = self._machine = Machine(kernels.get(name, self.cache), tools, self.logs / name / self._worker)
            try:
                start = time.monotonic()
                await machine.boot(self.binary)
                self._say(f"    {name:<5} booted {machine.vm.kernel.release}, {machine.vm.kernel.package} ({time.monotonic() - start:.1f} s)")
            except (LabError, vm.VMError, kernels.KernelError) as error:
                self._unbootable = f"{error}, see {machine.vm.console}"
                raise LabError(self._unbootable) from error
        return self._machine

    async def shut_down(self) -> None:
        if self._machine is not None:
            machine, self._machine = self._machine, None
            await machine.stop()


async def run_over_lines(binary: Path, chosen: list[Scenario], total: Sum) -> None:
    """Runs these scenarios without a kernel, for one column of the table."""
    for scenario in chosen:
        variant = VARIANTS.get(scenario.name.removeprefix(PREFIX))
        if variant is None:
            continue
        start = time.monotonic()
        cause = note = ""
        try:
            async with asyncio.timeout(LONG_SECONDS):
                note = await overline.main_job(variant, binary)
        except LabError as error:
            cause = str(error)
        except TimeoutError:
            cause = f"not over within {LONG_SECONDS} s"
        except Exception as error:  # an exception of the controller
            cause = f"{type(error).__name__}: {error}"
        total.over_line(PREFIX + variant.name, variant.about, variant.name, cause, note, time.monotonic() - start)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="lab",
        description="Runs the product against real kernels in QEMU, with an emulated radio and an independent peer.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    kernel_names = [*kernels.ORIGINS, "all"]
    parser.add_argument("scenarios", nargs="*", metavar="scenario", help="names from --list (default: all but measurements)")
    parser.add_argument("--kernel", action="append", choices=kernel_names, help="6.1, 6.12 and 6.1.192 if not given; repeatable")
    parser.add_argument("--binary", type=Path, default=REPOSITORY / ".build/compact/blewedge", metavar="PATH")
    parser.add_argument("--list", action="store_true", help="print the scenarios and end")
    parser.add_argument("--long", action="store_true", help="stalls for 120 s, and the measurements with their gates")
    parser.add_argument("--table", action="store_true", help="the table of kernels and controllers: what it needs, and then it")
    parser.add_argument("--barcodes", type=int, metavar="N", help="so many in each cell of the table, at most 200 (the default)")
    parser.add_argument("--whole", action="store_true", help="on each kernel also what is not the kernel's doing")
    jobs = "so many machines at a time (default 2: a scenario mostly waits for real timers; 1: one after another)"
    parser.add_argument("--jobs", type=int, choices=range(1, 9), default=2, metavar="N", help=jobs)
    parser.add_argument("--worker", type=int, default=0, help=argparse.SUPPRESS)  # number of this worker process
    parser.add_argument("--patience", type=float, default=1, metavar="FACTOR", help="wait so many times as long for everything")
    parser.add_argument("--seed", type=int, help="random numbers of this seed, which a scenario has printed")
    parser.add_argument("--keep-logs", type=Path, metavar="DIR", help="keep all logs there, also of what passes")
    parser.add_argument("--busy", metavar="PERCENT", help="take so much of each core meanwhile")  # evaluated by the shell script
    cache = Path.home() / ".cache/blewedge-lab"  # default for the help only: the shell script always sets it
    parser.add_argument("--cache", type=Path, metavar="DIR", default=cache, help="folder for what is downloaded and built")
    options = parser.parse_args()
    options.named = bool(options.scenarios)
    if options.table and not options.scenarios and not options.long:
        options.scenarios = [name for name in ALL if name.startswith(PREFIX)]
        options.kernel = options.kernel or ["all"]
        options.long = True
    for name in options.scenarios:
        if name not in ALL:
            parser.error(f"no scenario {name}; there are: {', '.join(ALL)}")
    return options


class Orders(asyncio.Protocol):
    """Jobs from the lab's first process, which end this worker when they end."""

    def __init__(self, worker: asyncio.Task[Any]) -> None:
        self._worker = worker
        self._begun = b""
        self.jobs: asyncio.Queue[tuple[str, Scenario]] = asyncio.Queue()

    def data_received(self, data: bytes) -> None:
        *lines, self._begun = (self._begun + data).split(b"\n")
        for words in map(json.loads, lines):
            self.jobs.put_nowait((words["kernel"], ALL[words["scenario"]]))

    def connection_lost(self, _error: Exception | None) -> None:
        self._worker.cancel()


async def obey(options: argparse.Namespace, task: asyncio.Task[Any]) -> int:
    """Runs as a worker (workers.py)."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    sys.stdout = sys.stderr  # redirect all other output to standard error
    say = lambda **words: print(json.dumps(words), file=answers, flush=True)  # noqa: E731
    lab = Lab(options, lambda line: say(line=line))
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lab.note_exception)
    _, orders = await loop.connect_read_pipe(lambda: Orders(task), sys.stdin)
    try:
        while True:
            outcome = await lab.play(*await orders.jobs.get())
            say(outcome=asdict(outcome))
    except asyncio.CancelledError:
        return 0
    finally:
        await lab.shut_down()


async def main() -> int:
    options = parse()
    if options.list:
        for scenario in ALL.values():
            print(f"{scenario.name:<18} {scenario.about}")
        return 0
    if not options.binary.is_file():
        print(f"lab: {options.binary} is not built (Tests/Release/compact, or give --binary PATH)", file=sys.stderr)
        return 1
    waiting.patience = options.patience
    task = asyncio.current_task()
    assert task is not None
    # A worker ends at the end of its standard input. Ignore signals sent to all processes of the lab, which would interrupt that.
    stop = (lambda: None) if options.worker else task.cancel
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    if options.worker:
        return await obey(options, task)
    chosen = [ALL[name] for name in options.scenarios] or [scenario for scenario in ALL.values() if options.long or not scenario.only_long]
    # Without --kernel, scenarios named on the command line run on sound kernels only.
    default = [name for name in DEFAULT if not (options.named and name in kernels.FAULTY)]
    names = sorted(kernels.ORIGINS, key=kernels.number) if "all" in (options.kernel or []) else options.kernel or default
    faulty = () if options.named else kernels.FAULTY
    plan = Plan(names, chosen, not options.long and not options.scenarios and not options.whole, options.jobs, faulty)
    total = Sum()
    lab = Lab(options, lambda line: print(line, flush=True))
    asyncio.get_running_loop().set_exception_handler(lab.note_exception)
    try:
        if options.jobs > 1:
            vm.build_tools(options.cache)  # build only once, before the workers start
            await share_out(plan, options.jobs, [sys.executable, *sys.argv, "--worker"], total)
        else:
            while job := plan.take(0):
                total.add(await lab.play(job.kernel, job.scenario))
            await lab.shut_down()
        for fault in plan.faults((one.kernel, one.scenario) for one in total.outcomes):
            total.fail(fault)
        if options.table:
            await run_over_lines(options.binary, chosen, total)
    except (vm.VMError, kernels.KernelError) as error:
        print(f"lab: {error}", file=sys.stderr)
        total.failed += 1
    except asyncio.CancelledError:
        print("lab: interrupted", file=sys.stderr)
        total.failed += 1
    finally:
        await lab.shut_down()
    if options.table:
        print(f"\n{total.table(PREFIX, names, list(ALL))}\n")
    print("\n".join(total.lines(names)))
    return total.status()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
