# SPDX-License-Identifier: GPL-2.0-or-later
#
# Assigns scenarios and kernels to the workers, and checks that each planned scenario ran exactly once.

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scenarios import Scenario

# Number of scenarios left on a kernel that justifies booting the kernel on another worker, which takes about 10 s.
WORTH_A_BOOT = 4


@dataclass(frozen=True)
class Job:
    kernel: str
    scenario: Scenario


class Plan:
    """The remaining scenarios: those of each kernel, and the common ones that may run on any kernel.

    A worker runs one kernel at a time. It runs the scenarios of its kernel, continues with a kernel that no worker has started,
    and then runs common scenarios. Scenarios that must run alone come last, because all other workers wait for them.
    """

    def __init__(
        self, kernels: list[str], chosen: list[Scenario], spare: bool, workers: int, faulty: Collection[str] = ()
    ) -> None:
        """With `spare`, which saves time, scenarios that do not depend on the kernel run on one kernel only. A single worker uses
        the last kernel.

        On a faulty kernel, only scenarios that name the kernel run.
        """
        self._sound = [name for name in kernels if name not in faulty]
        may_move = spare and workers > 1 and len(self._sound) > 1
        is_common = lambda one: may_move and one.once and not one.newest and not one.kernels  # noqa: E731

        def is_own(name: str, one: Scenario) -> bool:
            if name in faulty or (spare and one.kernels):
                return name in one.kernels
            return not is_common(one) and not (spare and one.once and name != self._sound[-1])

        self._own = {name: [one for one in chosen if is_own(name, one)] for name in kernels}
        common = [one for one in chosen if is_common(one)]
        self._anywhere = {one.name for one in common}
        self._planned = [(name, one.name) for name, own in self._own.items() for one in own] + [("", name) for name in self._anywhere]
        if workers > 1:
            for own in self._own.values():
                own.sort(key=lambda one: one.alone)
        # Start long scenarios early, so that no worker is idle at the end.
        self._common = deque(sorted(common, key=lambda one: (one.alone, -one.deadline)))
        self._kernel_of: dict[int, str] = {}

    def take(self, worker: int) -> Job | None:
        """Returns the worker's next job; None if there is nothing left for it."""
        kernel = self._kernel_of.get(worker)
        own = self._own[kernel] if kernel else []
        if own and not own[0].alone:
            return Job(str(kernel), own.pop(0))
        if fresh := self._fresh():
            if own:
                return Job(str(kernel), own.pop(0))
            self._kernel_of[worker] = fresh
            return self.take(worker)
        if self._common and not self._common[0].alone:
            return Job(self._with_kernel(worker), self._common.popleft())
        if own:
            return Job(str(kernel), own.pop(0))
        if self._common:
            return Job(self._with_kernel(worker), self._common.popleft())
        left = {name: sum(not one.alone for one in own) for name, own in self._own.items()}
        most = max(left, key=lambda name: left[name])
        if left[most] < WORTH_A_BOOT:
            return None
        self._kernel_of[worker] = most
        return self.take(worker)

    def gone(self, worker: int) -> None:
        """Removes a worker that accepts no more jobs, so that another worker can continue with its kernel."""
        self._kernel_of.pop(worker, None)

    def faults(self, ran: Iterable[tuple[str, str]]) -> list[str]:
        """Returns an error for each planned scenario that did not run exactly once. `ran` contains the kernel and name of each
        scenario that ran."""
        times = Counter((kernel if name not in self._anywhere else "", name) for kernel, name in ran)
        wrong = [(key, 1, times[key]) for key in self._planned if times[key] != 1]
        wrong += [(key, 0, number) for key, number in times.items() if key not in self._planned]
        return [f"{name} on {kernel or 'one kernel'}: planned {wanted} times, ran {number}" for (kernel, name), wanted, number in wrong]

    def _fresh(self) -> str:
        """Returns a kernel with remaining scenarios that no worker is running."""
        taken = set(self._kernel_of.values())
        return next((name for name, own in self._own.items() if own and name not in taken), "")

    def _with_kernel(self, worker: int) -> str:
        """Returns the kernel that the worker runs, if it is sound. Otherwise assigns the last sound kernel to the worker."""
        if self._kernel_of.get(worker) not in self._sound:
            self._kernel_of[worker] = self._sound[-1]
        return self._kernel_of[worker]
