# SPDX-License-Identifier: GPL-2.0-or-later
#
# The description of a test, and the line that reports its result, begin with the ids of the requirements that the test covers.
# Tests/rows searches for them there.

from __future__ import annotations

import re


def rows(about: str) -> str:
    """Returns the ids at the beginning: `LK-21, X-1: ` for `LK-21, X-1: every …`; empty if there are none or a range of ids."""
    named = re.match(r"([A-Z]{1,2}-\d+[a-z]?(?:, [A-Z]{1,2}-\d+[a-z]?)*): ", about)
    return f"{named[1]}: " if named else ""
