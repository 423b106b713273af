# SPDX-License-Identifier: GPL-2.0-or-later
#
# Cache folders that are created only once, even if several workers of the lab need them at the same time.

from __future__ import annotations

import fcntl
import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path


def folder(cache: Path, name: str, state: bytes, make: Callable[[Path], None]) -> Path:
    """Returns the cache folder with this name. Creates it if it does not exist, and replaces it if its state is different."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = cache / f"{name}-{hashlib.sha256(state).hexdigest()[:16]}"
        if not made.is_dir():
            for old in cache.glob(f"{name}-*"):
                shutil.rmtree(old)
            scratch = cache / "new"
            shutil.rmtree(scratch, ignore_errors=True)
            scratch.mkdir()
            make(scratch)
            scratch.rename(made)
    return made
