# SPDX-License-Identifier: GPL-2.0-or-later
#
# Folders of the cache that are made once, whichever of the lab's workers wants one first.

from __future__ import annotations

import fcntl
import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path


def folder(cache: Path, name: str, state: bytes, make: Callable[[Path], None]) -> Path:
    """The folder of that name and state, made if there is none; one of another state goes."""
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
