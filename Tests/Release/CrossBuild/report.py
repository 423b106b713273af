# SPDX-License-Identifier: GPL-2.0-or-later
#
# Result lines and totals of the tests for another processor.

import re

SUM = re.compile(r"(\d+) passed, (\d+) failed")


class Report:
    """Checks performed here, and the totals of other programs."""

    def __init__(self):
        self.passed = self.failed = 0

    def check(self, good, what):
        print(f"{'ok   ' if good else 'FAIL '} {what}", flush=True)
        self.add(int(good), int(not good))

    def add(self, passed, failed):
        self.passed += passed
        self.failed += failed

    def take(self, text):
        """Adds the totals of another program from its last line with totals. Without such a line, the program has failed."""
        found = [match for match in map(SUM.fullmatch, text.splitlines()) if match]
        self.add(*map(int, found[-1].groups() if found else (0, 1)))

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.passed else 0
