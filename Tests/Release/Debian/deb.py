# SPDX-License-Identifier: GPL-2.0-or-later
"""What a Debian package of blewedge is made of, and its version."""

import functools
import gzip
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[3]
HERE = ROOT / "Tests/Release/Debian"
# Folders below /etc where `setup` writes files that a package has elsewhere.
PLACES = re.compile(r"^/etc/(?=(sysusers\.d|tmpfiles\.d|modules-load\.d|udev/rules\.d|systemd/system)/)")
# Debian's architecture for each machine name in ELF headers.
ARCHITECTURES = {"Advanced Micro Devices X86-64": "amd64", "AArch64": "arm64", "RISC-V": "riscv64"}
# Package and symbol version prefix of each library. The minimum package version is the symbol version, or is looked up in the
# table below.
LIBRARIES = {
    "libc.so.6": ("libc6", "GLIBC"), "libm.so.6": ("libc6", "GLIBC"), "libgcc_s.so.1": ("libgcc-s1", "GCC"),
    "libstdc++.so.6": ("libstdc++6", "GLIBCXX"),
}  # fmt: skip
# Compiler version that introduced each symbol version of libstdc++.
GLIBCXX = {
    "3.4.21": "5.1", "3.4.22": "6.1", "3.4.23": "7.1", "3.4.24": "7.2", "3.4.25": "8.1", "3.4.26": "9.1", "3.4.27": "9.2",
    "3.4.28": "9.3", "3.4.29": "11.1", "3.4.30": "12.1", "3.4.31": "13.1", "3.4.32": "13.2", "3.4.33": "14.1",
}  # fmt: skip


class Refused(Exception):
    """Reason why no package is created."""


def output(*command, cwd=ROOT):
    return subprocess.run([str(word) for word in command], cwd=cwd, check=True, capture_output=True, text=True).stdout.strip()


def is_less(one, other):
    return subprocess.run(["dpkg", "--compare-versions", one, "lt", other]).returncode == 0


def source_version():
    """Returns the version number in the source."""
    text = (ROOT / "Sources/blewedge/Commands/BlewedgeCommand.swift").read_text()
    return re.search(r'^    static let programVersion = "([0-9.]+)"$', text, re.MULTILINE).group(1)


def version(source, described, count, commit):
    """Returns the package's version: the tag's version, a later one after a tag, or an earlier one before the tag of the source's
    version.

    `described` is the output of `git describe --tags --long`, or None if there is no tag. `count` is the number of commits up to
    `commit`. The part before `+` or `~` is always the program's own version. A tag with another version than the source is an
    error.
    """
    if described is None:
        return f"{source}~{count}.g{commit}"
    tag, since, _ = described.rsplit("-", 2)
    tagged = tag.removeprefix("v")
    if tagged == source:
        return source if since == "0" else f"{source}+{since}.g{commit}"
    if since == "0" or is_less(source, tagged):
        raise Refused(f"the tag {tag} is not the version {source} of BlewedgeCommand.swift")
    return f"{source}~{since}.g{commit}"


def version_here(is_published=False):
    """Returns the version of the current commit, with `.modified` if tracked files differ from the commit."""
    if is_published and output("git", "rev-parse", "--is-shallow-repository") == "true":
        raise Refused("a shallow clone does not have the commits and tags that the version comes from")
    described = subprocess.run(
        ["git", "describe", "--tags", "--long", "--match", "v[0-9]*"], cwd=ROOT, capture_output=True, text=True
    )
    found = described.stdout.strip() if described.returncode == 0 else None
    count, commit = output("git", "rev-list", "--count", "HEAD"), output("git", "rev-parse", "--short=7", "HEAD")[:7]
    made = version(source_version(), found, count, commit)
    if not output("git", "status", "--short", "--untracked-files=no"):
        return made
    return made + (".modified" if re.search("[+~]", made) else "+modified")


def program_version(package_version):
    """Returns the output of `--version` for a package version."""
    return re.split("[+~]", package_version)[0]


def architecture(program):
    machine = re.search(r"Machine:\s+(.*)", output("readelf", "--file-header", "--wide", program)).group(1)
    if machine not in ARCHITECTURES:
        raise Refused(f"{program} is for {machine}, of which no package is made")
    return ARCHITECTURES[machine]


def depends(program):
    """Returns the package's dependencies, from the symbol versions that the program requires of each library. A static program
    has none."""
    needed = re.findall(r"Shared library: \[(.*?)\]", output("readelf", "--dynamic", "--wide", program))
    newest = {}
    for kind, number in re.findall(r"\b(GLIBC|GCC|GLIBCXX)_([0-9.]+)", output("readelf", "--version-info", "--wide", program)):
        newest[kind] = max(newest.get(kind, "0"), number, key=lambda each: [int(part) for part in each.split(".")])
    found = {}
    for library in needed:
        if library.startswith("ld-linux"):
            continue
        if library not in LIBRARIES:
            raise Refused(f"{program} needs {library}, of which the package does not know where it is from")
        package, kind = LIBRARIES[library]
        number = newest.get(kind, "0")
        if kind == "GLIBCXX":
            if number not in GLIBCXX:
                raise Refused(f"{program} needs GLIBCXX_{number}: which compiler brought it has to be in the table of deb.py")
            number = GLIBCXX[number]
        found[package] = f"{package} (>= {number})"
    return [found[each] for each in sorted(found)]


def service_files():
    """Returns the files of udev/ with their paths in a package, as declared in ServiceFile.swift."""
    text = (ROOT / "udev/ServiceFile.swift").read_text()
    # Names that the build gives to embedded files.
    names = {re.sub(r"\W", "_", re.sub(r"^\d", "_", path.name)): path for path in (ROOT / "udev").iterdir()}
    found = re.findall(r'ServiceFile\(\s*"(/etc/[^"]+)",\s*PackageResources\.(\w+)', text)
    for place, resource in found:
        if PLACES.match(place):
            words = names[resource].read_text()
            # Use the package's program, not one that an administrator has installed in another folder.
            yield PLACES.sub("/usr/lib/", place), re.sub(r"^(Exec\w+=-?)blewedge ", r"\1/usr/bin/blewedge ", words, flags=re.MULTILINE)


def maintainer():
    """Returns the maintainer from the variables of Debian's tools, or the author of the last commit."""
    name, mail = output("git", "log", "-1", "--format=%an%n%ae").splitlines()
    return f"{os.environ.get('DEBFULLNAME', name)} <{os.environ.get('DEBEMAIL', mail)}>"


def changelog(made):
    """Returns the changelog, with an entry for each tag and one for the changes since the last tag."""
    tags = output("git", "tag", "--merged", "HEAD", "--list", "v[0-9]*", "--sort=v:refname").splitlines()
    ends = [(tag.removeprefix("v"), tag) for tag in tags]
    if not tags or output("git", "rev-list", "-1", tags[-1]) != output("git", "rev-parse", "HEAD") or made != ends[-1][0]:
        ends.append((made, "HEAD"))
    entries, since = [], None
    for number, end in ends:
        subjects = output("git", "log", "--no-merges", "--format=%s", f"{since}..{end}" if since else end).splitlines()
        lines = [textwrap.fill(each, 78, initial_indent="  * ", subsequent_indent="    ") for each in subjects]
        date = output("git", "log", "-1", "--format=%aD", end)
        body = "\n".join(lines) or "  * Packaged anew."
        entries.append(f"blewedge ({number}) unstable; urgency=medium\n\n{body}\n\n -- {maintainer()}  {date}\n")
        since = end
    return "\n".join(reversed(entries))


def control(made, program, processor, size):
    needs = depends(program)
    lines = [
        "Package: blewedge", f"Version: {made}", "Section: utils", "Priority: optional", f"Architecture: {processor}",
        f"Maintainer: {maintainer()}", f"Installed-Size: {size}", f"Depends: {', '.join([*needs, 'passwd'])}",
    ]  # fmt: skip
    # A fully static program loads no library.
    if needs:
        lines += ["Recommends: libxkbcommon0, xkb-data", "Suggests: libcurl4"]
    lines += [
        "Description: keyboard wedge for Bluetooth LE serial devices",
        " Types the data of barcode readers, scales and gauges with a Bluetooth LE serial",
        " module. The application with the keyboard focus receives it, for example a",
        " console or a kiosk's browser.",
        " .",
        " It uses the kernel's sockets and uinput directly, without bluetoothd, D-Bus or",
        " a desktop. The service starts when an adapter appears. `blewedge scan --once`",
        " lists the devices, and `blewedge use DEVICE` selects one.",
    ]
    return "\n".join(lines) + "\n"


@functools.cache
def manual(texts):
    """Returns the HTML of the manual, by path in the site. It is built once per process, with the pages that the program `texts`
    generates."""
    with tempfile.TemporaryDirectory(prefix="blewedge-manual.") as folder:
        command = [ROOT / ".manual/build", "--program", texts, "--to", folder]
        environment = os.environ | {"SOURCE_DATE_EPOCH": str(epoch())}
        done = subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True)
        if done.returncode:
            raise Refused(f"the manual cannot be built:\n{done.stdout}{done.stderr}")
        site = pathlib.Path(folder) / "site"
        return {str(path.relative_to(site)): path.read_bytes() for path in sorted(site.rglob("*")) if path.is_file()}


def examples(texts):
    """Returns the example configurations: those that the manual shows, and one with all settings as comments."""
    found = {path.name: path.read_bytes() for path in sorted((ROOT / ".manual/examples").glob("*.toml"))}
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent", "BLEWEDGE_LANG": "en"}
    command = [str(texts), "config", "show", "--commented"]
    return found | {"blewedge.toml": subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout}


def contents(program, texts):
    """Returns the files of a package by path, as (bytes, mode). `texts` is a program that runs here and prints its manual pages
    and completions."""
    document = "/usr/share/doc/blewedge"
    # The completions are sourced by a shell, not executed.
    bash = output(texts, "completions", "bash") + "\n"
    copyright_lines = (HERE / "copyright").read_text().splitlines(keepends=True)
    notice = (ROOT / ".github/xkeyboard-config.txt").read_text().splitlines()
    copyright_lines += ["\n", "License: xkeyboard-config\n", *(f" {line.rstrip() or '.'}\n" for line in notice)]
    found = {
        "/usr/bin/blewedge": (pathlib.Path(program).read_bytes(), 0o755),
        "/usr/share/man/man1/blewedge.1.gz": (packed(output(texts, "manual") + "\n"), 0o644),
        "/usr/share/man/man5/blewedge.toml.5.gz": (packed(output(texts, "manual", "blewedge.toml") + "\n"), 0o644),
        "/usr/share/doc-base/blewedge.manual": ((HERE / "doc-base").read_bytes(), 0o644),
        "/usr/share/bash-completion/completions/blewedge": (bash.removeprefix("#!/bin/bash\n").encode(), 0o644),
        "/usr/share/zsh/vendor-completions/_blewedge": (f"{output(texts, 'completions', 'zsh')}\n".encode(), 0o644),
        "/usr/share/fish/vendor_completions.d/blewedge.fish": (f"{output(texts, 'completions', 'fish')}\n".encode(), 0o644),
        f"{document}/copyright": ("".join(line for line in copyright_lines if not line.startswith("#")).encode(), 0o644),
    }
    for name, data in manual(texts).items():
        found[f"{document}/html/{name}"] = (data, 0o644)
    for name, data in examples(texts).items():
        found[f"{document}/examples/{name}"] = (data, 0o644)
    words = "# The subject of an old commit.\n"
    words += "blewedge: spelling-error-in-changelog Debians Debian's [usr/share/doc/blewedge/changelog.gz]\n"
    if not depends(program):
        # This is intended, but lintian cannot know it.
        words += "# The form that runs with any C library, or none.\nblewedge: statically-linked-binary [usr/bin/blewedge]\n"
    found["/usr/share/lintian/overrides/blewedge"] = (words.encode(), 0o644)
    return found | {place: (text.encode(), 0o644) for place, text in service_files()}


def packed(text):
    return gzip.compress(text.encode(), 9, mtime=0)


def epoch():
    """Returns the modification time of every file in the package."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or output("git", "log", "-1", "--format=%ct"))


def build(work, target, made, program, texts, level=6):
    """Writes the package into a folder and returns its path. `work` is an empty folder. The same version always gives the same
    bytes."""
    processor = architecture(program)
    tree = work / "tree"
    files = contents(program, texts)
    # A native package has its changelog under this name.
    files["/usr/share/doc/blewedge/changelog.gz"] = (packed(changelog(made)), 0o644)
    for path, (data, mode) in files.items():
        place = tree / path.removeprefix("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        place.chmod(mode)
    size = sum(-(-len(data) // 1024) for data, _ in files.values()) + sum(path.is_dir() for path in tree.rglob("*"))
    scripts = tree / "DEBIAN"
    scripts.mkdir()
    (scripts / "control").write_text(control(made, program, processor, size))
    sums = [f"{hashlib.md5(data).hexdigest()}  {path.removeprefix('/')}\n" for path, (data, _) in sorted(files.items())]
    (scripts / "md5sums").write_text("".join(sums))
    for name in ("postinst", "prerm", "postrm"):
        shutil.copyfile(HERE / name, scripts / name)
        (scripts / name).chmod(0o755)
    for path in [tree, *tree.rglob("*")]:
        if path.is_dir():
            path.chmod(0o755)
        elif path.parent == scripts and path.name in ("control", "md5sums"):
            path.chmod(0o644)
        os.utime(path, (epoch(), epoch()))
    target.mkdir(parents=True, exist_ok=True)
    package = target / f"blewedge_{made}_{processor}.deb"
    command = ["dpkg-deb", "--root-owner-group", "-Zxz", f"-z{level}", "--threads-max=1", "--build", tree, package]
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(epoch())}
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL, env=environment)
    shutil.rmtree(tree)
    return package


def pair(work, program, texts):
    """Builds two packages of one program with fast compression: one with a version lower than all others, and one with the
    version of this tree."""
    made = version_here()
    versions = {"older": f"{program_version(made)}~~older", "newer": made}
    return [build(work, work / name, each, program, texts, level=1) for name, each in versions.items()]
