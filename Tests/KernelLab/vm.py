# SPDX-License-Identifier: GPL-2.0-or-later
#
# One virtual machine: QEMU in software emulation, an unmodified kernel, an initrd created here, this machine's root file system
# read-only over 9p with a scratch layer on top, and two virtio-serial ports connected to unix sockets: "lab.ctl" for the agent
# (guest.py), and "lab.hci" for the peer's controller (relay.c, peer.py).

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kernels import Kernel

HERE = Path(__file__).resolve().parent
TOOLS = [
    "agent", "askers", "attline", "relay", "evread", "hcimon", "hidjudge", "keybits", "keys", "minimal", "queue", "rawscan",
    "screen", "terminal",
]  # fmt: skip

LIBRARIES = ["bdaddr"]


# A single processor that takes 4 ns of the guest's time for each instruction, so that the load of the host does not affect
# measurements.
COUNTED = ("-accel", "tcg,thread=single", "-icount", "shift=2,sleep=on", "-smp", "1")
TIMED = ("-accel", "tcg,thread=multi", "-smp", "2")
MEMORY = 1536  # MB


class VMError(Exception):
    """The virtual machine did not boot, or ended."""


def build_tools(cache: Path) -> Path:
    """Compiles the guest's programs."""
    compiler = next((c for c in ("cc", "gcc", "clang") if shutil.which(c)), None)
    if compiler is None:
        raise VMError("no C compiler (cc, gcc or clang) on PATH")
    return compile_tools(cache, [compiler], [HERE / f"{tool}.c" for tool in TOOLS + LIBRARIES])


def compile_tools(cache: Path, compiler: list[str], sources: list[Path]) -> Path:
    """Compiles programs into a folder named after the hash of their sources, because other work trees may share the cache."""
    state = hashlib.sha256(b"".join(path.name.encode() + path.read_bytes() for path in [*sources, *sorted(HERE.glob("*.h"))]))
    folder = cache / "tools" / state.hexdigest()[:16]
    if folder.exists():
        return folder
    shutil.rmtree(cache / "tools", ignore_errors=True)
    unfinished = folder.with_suffix(".new")
    unfinished.mkdir(parents=True)
    for source in sources:
        argv = [*compiler, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", str(unfinished / source.stem), str(source)]
        argv += ["-shared", "-fPIC"] * (source.stem in LIBRARIES)
        done = subprocess.run(argv, capture_output=True, text=True)
        if done.returncode != 0:
            raise VMError(f"{source.name} does not compile:\n{done.stderr}")
    return unfinished.rename(folder)


def build_initrd(kernel: Kernel, busybox: Path, init: Path, tools: Path, target: Path) -> None:
    """Packs busybox, the first process, the modules and the tools into an uncompressed cpio archive."""
    with tempfile.TemporaryDirectory(prefix="blewedge-lab.") as name:
        tree = Path(name)
        (tree / "bin").mkdir()
        shutil.copy(busybox, tree / "bin/busybox")
        shutil.copy(init, tree / "init")
        (tree / "init").chmod(0o755)
        shutil.copy(HERE / "modules.sh", tree)
        shutil.copytree(tools, tree / "lab")
        shutil.copytree(kernel.folder / "modules", tree / "modules")
        files = subprocess.run(["find", ".", "-print0"], cwd=tree, capture_output=True, check=True).stdout
        with target.open("wb") as archive:
            argv = ["cpio", "--null", "--create", "--format=newc", "--owner=0:0", "--quiet"]
            subprocess.run(argv, cwd=tree, input=files, stdout=archive, check=True)


@dataclass(frozen=True)
class Kind:
    """Differences from the default machine."""

    append: str = ""  # additional words for the kernel's command line
    is_counted: bool = False  # the clock counts instructions
    memory: int = MEMORY
    emulator: tuple[str, ...] = ()  # additional arguments for the emulator


class VM:
    """A QEMU process and its sockets, in a folder with a short name because the length of a socket's path is limited."""

    def __init__(self, kernel: Kernel, tools: Path, log: Path, kind: Kind = Kind()) -> None:
        self.kernel = kernel
        self.tools = tools
        self.console = log
        self._kind = kind
        self._folder = Path(tempfile.mkdtemp(prefix="blewedge-lab.", dir="/tmp"))
        self._process: asyncio.subprocess.Process | None = None

    @property
    def control_socket(self) -> Path:
        return self._folder / "ctl"

    @property
    def hci_socket(self) -> Path:
        return self._folder / "hci"

    async def start(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            "setpriv", "--pdeathsig", "KILL",  # ends with the lab, even if the lab crashes
            *self._command(self._folder / "initrd"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=(self.console.parent / "qemu.log").open("wb"),
            start_new_session=True,  # so that the lab handles Ctrl-C, not QEMU
        )  # fmt: skip
        while not (self.control_socket.exists() and self.hci_socket.exists()):
            if self._process.returncode is not None:
                raise VMError(f"qemu ended with {self._process.returncode}, see {self.console.parent}/qemu.log")
            await asyncio.sleep(0.02)

    def _command(self, initrd: Path) -> list[str]:
        """Creates the initrd and returns the emulator's command line."""
        busybox = shutil.which("busybox")
        if busybox is None:
            raise VMError("no busybox (package busybox-static)")
        build_initrd(self.kernel, Path(busybox), HERE / "init.sh", self.tools, initrd)
        # With no_timer_check, the kernel does not conclude that the timer is broken when the emulator gets no processor time.
        append = "console=ttyS0 quiet panic=-1 mitigations=off cryptomgr.notests=1 random.trust_cpu=on no_timer_check "
        append += self._kind.append
        # Without five-level page tables, which no target board has, and which would make each TLB miss slower in the emulator.
        return [
            "qemu-system-x86_64", *(COUNTED if self._kind.is_counted else TIMED),
            "-cpu", "max,la57=off", "-m", str(self._kind.memory),
            "-display", "none", "-no-reboot", "-nic", "none", "-serial", f"file:{self.console}", "-monitor", "none",
            "-kernel", str(self.kernel.image), "-initrd", str(initrd), "-append", append,
            "-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap",
            "-device", "virtio-serial-pci",
            "-chardev", f"socket,id=ctl,path={self.control_socket},server=on,wait=off",
            "-device", "virtserialport,chardev=ctl,name=lab.ctl",
            "-chardev", f"socket,id=hci,path={self.hci_socket},server=on,wait=off",
            "-device", "virtserialport,chardev=hci,name=lab.hci", *self._kind.emulator,
        ]  # fmt: skip

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    def console_text(self) -> str:
        return self.console.read_text(errors="replace") if self.console.exists() else ""

    def emulator_fault(self) -> bool:
        """Returns true if QEMU's own fault crashed the kernel.

        With several processors, this emulator can execute a breakpoint that the kernel uses to patch its own code, although the
        kernel has already removed it ("int3" in the kernel's message). This is rare, because most of the few patches are made
        during boot.
        """
        return "int3: 0000" in self.console_text()

    async def stop(self) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
        self._process = None

    def kill_now(self) -> None:
        """Kills the machine on exit after a signal, when the event loop no longer runs."""
        if self._process is not None and self._process.returncode is None:
            os.kill(self._process.pid, 9)
        shutil.rmtree(self._folder, ignore_errors=True)
