"""Turns a fork of the server into the process that a shim represents."""

from __future__ import annotations

import atexit
import os
import runpy
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, Never, TextIO


class Request(NamedTuple):
    """The arguments, folder, environment and files with which a shim was started."""

    program: str
    arguments: list[str]
    folder: str
    environment: dict[bytes, bytes]
    files: list[int]
    wants_pid: bool = False


def is_python(program: str) -> bool:
    """Whether a program is this interpreter and not one of its scripts."""
    return Path(program).name.startswith("python")


def become(request: Request) -> None:
    """Takes over the state that a process inherits from its parent."""
    for target, file in enumerate(request.files):
        os.dup2(file, target)
        os.close(file)
    os.chdir(request.folder)
    known = _import_path(os.environ)
    for name in os.environb.keys() - request.environment.keys():
        del os.environb[name]
    os.environb.update(request.environment)
    sys.path[1:] = _import_path(os.environ) + [place for place in sys.path[1:] if place not in known]
    tempfile.tempdir = None
    # Otherwise, compilations count the plugins of a test as edited while they were loaded, and cache no model.
    if (registrations := sys.modules.get("xrelay.registrations")) is not None:
        vars(registrations).update(BEGAN_NANOSECONDS=time.time_ns())
    # Python chose the buffers of its three streams for the server's files.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        old: TextIO = getattr(sys, name)
        buffering = 1 if name == "stderr" else -1
        new = open(old.fileno(), mode, buffering, old.encoding, old.errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)


def _import_path(environment: Mapping[str, str]) -> list[str]:
    """The folders of PYTHONPATH, as Python adds them to its import path."""
    folders = environment.get("PYTHONPATH")
    return [os.path.abspath(folder) for folder in folders.split(os.pathsep)] if folders else []


def run(request: Request) -> Never:
    """Runs the program and exits as the interpreter does, but without the teardown of modules, which takes 0.1 s."""
    code = 0
    try:
        execute(request)
    except SystemExit as error:
        if isinstance(error.code, str):
            raise
        code = error.code or 0
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        # The interpreter reports a broken or closed stream.
        sys.exit(code)
    os._exit(code)


def execute(request: Request) -> None:
    """Runs the program as `__main__`; the interpreter handles its exceptions, including SystemExit."""
    program, arguments = request.program, request.arguments
    if is_python(program):
        program, *arguments = arguments
    if program == "-c":
        code, *arguments = arguments
        sys.argv, sys.path[0] = ["-c", *arguments], ""
        sys.modules["__main__"] = module = ModuleType("__main__")
        exec(compile(code, "<string>", "exec", dont_inherit=True), module.__dict__)
    else:
        sys.argv, sys.path[0] = [program, *arguments], str(Path(program).parent)
        runpy.run_path(program, run_name="__main__")
