# SPDX-License-Identifier: GPL-2.0-or-later
#
# The lab on several kernels at a time (`lab --jobs`): processes of run.py, each with a virtual machine of its own, that get one
# job after another and tell what came of it. Only this process prints, so that lines are whole.
#
# A job goes to a worker's standard input as a line of JSON, `{"kernel": …, "scenario": …}`. Lines of JSON come back: `{"line": …}` is
# to be printed, `{"outcome": …}` ends the job. At the end of its standard input a worker ends, and its machine with it.

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator

from plan import Job, Plan
from sums import Outcome, Sum

LONGEST_LINE = 1 << 24  # bytes; a cause of failure has what the programs printed
SECONDS = 60  # for a worker to end in


class Quiet:
    """While one runs alone, no other does; who waits to be alone comes before those who have not begun."""

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._running = self._waiting = 0
        self._is_alone = False

    @contextlib.asynccontextmanager
    async def during(self, alone: bool) -> AsyncIterator[None]:
        async with self._changed:
            self._waiting += alone
            try:
                await self._changed.wait_for(lambda: not self._is_alone and not (self._running if alone else self._waiting))
            finally:
                self._waiting -= alone
                self._changed.notify_all()
            self._running, self._is_alone = self._running + 1, alone
        try:
            yield
        finally:
            # Not under the lock, which could be waited for: nothing else runs until this is done.
            self._running, self._is_alone = self._running - 1, False
            async with self._changed:
                self._changed.notify_all()


class Worker:
    """One process of the lab."""

    def __init__(self, number: int, command: list[str]) -> None:
        self._name = f"worker {number}"
        self._command = command
        self._process: asyncio.subprocess.Process | None = None
        self._complaints: asyncio.Task[None] | None = None
        self.is_gone = False  # amid a job, which has failed by that

    async def run(self, job: Job) -> Outcome:
        """What came of the job: that the worker is gone, if it is."""
        clock = asyncio.get_running_loop().time
        start = clock()
        process = self._process or await self._start()
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(ConnectionError):  # it is gone, which reading finds
            process.stdin.write(json.dumps({"kernel": job.kernel, "scenario": job.scenario.name}).encode() + b"\n")
            await process.stdin.drain()
        while line := await process.stdout.readline():
            told = json.loads(line)
            if "outcome" in told:
                return Outcome(**told["outcome"])
            print(told["line"], flush=True)
        self.is_gone = True
        cause = f"{self._name} ended with {await process.wait()} meanwhile"
        return Outcome(job.kernel, job.scenario.name, job.scenario.about, cause, seconds=clock() - start)

    async def end(self) -> str:
        """Ends it, and its machine; what is wrong with how it ended."""
        process = self._process
        if process is None:
            return ""
        assert process.stdin is not None and process.stdout is not None and self._complaints is not None
        process.stdin.close()
        try:
            async with asyncio.timeout(SECONDS):
                rest = await process.stdout.read()
                await process.wait()
        except TimeoutError:
            process.kill()  # a machine of its own dies with it (vm.py)
            rest = b""
            await process.wait()
        await self._complaints
        if process.returncode and not self.is_gone:
            return f"{self._name} ended with {process.returncode}"
        return f"{self._name} told more than it was asked: {rest[:200]!r}" if b'"outcome"' in rest else ""

    async def _start(self) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        process = self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            limit=LONGEST_LINE,
            start_new_session=True,  # a Ctrl-C on the terminal is ours to hand on
        )
        self._complaints = asyncio.create_task(self._pass_on(process.stderr))
        return process

    async def _pass_on(self, stderr: asyncio.StreamReader | None) -> None:
        """What it says on standard error, by whole lines."""
        assert stderr is not None
        while line := await stderr.readline():
            print(f"lab: {self._name}: {line.decode(errors='replace').rstrip()}", file=sys.stderr, flush=True)


async def share_out(plan: Plan, count: int, command: list[str], total: Sum) -> None:
    """Has so many workers run the plan; each is this command with its number."""
    quiet = Quiet()

    async def work(number: int) -> None:
        worker = Worker(number, [*command, str(number)])
        try:
            while not worker.is_gone and (job := plan.take(number)):
                async with quiet.during(job.scenario.alone):
                    outcome = await worker.run(job)
                total.add(outcome)
                if (outcome.kernel, outcome.scenario) != (job.kernel, job.scenario.name):
                    total.fail(f"worker {number} told of {outcome.scenario} on {outcome.kernel} at {job.scenario.name} on {job.kernel}")
                    break
        finally:
            plan.gone(number)
            if fault := await worker.end():
                total.fail(fault)

    async with asyncio.TaskGroup() as group:
        for number in range(1, count + 1):
            group.create_task(work(number))
