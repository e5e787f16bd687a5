"""Runs the engines of a comparison in turns, collects their times, and prints a table.

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
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from xrelay.api.comparison import compare_outputs, largest_finite
from xrelay.environment import with_cache_folder
from xrelay.errors import XRelayError, printable
from xrelay.tools.comparison.engines import Array, Workload


@dataclass(frozen=True)
class Difference:
    """The largest difference of an output as a fraction of its largest value, and whether all outputs agree."""

    share: float
    agrees: bool


def difference(found: Sequence[Array], wanted: Sequence[Array]) -> Difference:
    """Compares the outputs `found` with `wanted`, with the tolerances of `compare_outputs`.

    Outputs of different number, shape or dtype never agree.
    """
    if [(each.shape, each.dtype) for each in found] != [(each.shape, each.dtype) for each in wanted]:
        return Difference(float("inf"), agrees=False)
    share, agrees = 0.0, True
    for a, b in zip(found, wanted, strict=True):
        answer = compare_outputs([""], [a], [b], levels=("", ""))
        share = max(share, answer.max_abs / (largest_finite(b) or 1.0))
        agrees = agrees and answer.equal
    return Difference(share, agrees)


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
        command = [sys.executable, "-m", "xrelay.tools.comparison.engines", str(folder), row.engine, str(row.threads)]
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


HEADER = (
    f"{'engine':12} {'min ms':>10} {'median ms':>10} {'CPU min ms':>10} {'ratio':>7} {'cold CPU s':>11} "
    f"{'cached CPU s':>13} {'peak MB':>8} {'cached MB':>10}  outputs\n"
)


def table(rows: Sequence[Row], title: str = "") -> str:
    """Formats the rows of one number of threads, which follows the title.

    The first row is xrelay; `ratio` is its minimum time over the engine's.
    """
    count = rows[0].threads
    return "".join((f"{title}{count} thread{'s' * (count != 1)}\n", HEADER, *_lines(rows)))


def _lines(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        if row.error:
            yield f"{row.engine:12} failed: {printable(row.error)}\n"
            continue
        ratio = "" if rows[0].error else f"{min(rows[0].wall) / min(row.wall):.2f}"
        times = f"{min(row.wall):10.3f} {statistics.median(row.wall):10.3f} {min(row.cpu):10.3f}"
        costs = f"{_cpu(row.cold):>11} {_cpu(row.cached):>13} {_peak(row.cold):>8} {_peak(row.cached):>10}"
        yield f"{row.engine:12} {times} {ratio:>7} {costs}  {_agreement(row)}\n"


def _cpu(costs: Costs | None) -> str:
    return "" if costs is None else f"{costs.cpu:.2f}"


def _peak(costs: Costs | None) -> str:
    return "" if costs is None else f"{costs.peak:.0f}"


def _agreement(row: Row) -> str:
    if row.difference is None:
        return ""
    return f"{'agree' if row.difference.agrees else 'DIFFER'}, by {row.difference.share:.1e} of the largest value"
