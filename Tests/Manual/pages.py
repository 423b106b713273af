# SPDX-License-Identifier: GPL-2.0-or-later
"""The code blocks of a page of the manual, and the shell that runs them."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import select
import signal
import subprocess
import time

# Languages of blocks that are run or checked, and of those that are shown and, if they have a title, saved.
CHECKED = {"console", "toml", "json", "sh", "swift"}
SHOWN = {"text", "ini", "html"}
# Seconds until a command must have ended, or must have printed what is expected before `^C`.
PATIENCE = 60
FENCE = re.compile(r"^( *)```(\w*)(?: +title=\"([^\"]+)\")?\s*$")
# Commands that change the machine. They are not run.
ROOT = re.compile(r"(sudo|apt|apt-get|systemctl|journalctl|docker|podman|git clone|cd)\b")


@dataclasses.dataclass
class Block:
    """A fenced code block."""

    place: str  # page and line
    language: str
    title: str
    lines: list[str]


@dataclasses.dataclass
class Command:
    """A command of a console block, with the output that the page shows."""

    place: str
    text: str
    output: list[str]


def blocks(path: pathlib.Path, name: str) -> list[Block]:
    """Returns the fenced code blocks of a page."""
    found: list[Block] = []
    current: Block | None = None
    indent = ""
    for number, line in enumerate(path.read_text().split("\n"), start=1):
        fence = FENCE.match(line)
        if current and fence and not fence[2]:
            found.append(current)
            current = None
        elif current:
            current.lines.append(line.removeprefix(indent))
        elif fence:
            indent = fence[1]
            current = Block(f"{name}:{number}", fence[2], fence[3] or "", [])
        elif line.lstrip().startswith("```"):
            raise ValueError(f"{name}:{number}: the block has neither a language nor a title in quotation marks")
    if current:
        raise ValueError(f"{current.place}: the block has no end")
    return found


def commands(block: Block) -> list[Command]:
    """Returns the commands of a console block. A line that ends with a backslash is continued in the next one."""
    found: list[Command] = []
    page, _, first = block.place.partition(":")
    is_open = False
    for number, line in enumerate(block.lines, start=int(first) + 1):
        if is_open:
            found[-1].text += "\n" + line.removeprefix("> ")
        elif line.startswith("$ "):
            found.append(Command(f"{page}:{number}", line[2:], []))
        elif found:
            found[-1].output.append(line.rstrip())
            continue
        elif line.strip():
            raise ValueError(f"{page}:{number}: no command before this output")
        is_open = line.endswith("\\")
    for command in found:
        while command.output and not command.output[-1]:
            command.output.pop()
    return found


def pattern(lines: list[str]) -> re.Pattern[str]:
    """Returns a pattern for the output that a page shows: `…` stands for any text in a line, and a line `...` for any lines."""
    parts = [r"(?:.*\n)*?" if line == "..." else ".*?".join(map(re.escape, line.split("…"))) + " *\n" for line in lines]
    return re.compile("".join(parts))


class Stuck(Exception):
    """A command that does not end, so that the rest of its page cannot run."""


class Shell:
    """A shell in a directory of its own, in which the commands of a page run one after the other."""

    def __init__(self, program: pathlib.Path, home: pathlib.Path, language: str) -> None:
        self.program = program
        (home / "run/blewedge").mkdir(parents=True, mode=0o700)
        self.home = home
        self.environment = {
            "PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": str(home), "LANG": "C.UTF-8", "COLUMNS": "80",
            "BLEWEDGE_LANG": language, "XDG_RUNTIME_DIR": str(home / "run"), "TERM": "dumb", "TZ": "UTC",
            # The user's directories also for root, who otherwise has those of the machine.
            "CONFIGURATION_DIRECTORY": str(home / ".config/blewedge"), "STATE_DIRECTORY": str(home / ".local/state/blewedge"),
            "RUNTIME_DIRECTORY": str(home / "run/blewedge"),
        }  # fmt: skip
        self.process = subprocess.Popen(
            ["bash", "--norc", "--noprofile"], cwd=home, env=self.environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        self.count = 0
        self.status = 0

    def run(self, command: Command) -> str:
        """Runs a command. Returns the difference from the page, or an empty string if there is none. Raises `Stuck`."""
        # An open quotation mark would swallow all that follows.
        syntax = subprocess.run(["bash", "-n", "-c", command.text], capture_output=True, text=True, check=False)
        if syntax.returncode:
            return syntax.stderr
        self.count += 1
        mark = f"--end-{self.count}-"
        # Keep the exit status for a following `echo $?`.
        text = f"{command.text}\n{{ status=$?; printf '\\n{mark}%s\\n' $status; (exit $status); }} 2>/dev/null\n"
        earlier = self._children()
        assert self.process.stdin
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()
        is_stopped = command.output[-1:] == ["^C"]
        expected = pattern(command.output[:-1] if is_stopped else command.output)
        output, status = "", ""
        end = time.monotonic() + PATIENCE
        while not status:
            output += self._read()
            if found := re.search(rf"\n{mark}(\d+)\n", output):
                output, status = output[: found.start()], found[1]
            elif is_stopped and expected.match(output):
                # All commands of a pipeline get the signal, as from a terminal, and those that begin later get the next one.
                self._signal(self._children() - earlier, signal.SIGINT)
            elif self.process.poll() is not None:
                return f"the shell has ended, after\n{output}"
            elif time.monotonic() > end:
                raise Stuck(f"not over within {PATIENCE} s, after\n{output}")
        if output and not output.endswith("\n"):
            output += "\n"
        self.status = int(status)
        if command.output[-1:] == ["^C"]:
            return "" if expected.match(output) else f"another output:\n{output}"
        return "" if not command.output or expected.fullmatch(output) else f"another output:\n{output}"

    def _read(self) -> str:
        assert self.process.stdout
        if not select.select([self.process.stdout], [], [], 0.1)[0]:
            return ""
        return os.read(self.process.stdout.fileno(), 65536).decode(errors="replace")

    def _children(self) -> set[int]:
        found = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True, check=False)
        return set(map(int, found.stdout.split()))

    @staticmethod
    def _signal(processes: set[int], number: signal.Signals) -> None:
        for process in processes:
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass

    def end(self) -> None:
        """Ends the shell and all that it has started."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


def is_for_root(command: Command) -> bool:
    """Returns true for commands that change the machine."""
    return bool(ROOT.match(command.text))
