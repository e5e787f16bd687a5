"""Runs the engines of a comparison in turns and collects their times.

Each engine runs in its own process, pinned to as many cores as it has threads. The engines take turns in one run while
the others are stopped, so that disturbances affect all of them, and idle threads of one engine do not take cores from
another. The outputs of the first run are compared.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from xrelay.environment import with_cache_folder
from xrelay.errors import XRelayError
from xrelay.tools.comparison.difference import Difference, difference
from xrelay.tools.comparison.engines import Array, Workload

SECONDS = 0.25
"""The length of an engine's round."""


@dataclass(frozen=True)
class Costs:
    """The costs of opening a model and its first run: wall and CPU time in seconds, and the peak memory in MB."""

    seconds: float
    cpu: float
    peak: float


@dataclass
class Row:
    """The measurements of an engine at one number of threads; a failed engine has only `error`."""

    engine: str
    threads: int
    cold: Costs | None = None
    cached: Costs | None = None
    """The same in a new process, for an engine with a cache on disk."""
    wall: list[float] = field(default_factory=list[float])
    """The milliseconds of every run."""
    cpu: list[float] = field(default_factory=list[float])
    difference: Difference | None = None
    error: str = ""

    def as_json(self) -> dict[str, object]:
        """Returns the measurements as JSON data, with minimum and median of the times."""
        fields: dict[str, object] = {"engine": self.engine, "threads": self.threads}
        if self.error:
            return {**fields, "error": self.error}
        for name, times in (("wall", self.wall), ("cpu", self.cpu)):
            fields |= {f"{name}_min_ms": min(times), f"{name}_median_ms": statistics.median(times)}
        for name, costs in (("cold", self.cold), ("cached", self.cached)):
            fields |= {} if costs is None else {name: vars(costs)}
        return fields | ({} if self.difference is None else {"difference": vars(self.difference)})


class EngineError(XRelayError):
    """The process of an engine ended; the message is the last line that it printed."""


class Engine:
    """The process of an engine, which is stopped except in its turn."""

    def __init__(self, folder: Path, row: Row, cache: Path):
        cores = sorted(os.sched_getaffinity(0))[: row.threads] if hasattr(os, "sched_getaffinity") else []
        command = [sys.executable, "-m", "xrelay.tools.comparison.worker", str(folder), row.engine, str(row.threads)]
        self._log = (folder / f"{row.engine}.log").open("w+")
        self._process = subprocess.Popen(
            [*command, *map(str, cores)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env=with_cache_folder(cache),
        )
        self.row = row

    def opened(self) -> Costs:
        """Waits until the model is open; returns the costs of opening it."""
        answer = self._answer()
        costs = Costs(answer["seconds"], answer["cpu"], answer["peak"])
        self._send(signal.SIGSTOP)
        return costs

    def round(self) -> None:
        """Runs one round."""
        self._send(signal.SIGCONT)
        assert self._process.stdin is not None
        self._process.stdin.write(f"{SECONDS}\n")
        self._process.stdin.flush()
        times = self._answer()
        self._send(signal.SIGSTOP)
        self.row.wall += times["wall"]
        self.row.cpu += times["cpu"]

    def close(self) -> None:
        """Kills the process."""
        self._process.kill()
        self._process.communicate()
        self._log.close()

    def _send(self, number: int) -> None:
        self._process.send_signal(number)

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if line:
            return json.loads(line)
        code = self._process.wait()
        self._log.seek(0)
        lines = [line.strip() for line in self._log if line.strip()]
        raise EngineError(lines[-1] if lines else f"its process ended with exit code {code}")


@contextmanager
def engine(folder: Path, row: Row, cache: Path) -> Generator[Engine]:
    """Starts an engine's process, which ends with the block."""
    found = Engine(folder, row, cache)
    try:
        yield found
    finally:
        found.close()


def compare(
    workload: Workload, inputs: Sequence[Array], engines: Sequence[str], threads: int, rounds: int
) -> list[Row]:
    """Returns the measurements of `engines`, which begin with xrelay, at one number of threads."""
    rows = [Row(name, threads) for name in engines]
    with TemporaryDirectory() as temporary, ExitStack() as stack:
        folder, cache = Path(temporary), Path(temporary) / "cache"
        workload.save(folder, inputs)
        running: list[Engine] = []
        for row in rows:
            try:
                found = stack.enter_context(engine(folder, row, cache))
                row.cold = found.opened()
                if row.engine == "xrelay":
                    with engine(folder, row, cache) as again:
                        row.cached = again.opened()
                running.append(found)
            except EngineError as error:
                row.error = error.message
        for _ in range(rounds):
            for each in running:
                each.round()
        outputs = {each.row.engine: _outputs(folder, each.row.engine) for each in running}
    _compare_outputs(rows, outputs)
    return rows


def _outputs(folder: Path, name: str) -> list[Array]:
    with np.load(folder / f"{name}.npz", allow_pickle=False) as arrays:
        return list(arrays.values())


def _compare_outputs(rows: Sequence[Row], outputs: Mapping[str, list[Array]]) -> None:
    """Compares the outputs of each peer with those of xrelay."""
    ours = outputs.get(rows[0].engine)
    for row in rows[1:]:
        if ours is not None and row.engine in outputs:
            row.difference = difference(ours, outputs[row.engine])
