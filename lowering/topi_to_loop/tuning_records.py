"""Tuning records: measured schedules of kernels, one JSON object a line, which `loop-assign-records` reads.

A record belongs to a kernel's text and a target, so it applies to equal kernels of all models. Lines are appended, and
of several records for a kernel the last one counts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from xdsl.dialects import func

from xrelay.errors import ArtifactError, InputError
from xrelay.lowering.kernel_units import isolated_kernel
from xrelay.passes.infra.printing import print_module
from xrelay.runtime.digests import content_key
from xrelay.runtime.json_fields import decode, parse_json_object

FORMAT_VERSION: Final = 1
"""The version of the form of a record; records of other versions are ignored."""


@dataclass(frozen=True)
class Measurement:
    """A candidate for the schedule of a kernel and its time."""

    candidate: str
    """The family and the name of the candidate, as in `xrelay explain schedule`."""
    schedule: str
    """The text of the schedule attribute."""
    nanoseconds: int
    """The least time of a call; 0 if the candidate failed."""


@dataclass(frozen=True)
class TuningRecord:
    """The measured candidates of a kernel on a machine."""

    version: int
    kernel: str
    """The `kernel_digest`."""
    name: str
    """The name of the kernel in the model for which it was measured."""
    sources: tuple[str, ...]
    """The nodes of that model which the kernel computes."""
    target: str
    machine: str
    """The name of the CPU that was measured."""
    packages: dict[str, str]
    """The versions of xrelay and of the packages that determine its code."""
    measured: tuple[Measurement, ...]
    """The candidates in the order of their estimated costs. The first is the schedule without tuning."""

    @property
    def default(self) -> Measurement:
        """The candidate that is applied without a record."""
        return self.measured[0]

    @property
    def best(self) -> Measurement:
        """The fastest candidate; the default unless another one is faster by more than 5 %, the noise of a minimum."""
        running = [each for each in self.measured if each.nanoseconds]
        fastest = min(running, key=lambda each: each.nanoseconds, default=self.default)
        return fastest if fastest.nanoseconds < self.default.nanoseconds * MIN_RATIO else self.default


MIN_RATIO: Final = 0.95
"""The ratio of the times of a candidate and of the default below which the candidate is applied."""


def kernel_digest(kernel: func.FuncOp) -> str:
    """Returns a digest of a kernel at the loop level without schedule, which is independent of all names."""
    return content_key([print_module(isolated_kernel(kernel), generic=True)])


def read_records(path: Path) -> list[TuningRecord]:
    """Returns the records of a file in order. An incomplete last line, of a process that was killed, is ignored.

    Raises `InputError` with file and line if the file cannot be read or a line is damaged.
    """
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except OSError as error:
        raise InputError(f"cannot read the tuning records: {error.strerror}", location=str(path)) from error
    return [record for number, line in enumerate(lines, start=1) if (record := _parse(line, f"{path}:{number}"))]


def _parse(line: bytes, location: str) -> TuningRecord | None:
    """Returns the record of a line; `None` for another version or an empty line."""
    if not line.strip():
        return None
    what = "the tuning record"
    try:
        value = parse_json_object(line, what)
        if value.get("version") != FORMAT_VERSION:
            return None
        record: TuningRecord = decode(TuningRecord, value, what)
    except ArtifactError as error:
        raise InputError(error.message, location=location, help="remove the line") from error
    if not record.measured:
        raise InputError(f"{what} has no measurements", location=location, help="remove the line")
    return record


def append_record(path: Path, record: TuningRecord) -> None:
    """Appends a record to a file, which is created if it is absent. Raises `InputError` if that fails.

    An incomplete last line is removed. The line is written at once, so that several processes may append to one file.
    """
    line = json.dumps(asdict(record)).encode() + b"\n"
    try:
        with open(path, "a+b", buffering=0) as file:
            file.seek(0)
            content = file.read()
            if not content.endswith(b"\n"):
                file.truncate(content.rfind(b"\n") + 1)
            file.write(line)
    except OSError as error:
        raise InputError(f"cannot write the tuning records: {error.strerror}", location=str(path)) from error


def records_by_kernel(records: Sequence[TuningRecord], target: str) -> dict[str, TuningRecord]:
    """Returns the last record of each kernel for a target."""
    return {record.kernel: record for record in records if record.target == target}
