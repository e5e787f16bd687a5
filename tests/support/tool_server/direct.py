"""Starts lit's commands as forks of the server, without a shim process, or in lit's own process (inner.py).

A shim takes 8 ms, as long as the work of a small tool.
"""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from collections.abc import Mapping, Sequence
from io import TextIOBase
from pathlib import Path
from types import ModuleType
from typing import IO, Self

import lit

from support.tool_server.inner import File, InnerProcess, program_of
from support.tool_server.server import fixed
from support.tool_server.shim import HEADER, REFUSED, message

_LIT = Path(lit.__file__).parent
_LOCALE = {b"LC_ALL", b"LC_CTYPE", b"LANG"}


def served_subprocess(
    folders: Sequence[str], programs: Mapping[str, Path], environment: Mapping[str, str]
) -> ModuleType:
    """The module `subprocess` for lit: its `Popen` runs `programs`, by name, on the servers of these folders.

    `environment` is the one for which the servers were started. Programs of `inner` run in this process if their
    environment has the same fixed variables and import path.
    """
    start = _start_of(environment)

    def popen(
        args: Sequence[str],
        *,
        cwd: str,
        executable: str,
        stdin: File,
        stdout: File,
        stderr: File,
        env: dict[str, str],
        close_fds: bool,
        universal_newlines: bool,
        errors: str,
    ) -> ServedProcess | InnerProcess | subprocess.Popen[str]:
        folder, name = os.path.split(executable)
        env = _own(args, env)
        given = stdin if isinstance(stdin, TextIOBase) else None
        program = program_of(args) if given is not None or stdin == subprocess.PIPE else None
        if program is not None and _start_of(env) == start:
            return InnerProcess(program, args, cwd, env, given, stdout, stderr)
        if folder in folders and name in programs:
            request = str(programs[name]), list(args[1:]), str(cwd), _variables(env)
            with _Ends(stdin, stdout, stderr) as ends:
                connection, pid = _asked(f"{folder}/socket", message(*request, wants_pid=True), ends.theirs)
                if pid is not None:
                    return ServedProcess(connection, pid, ends.ours())
        return subprocess.Popen(
            args,
            cwd=cwd,
            executable=executable,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env=env,
            close_fds=close_fds,
            universal_newlines=universal_newlines,
            errors=errors,
        )

    module = ModuleType(subprocess.__name__, subprocess.__doc__)
    module.__dict__.update(vars(subprocess), Popen=popen)
    return module


def _own(arguments: Sequence[str], variables: dict[str, str]) -> dict[str, str]:
    """The environment of a command, without the import path that lit adds for its own `cat` and `diff`.

    lit leaves it in the environment of the test, so that otherwise all later commands would start new processes.
    """
    if variables.get("PYTHONPATH") != str(_LIT) or any(Path(each).parent.parent == _LIT for each in arguments[:2]):
        return variables
    return {name: value for name, value in variables.items() if name != "PYTHONPATH"}


def _start_of(environment: Mapping[str, str]) -> tuple[dict[bytes, bytes], str | None]:
    """The state in which a process starts: the variables that all runs share, and the import path."""
    return fixed(_variables(environment)), environment.get("PYTHONPATH")


def _variables(environment: Mapping[str, str]) -> dict[bytes, bytes]:
    """The variables that Python sees in this environment: it adds LC_CTYPE if no variable sets the locale."""
    known = {os.fsencode(name): os.fsencode(value) for name, value in environment.items()}
    return known if _LOCALE & known.keys() else {**known, b"LC_CTYPE": b"C.UTF-8"}


def _asked(address: str, text: bytes, files: Sequence[int]) -> tuple[socket.socket, int | None]:
    """Sends a message and files to the server; returns the connection and the pid of the fork.

    The pid is `None` without a server, or if it refuses; a shim handles both cases.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(address)
        socket.send_fds(connection, [text[:HEADER]], files)
        connection.sendall(text[HEADER:])
        answer = connection.recv(HEADER)
    except OSError:
        answer = REFUSED
    if answer in (b"", REFUSED):
        connection.close()
        return connection, None
    return connection, int.from_bytes(answer, "little")


class _Ends:
    """Both ends of a new process's three streams; closes its own ends of pipes that are not taken."""

    def __init__(self, *given: File):
        """Takes the streams as `Popen` does."""
        self.theirs: list[int] = []
        self._closed: list[int] = []
        self._ours: list[int | None] = []
        for number, stream in enumerate(given):
            self._add(number, stream)

    def _add(self, number: int, stream: File) -> None:
        ours = None
        if stream == subprocess.PIPE:
            reads, writes = os.pipe()
            theirs, ours = (reads, writes) if number == 0 else (writes, reads)
            self._closed.append(theirs)
        elif stream == subprocess.STDOUT:
            theirs = self.theirs[1]
        else:
            theirs = number if stream is None else stream if isinstance(stream, int) else stream.fileno()
        self.theirs.append(theirs)
        self._ours.append(ours)

    def ours(self) -> list[IO[str] | None]:
        """This process's ends of pipes; the caller owns them from now on."""
        files, self._ours = self._ours, []
        return [
            None if file is None else open(file, "r" if number else "w", errors="replace")
            for number, file in enumerate(files)
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in (*self._closed, *self._ours):
            if file is not None:
                os.close(file)


class ServedProcess:
    """A fork of the server with lit's process interface. The server kills the fork if lit's worker ends first."""

    def __init__(self, connection: socket.socket, pid: int, streams: Sequence[IO[str] | None]):
        """Wraps the fork `pid`, whose exit code arrives on the connection."""
        self.pid = pid
        self.stdin, self.stdout, self.stderr = streams
        self._connection = connection
        self._code: int | None = None

    def communicate(self) -> tuple[str | None, str | None]:
        """Reads the output of the process until it ends."""
        said: list[str] = []
        thread = None
        stdout, stderr = self.stdout, self.stderr
        if stderr is not None:
            thread = threading.Thread(target=lambda: said.append(stderr.read()))
            thread.start()
        out = None if stdout is None else stdout.read()
        if thread is not None:
            thread.join()
        self.wait()
        return out, said[0] if said else None

    def wait(self) -> int:
        """The exit code, or a negative signal number; 1 if the server ended before the process."""
        if self._code is None:
            self._code = int(self._connection.recv(HEADER) or b"1")
            self._connection.close()
        return self._code
