"""The controller of a worker: sends it cases, and distinguishes a crash or a hang from an answer."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil

TESTS = Path(__file__).resolve().parents[1]
PATIENCE = 5
"""A case's elapsed time may be this many times its limit if its processor time is less: the machine may be busy."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case: `finding` is empty if it passes."""

    finding: str = ""
    trace: str = ""
    files: dict[str, str] = field(default_factory=dict[str, str])
    """File name → contents in base64."""


class WorkerProcess:
    """Starts `fuzz.worker` for the first case, and again after a crash or a hang."""

    def __init__(self, folder: Path):
        """A worker that logs its standard error to a file in `folder`."""
        self._process: subprocess.Popen[str] | None = None
        self._log = folder / f"worker-{id(self)}.log"

    def run(self, campaign: str, seed: int, limit: float) -> Outcome:
        """Runs one case, which may compute for `limit` seconds; see `kill_when_hung`."""
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        answered, hung = threading.Event(), threading.Event()
        watch = threading.Thread(target=kill_when_hung, args=(process, limit, answered, hung), daemon=True)
        watch.start()
        try:
            process.stdin.write(f"{campaign} {seed}\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            answered.set()
            watch.join()
        if line:
            return _outcome(json.loads(line))
        code = process.wait()
        self._process = None
        if hung.is_set():
            return Outcome(f"hang: no answer in {limit:.0f} s", self._last_words())
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return Outcome(f"crash: the process ended by {name}", self._last_words())

    def close(self) -> None:
        """Kills the worker."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _start(self) -> subprocess.Popen[str]:
        # The worker keeps the file open: its last output is read after it has ended.
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "fuzz.worker"],
                cwd=TESTS,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        return self._process

    def _last_words(self) -> str:
        return self._log.read_text(errors="replace")[-8000:]


def _outcome(answer: dict[str, object]) -> Outcome:
    if answer["finding"] is None:
        return Outcome()
    files = answer["files"]
    return Outcome(str(answer["finding"]), str(answer["trace"]), files if isinstance(files, dict) else {})


def kill_when_hung(
    process: subprocess.Popen[str], limit: float, answered: threading.Event, hung: threading.Event
) -> None:
    """Kills a worker that has computed for `limit` seconds, or waited `PATIENCE` times as long, without an answer."""
    start, before = time.monotonic(), _seconds_computed(process.pid)
    while not answered.wait(limit / 10):
        elapsed = time.monotonic() - start
        busy = _seconds_computed(process.pid) - before >= limit
        if (elapsed >= limit and busy) or elapsed >= PATIENCE * limit:
            hung.set()
            process.kill()
            return


def _seconds_computed(pid: int) -> float:
    """The processor time of a process; 0 if it has ended."""
    try:
        times = psutil.Process(pid).cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return times.user + times.system
