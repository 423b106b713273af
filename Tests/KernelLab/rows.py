# SPDX-License-Identifier: GPL-2.0-or-later
#
# The requirements that a test shows stand at the head of what it says of itself, and of the line that tells how
# it ended: Tests/rows looks for them there.

from __future__ import annotations

import re


def rows(about: str) -> str:
    """`LK-21, X-1: ` of `LK-21, X-1: every …`; nothing where none are named, or a range of them is."""
    named = re.match(r"([A-Z]{1,2}-\d+[a-z]?(?:, [A-Z]{1,2}-\d+[a-z]?)*): ", about)
    return f"{named[1]}: " if named else ""
