"""Disturbed compilations, each in a fork of this process, which has imported the compiler and has no threads.

    python -m support.disturbed_compilations FOLDER

Prints a line of JSON for each of `SCENARIOS` with the outcomes of its compilations: the signal that ended each, whether
the model computes the right values, the error, and the warnings. The last line counts the worker processes and lists
those that still run.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np

from support.examples import FACTOR
from support.tool_server.server import preload
from xrelay import CompiledModel
from xrelay import compile as compile_model
from xrelay.api import stage_runner
from xrelay.api.kernels import forked_workers
from xrelay.api.kernels import workers as kernel_workers
from xrelay.api.kernels.forked_workers import ForkedProcess
from xrelay.errors import XRelayError

TEXT: Final = """
func.func @main(%x: tensor<9x6xf32>) -> tensor<9x6xf32> {
  %s = relay.cumsum(%x) {axis = 1 : i64} : (tensor<9x6xf32>) -> tensor<9x6xf32>
  %y = relay.exp(%s) : (tensor<9x6xf32>) -> tensor<9x6xf32>
  func.return %y : tensor<9x6xf32>
}"""
"""A program of two kernels that compile quickly."""
EVENTS: Final = ("open", "os.rename", "os.mkdir", "os.remove", "os.utime")
"""Audit events that Python raises before it opens or changes a file."""
SECONDS: Final = 60
"""Timeout for a process to end on a busy machine."""

Outcome = dict[str, object]
Work = Callable[[], Outcome]
Disturb = Callable[[Path], None]


class Messages(logging.Handler):
    """A handler that collects warnings."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def compiled(folder: Path) -> Outcome:
    """Compiles the model with the cache in `folder`, and runs it."""
    messages = Messages()
    logging.getLogger("xrelay").addHandler(messages)
    raised, right = "", False
    try:
        right = is_right(compile_model(folder / "model.mlir", threads=1))
    except XRelayError as error:
        raised = error.render()
    return {"right": right, "warnings": messages.lines, "raised": raised}


def is_right(model: CompiledModel) -> bool:
    """Whether a model computes the right values."""
    x = np.arange(54, dtype=np.float32).reshape(9, 6) / 54
    return bool(np.allclose(model(x)[0], np.exp(x.cumsum(1)), rtol=1e-5))


def forked(work: Work) -> Work:
    """Starts `work` in a fork; returns a function that waits for its outcome."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            outcome = work()
        except BaseException:
            outcome = {"raised": traceback.format_exc()}
        with os.fdopen(writing, "w") as stream:
            json.dump(outcome, stream)
        os._exit(0)
    os.close(writing)

    def wait() -> Outcome:
        with os.fdopen(reading) as stream:
            text = stream.read()
        _, status = os.waitpid(child, 0)
        outcome: Outcome = json.loads(text) if text else {}
        return {**outcome, "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0}

    return wait


def disturbed_at(number: int, folder: Path, disturb: Disturb, *, helped: bool, forks: bool) -> Outcome:
    """Compiles, and calls `disturb` before the access number `number` to a file of the cache."""
    left, cache = [number], str(folder / "cache")

    def count(event: str, arguments: tuple[object, ...]) -> None:
        if event in EVENTS and isinstance(arguments[0], str | Path) and str(arguments[0]).startswith(cache):
            left[0] -= 1
            if left[0] == -1:
                disturb(folder)

    sys.addaudithook(count)
    os.environ["XRELAY_WORKERS"] = str(int(helped))
    with patch.object(stage_runner, "may_fork", lambda: forks):
        return {**compiled(folder), "disturbed": left[0] < 0}


def disturbed(
    folder: Path, disturb: Disturb, *, step: int, known: bool = False, helped: bool = False, forks: bool = True
) -> Iterator[Outcome]:
    """Disturbs compilations at file accesses 0, `step`, 2 `step`, … until one completes undisturbed.

    After each disturbed compilation, an undisturbed one follows. The cache is empty before each pair, or, with `known`,
    filled by another compilation. With `helped`, a worker helps, which is a fork or a new process. `make test`
    doubles `step`.
    """
    number, goes_on = 0, True
    while goes_on:
        if known:
            forked(partial(compiled, folder))()
        outcome = forked(partial(disturbed_at, number, folder, disturb, helped=helped, forks=forks))()
        yield outcome
        yield forked(partial(compiled, folder))()
        clear(folder)
        goes_on = outcome.get("disturbed") is not False
        number += step if FACTOR > 1 else 2 * step


def kill(_: Path) -> None:
    """Kills this process with SIGKILL."""
    os.kill(os.getpid(), signal.SIGKILL)


def clear(folder: Path) -> None:
    """Removes the cache."""
    shutil.rmtree(folder / "cache", ignore_errors=True)


def kill_worker(folder: Path) -> None:
    """Kills the last worker process."""
    with suppress(ProcessLookupError):  # it is done
        os.kill(worker_ids(folder)[-1], signal.SIGKILL)


def limited(folder: Path, size: int) -> Outcome:
    """Compiles while files are limited to `size` bytes, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    return compiled(folder)


def full_disk(folder: Path) -> Iterator[Outcome]:
    """Compiles without space for any file, and with space for records of kernels only, and once more after each."""
    for size in (0, 500):
        yield forked(partial(limited, folder, size))()
        yield forked(partial(compiled, folder))()
        clear(folder)


def at_once(folder: Path) -> Iterator[Outcome]:
    """Compiles one model in several processes at the same time."""
    waits = [forked(partial(compiled, folder)) for _ in range(3)]
    yield from (wait() for wait in waits)


class NotedProcess(subprocess.Popen[bytes]):
    """A worker process whose id is recorded."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        note(self.pid)


class NotedFork(ForkedProcess):
    """A forked worker whose id is recorded."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        note(self.pid)


def note(process: int) -> None:
    """Records the id of a worker process."""
    with noted_in(Path(sys.argv[1])).open("a") as noted:
        noted.write(f"{process}\n")


def noted_in(folder: Path) -> Path:
    """The file with the ids of all worker processes."""
    return folder / "workers"


def worker_ids(folder: Path) -> list[int]:
    """The ids of all worker processes."""
    noted = noted_in(folder)
    return [int(line) for line in noted.read_text().split()] if noted.exists() else []


def still_running(folder: Path) -> list[int]:
    """The worker processes that still run a minute later."""
    end = time.monotonic() + SECONDS
    while (running := [each for each in worker_ids(folder) if runs(each)]) and time.monotonic() < end:
        time.sleep(0.05)
    return running


def runs(process: int) -> bool:
    """Whether a process, which need not be a child, is running."""
    try:
        os.kill(process, 0)
        state = Path(f"/proc/{process}/stat")
        return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


SCENARIOS: Final[dict[str, Callable[[Path], Iterator[Outcome]]]] = {
    "killed": partial(disturbed, disturb=kill, step=6, helped=True),
    "killed, known": partial(disturbed, disturb=kill, step=1, known=True),
    "cleared": partial(disturbed, disturb=clear, step=9),
    "cleared, known": partial(disturbed, disturb=clear, step=1, known=True),
    "worker killed": partial(disturbed, disturb=kill_worker, step=7, helped=True, forks=False),
    "fork killed": partial(disturbed, disturb=kill_worker, step=7, helped=True),
    "full disk": full_disk,
    "at once": at_once,
}


def main() -> None:
    """Runs the scenarios."""
    folder = Path(sys.argv[1])
    (folder / "model.mlir").write_text(TEXT)
    os.environ |= {"XRELAY_CACHE_DIR": str(folder / "cache"), "XRELAY_CACHE": "1", "XRELAY_WORKERS": "0"}
    # Imports the compiler and lowers a program. Otherwise, each fork imports the same hundred modules and fills caches.
    for name in ("xrelay.api", "xrelay.lowering", "xrelay.passes", "xrelay.interpreters", "xrelay.runtime"):
        preload(name)
    import_module("support.tool_server.warm")
    gc.collect()
    gc.freeze()  # a collection in a fork would copy all memory that it shares with this process
    with (
        patch.object(stage_runner, "MIN_OPS_FOR_WORKERS", 0),
        patch.object(kernel_workers.subprocess, "Popen", NotedProcess),
        patch.object(forked_workers, "ForkedProcess", NotedFork),
    ):
        for name, scenario in SCENARIOS.items():
            sys.stdout.write(json.dumps([name, list(scenario(folder))]) + "\n")
            clear(folder)
    sys.stdout.write(json.dumps(["workers", [len(worker_ids(folder)), *still_running(folder)]]) + "\n")


if __name__ == "__main__":
    main()
