# SPDX-License-Identifier: GPL-2.0-or-later
"""Clean roots of Debian, made once by debootstrap and kept as an archive, in which commands run that change nothing outside."""

import contextlib
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

SUITES = {"12": "bookworm", "13": "trixie"}
# What each root has beside the smallest Debian: readers of the manual page and of completions; in one of them systemd.
PACKAGES = {"12": ("man-db", "bash-completion"), "13": ("man-db", "bash-completion", "systemd", "udev", "zsh", "fish")}
# What is recommended, and lies in the root's cache so that nothing need be fetched later.
FETCHED = ("libxkbcommon0", "xkb-data")
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "blewedge-packages"

# Mount and process namespaces of its own: what is mounted goes with them, and so does what still runs.
SPACE = ("setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child")
# What is done in them. No device but the harmless ones, and no /sys: what a package does to devices and modules is not done to
# this machine.
INSIDE = r"""
set -euo pipefail
root=$1
shift
mount -t tmpfs -o mode=755 dev "$root/dev"
for name in null zero full random urandom tty; do
  touch "$root/dev/$name" && mount --bind "/dev/$name" "$root/dev/$name"
done
mkdir "$root/dev/shm" "$root/dev/pts"
ln -s /proc/self/fd "$root/dev/fd"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts" && ln -s pts/ptmx "$root/dev/ptmx"
mount -t proc proc "$root/proc"
exec chroot "$root" "$@"
"""


class Missing(Exception):
    """What a root needs and this machine does not have."""


def _archive(label):
    """The Debian archive of a label that this machine's apt uses; None where it uses none."""
    command = ["apt-get", "indextargets", "--format", "$(LABEL)|$(REPO_URI)", "Created-By: Packages"]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return next((line.partition("|")[2] for line in found.splitlines() if line.startswith(f"{label}|")), None)


def run(root, command, **options):
    """Runs a command in a root."""
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    environment = {"PATH": path, "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive", "TERM": "dumb"}
    environment |= {name: os.environ[name] for name in ("http_proxy", "https_proxy", "no_proxy") if name in os.environ}
    return subprocess.run(
        [*SPACE, "bash", "-c", INSIDE, "inside", root, *command], env=environment, stdin=subprocess.DEVNULL, **options
    )


def _hand_over(root):
    """What a root needs to reach the archive as this machine does."""
    shutil.copytree("/usr/local/share/ca-certificates", root / "usr/local/share/ca-certificates", dirs_exist_ok=True)
    for name in ("resolv.conf", "hosts"):
        shutil.copy(f"/etc/{name}", root / "etc" / name)
    settings = subprocess.run(["apt-config", "dump"], check=True, capture_output=True, text=True).stdout
    kept = [line for line in settings.splitlines() if re.match("Acquire::(https?::|Check-)", line)]
    (root / "etc/apt/apt.conf.d/90machine").write_text("\n".join(kept) + "\n")


def _make(release, root, log):
    """Makes a root of a release, with all that the packages' life wants from the archive."""
    if _archive("Debian") is None:
        subprocess.run(["apt-get", "update"], check=True, stdout=subprocess.DEVNULL)
    mirror, security, suite = _archive("Debian"), _archive("Debian-Security"), SUITES[release]
    if mirror is None:
        raise Missing("this machine's apt uses no Debian archive")
    certificates = ["--include=ca-certificates"] if mirror.startswith("https:") else []
    with log.open("w") as said:
        command = [*SPACE, "debootstrap", "--variant=minbase", *certificates, suite, str(root), mirror]
        if subprocess.run(command, stdout=said, stderr=said, stdin=subprocess.DEVNULL).returncode:
            raise Missing(f"debootstrap makes no root of Debian {release}: {log}")
        sources = [f"deb {mirror} {suite} main", f"deb {mirror} {suite}-updates main"]
        sources += [f"deb {security} {suite}-security main"] if security else []
        (root / "etc/apt/sources.list").write_text("\n".join(sources) + "\n")
        _hand_over(root)
        wanted = "apt-get install --yes --no-install-recommends"
        lines = ["apt-get update", f"{wanted} {' '.join(PACKAGES[release])}", "apt-get clean"]
        lines += [f"{wanted} --download-only {' '.join(FETCHED)}"]
        if run(root, ["sh", "-ec", "\n".join(lines)], stdout=said, stderr=said).returncode:
            raise Missing(f"no root of Debian {release} with {', '.join(PACKAGES[release])}: {log}")


@contextlib.contextmanager
def fresh(release, logs):
    """A root of a release that goes as it came; what it is made from is kept in ~/.cache."""
    CACHE.mkdir(parents=True, exist_ok=True)
    recipe = hashlib.sha256(repr((release, PACKAGES[release], FETCHED)).encode() + pathlib.Path(__file__).read_bytes()).hexdigest()
    kept = CACHE / f"debian-{release}-{recipe[:12]}.tar"
    with tempfile.TemporaryDirectory(prefix=f"debian-{release}.", dir=CACHE) as folder:
        root = pathlib.Path(folder) / "root"
        root.mkdir()
        if kept.exists():
            subprocess.run(["tar", "--extract", "--file", kept, "--directory", root, "--numeric-owner"], check=True)
        else:
            _make(release, root, logs / f"debootstrap-{release}.log")
            begun = pathlib.Path(folder) / "archive"
            subprocess.run(
                ["tar", "--create", "--file", begun, "--directory", root, "--numeric-owner", "--one-file-system", "."], check=True
            )
            for older in CACHE.glob(f"debian-{release}-*.tar"):
                older.unlink()
            begun.rename(kept)
        yield root
