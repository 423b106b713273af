# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs the lab on several kernels at a time (`lab --jobs`). Each worker is a process of run.py with its own virtual machine, which
# runs one job after another and reports the outcomes. Only this process prints, so that lines are not mixed.
#
# A job is a line of JSON on a worker's standard input: `{"kernel": …, "scenario": …}`. The worker answers with lines of JSON:
# `{"line": …}` is a line to print, and `{"outcome": …}` ends the job. At the end of its standard input, a worker ends together
# with its machine.

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator

from plan import Job, Plan
from sums import Outcome, Sum

LONGEST_LINE = 1 << 24  # bytes; the cause of a failure may contain the output of programs
SECONDS = 60  # time limit for a worker to end


class Quiet:
    """Lock for scenarios that must run alone. Those that wait to run alone come before the other scenarios that have not
    started."""

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
            # Update the counts without the lock, which might block. Nothing else runs until this is done.
            self._running, self._is_alone = self._running - 1, False
            async with self._changed:
                self._changed.notify_all()


class Worker:
    """A worker process of the lab."""

    def __init__(self, number: int, command: list[str]) -> None:
        self._name = f"worker {number}"
        self._command = command
        self._process: asyncio.subprocess.Process | None = None
        self._complaints: asyncio.Task[None] | None = None
        self.is_gone = False  # it ended during a job, which failed as a result

    async def run(self, job: Job) -> Outcome:
        """Runs a job and returns its outcome, which is a failure if the worker ends."""
        clock = asyncio.get_running_loop().time
        start = clock()
        process = self._process or await self._start()
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(ConnectionError):  # the worker has ended, which the read below detects
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
        """Ends the worker and its machine. Returns an error if the worker did not end correctly."""
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
            process.kill()  # its virtual machine ends with it (vm.py)
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
            start_new_session=True,  # so that this process handles Ctrl-C, not the worker
        )
        self._complaints = asyncio.create_task(self._pass_on(process.stderr))
        return process

    async def _pass_on(self, stderr: asyncio.StreamReader | None) -> None:
        """Forwards the worker's standard error, one complete line at a time."""
        assert stderr is not None
        while line := await stderr.readline():
            print(f"lab: {self._name}: {line.decode(errors='replace').rstrip()}", file=sys.stderr, flush=True)


async def share_out(plan: Plan, count: int, command: list[str], total: Sum) -> None:
    """Runs the plan with `count` workers. Each worker is started with this command and its number."""
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
