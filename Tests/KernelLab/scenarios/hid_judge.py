# SPDX-License-Identifier: GPL-2.0-or-later
#
# The kernel as judge of our parser of HID report descriptors and of our decoder of input reports: real descriptors and mutants
# through /dev/uhid.

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
from pathlib import Path

from bench import REPOSITORY, Bench
from judge import ACCEPTED, Comparison
from scenarios import scenario
from waiting import LabError, expect

FOLDER = REPOSITORY / ".build/hid-judge"
CONTROLS = ("signed-maximum", "early-page", "no-stack", "roll-over")
CHUNKS, MUTANTS, KEYBOARDS, REPORTS = 20, 500, 50, 200  # the short tier has one chunk
numbers = itertools.count()


async def ours(bench: Bench, *arguments: str) -> str:
    """Returns cases and our verdicts."""
    pipe = asyncio.subprocess.PIPE
    program = await asyncio.create_subprocess_exec(str(bench.machine.beside("hidcases")), *arguments, stdout=pipe, stderr=pipe)
    output, errors = await program.communicate()
    expect(program.returncode == 0, f"hidcases {' '.join(arguments)}: {errors.decode()[-300:]}")
    return output.decode()


async def kernels(bench: Bench, text: str) -> str:
    """Returns the kernel's verdicts on the same cases."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    # A new name each time, because the guest caches the host's files.
    path = FOLDER / f"{bench.machine.vm.kernel.name}-{next(numbers)}.cases"
    path.write_text("\n".join(line for line in text.splitlines() if line.startswith(("map", "report"))) + "\n")
    try:
        guest = f"/run/host{path.resolve()}"
        return (await bench.guest.run("sh", "-c", 'exec hidjudge <"$1"', "sh", guest, seconds=900)).out
    finally:
        path.unlink()


def conclude(bench: Bench, comparison: Comparison) -> None:
    """Fails if there are unknown differences; all of them are written to a file."""
    bench.note = comparison.summary()
    if comparison.faults:
        bench.logs.mkdir(parents=True, exist_ok=True)
        file = bench.logs / "differences.txt"
        file.write_text("\n".join(comparison.faults) + "\n")
        raise LabError(f"{len(comparison.faults)} differences, see {file}: {comparison.faults[0][:300]}")
    expect(comparison.counts["with keys"] > 0 and comparison.counts["refused"] > 0, f"nothing was compared: {bench.note}")


@scenario("hid-judge", peer="no adapter", deadline=400, once=True)
async def hid_judge(bench: Bench) -> None:
    """uhid accepts and refuses the same 366 real HID descriptors and 500 mutants as we do, and reports hold the same keys."""
    comparison = Comparison()
    # The same seed in each run: other mutants are for hid-judge-long, whose seeds begin at 1.
    for arguments in (
        ("all",),
        ("mutants", "0", f"{MUTANTS}"),
        ("keyboards", f"{REPORTS}"),
        ("keys", "0", f"{KEYBOARDS}", f"{REPORTS}"),
    ):
        text = await ours(bench, *arguments)
        comparison.add(text, await kernels(bench, text))
    conclude(bench, comparison)


@scenario("hid-judge-controls", peer="no adapter", deadline=200, once=True)
async def hid_judge_controls(bench: Bench) -> None:
    """Four rules of our HID parser and decoder, broken one at a time, are noticed by the comparison with uhid."""
    groups = (("mutants", "1", "100"), ("keyboards", "20"), ("keys", "1", "60", "20"))
    verdicts = [await kernels(bench, await ours(bench, *group)) for group in groups]
    noticed = []
    for control in (None, *CONTROLS):
        comparison = Comparison()
        for group, verdict in zip(groups, verdicts, strict=True):
            comparison.add(await ours(bench, *group, *(("--control", control) if control else ())), verdict)
        found = len(comparison.faults)
        expect((found > 0) == (control is not None), f"{found} differences with {control or 'no rule'} broken")
        if control:
            noticed.append(f"{control} {found}")
    bench.note = f"noticed: {', '.join(noticed)}"


class Progress:
    """Chunks that an earlier run has judged, with the same programs and kernel."""

    def __init__(self, bench: Bench) -> None:
        kernel = bench.machine.vm.kernel
        sources = (bench.machine.beside("hidcases"), bench.machine.vm.tools / "hidjudge", ACCEPTED)
        digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources) + kernel.package.encode()).hexdigest()
        self._path: Path = FOLDER / f"{kernel.name}-{digest[:16]}.json"
        self.comparison = Comparison()
        self.done = 0
        if self._path.exists():
            saved = json.loads(self._path.read_text())
            self.done = saved["done"]
            self.comparison.counts.update(saved["counts"])
            self.comparison.by_name.update(saved["names"])

    def save(self) -> None:
        self.done += 1
        saved = {"done": self.done, "counts": self.comparison.counts, "names": self.comparison.by_name}
        new = self._path.with_suffix(".new")
        new.write_text(json.dumps(saved) + "\n")
        new.rename(self._path)


@scenario("hid-judge-long", peer="no adapter", deadline=3600, only_long=True, kernels=("6.1", "6.12"))
async def hid_judge_long(bench: Bench) -> None:
    """As hid-judge, with 10,000 mutants, and 1,000 of keyboards with 200 reports each; continues where an earlier run stopped."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    progress = Progress(bench)
    for seed in range(progress.done, CHUNKS + 1):
        groups = [("mutants", f"{seed}", f"{MUTANTS}"), ("keys", f"{seed}", f"{KEYBOARDS}", f"{REPORTS}")]
        for group in groups if seed else [("all",), ("keyboards", f"{REPORTS}")]:
            text = await ours(bench, *group)
            progress.comparison.add(text, await kernels(bench, text))
        if progress.comparison.faults:
            break
        progress.save()
    conclude(bench, progress.comparison)
