# SPDX-License-Identifier: GPL-2.0-or-later
#
# One emulated ARM machine: Debian's kernel for arm64, a disk with Debian for arm64, and two lines connected to unix sockets:
# "lab.ctl" for the agent, and a serial line (16550, /dev/ttyS0) for a Bluetooth module.

from __future__ import annotations

import shutil
from pathlib import Path

import kernels
from archive import Archive, run
from guest import Guest
from vm import HERE as LAB
from vm import VM, build_initrd, compile_tools

HERE = Path(__file__).resolve().parent
SUITES = {"12": "6.1", "13": "6.12"}  # name of each Debian release's kernel in kernels.py
MODULES = [
    "virtio_pci", "virtio_blk", "crc32c_generic", "ext4", "9pnet_virtio", "9p", "virtio_console", "8250_pci",
    # Pairing in the kernel needs a random generator and ECDH.
    "aes_generic", "ecb", "cmac", "hmac", "sha256_generic", "sha512_generic", "ctr", "jitterentropy_rng", "drbg",
    "ecdh_generic",
    "bluetooth", "hci_uart", "uinput", "evdev",
]  # fmt: skip
REQUIRED = ["virtio_pci", "virtio_blk", "ext4", "9p", "virtio_console", "bluetooth", "hci_uart", "uinput", "evdev"]
TOOLS = [LAB / "agent.c", LAB / "evread.c", LAB / "hcimon.c", HERE / "attach.c"]
LINE = "/dev/ttyS0"
BOOT_SECONDS = 180


class Parts:
    """Parts shared by all machines of a release, in a folder of the cache."""

    def __init__(self, release: str, cache: Path, compiler: list[str]) -> None:
        """`compiler` is a command that creates static programs for aarch64."""
        self.release = release
        self.kernel = kernels.get(SUITES[release], cache, kernels.Target("arm64", REQUIRED, MODULES))
        self.busybox = _busybox(release, cache)
        self.tools = compile_tools(cache, compiler, TOOLS)


def _busybox(release: str, cache: Path) -> Path:
    """Returns the shell for the initrd."""
    folder = cache / f"busybox-{release}"
    if not folder.exists():
        scratch = folder.with_suffix(".new")
        shutil.rmtree(scratch, ignore_errors=True)
        archive = Archive(kernels.ORIGINS[SUITES[release]].suite, scratch / "apt", ["arm64"])
        archive.get("download", "busybox-static", cwd=scratch)
        for package in scratch.glob("*.deb"):
            run(["dpkg-deb", "-x", str(package), str(scratch)])
        shutil.rmtree(scratch / "apt")
        scratch.rename(folder)
    return next(path for path in folder.rglob("busybox") if path.is_file() and path.parent.name == "bin")


class ARMMachine(VM):
    """A machine. Changes to its disk are kept only when the disk is created (disk.py)."""

    def __init__(self, parts: Parts, disk: Path, shared: Path, log: Path, is_kept: bool = False) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        super().__init__(parts.kernel, parts.tools, log)
        self.guest = Guest()
        self._parts = parts
        self._disk = disk
        self._shared = shared
        self._is_kept = is_kept

    async def boot(self) -> None:
        await self.start()
        await self.guest.connect(self.control_socket, BOOT_SECONDS)

    def _command(self, initrd: Path) -> list[str]:
        build_initrd(self.kernel, self._parts.busybox, HERE / "init.sh", self.tools, initrd)
        snapshot = "off" if self._is_kept else "on"
        return [
            "qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a72", "-accel", "tcg,thread=multi", "-smp", "2", "-m", "1024",
            "-display", "none", "-no-reboot", "-nic", "none", "-serial", f"file:{self.console}", "-monitor", "none",
            "-kernel", str(self.kernel.image), "-initrd", str(initrd), "-append", "console=ttyAMA0 quiet panic=-1",
            "-drive", f"file={self._disk},format=raw,if=none,id=disk,snapshot={snapshot}",
            "-device", "virtio-blk-pci,drive=disk",
            "-fsdev", f"local,id=host,path={self._shared},security_model=none,readonly=on",
            "-device", "virtio-9p-pci,fsdev=host,mount_tag=host",
            "-device", "virtio-serial-pci",
            "-chardev", f"socket,id=ctl,path={self.control_socket},server=on,wait=off",
            "-device", "virtserialport,chardev=ctl,name=lab.ctl",
            "-chardev", f"socket,id=hci,path={self.hci_socket},server=on,wait=off",
            "-device", "pci-serial,chardev=hci",
        ]  # fmt: skip

    async def halt(self) -> None:
        """Flushes all changes to the disk and powers off."""
        await self.guest.run("sh", "-c", "sync && mount -o remount,ro /", seconds=60)
        await self.stop()

    async def stop(self) -> None:
        await self.guest.close()
        await super().stop()
