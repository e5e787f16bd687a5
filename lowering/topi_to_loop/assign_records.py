"""`loop-assign-records`: assigns to kernels the schedules that were measured to be fastest."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

from xrelay.dialects.loop import ScheduleAttr
from xrelay.dialects.shared.attribute_names import SCHEDULE, SCHEDULE_REASON
from xrelay.dialects.shared.op_making import copy
from xrelay.errors import PassError, ScheduleError
from xrelay.lowering.topi_to_loop.tuning_records import (
    Measurement,
    TuningRecord,
    kernel_digest,
    read_records,
    records_by_kernel,
)
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.loop.nest_queries import kernels_of
from xrelay.passes.loop.schedule import apply_schedule
from xrelay.target import Target


@dataclass(frozen=True)
class LoopAssignRecordsPass(XRelayPass):
    """Attaches the schedules of tuning records to the kernels for which they were measured.

    `xrelay tune` writes the records. A record applies to kernels with the same text, apart from names, on the same
    target. `loop-assign-schedules` schedules the other kernels, and those for which its choice was the fastest.

    ```
    func.func private @k(…) attributes {loop.kernel} {…}
    ```

    becomes

    ```
    func.func private @k(…) attributes {loop.kernel,
        loop.schedule = #loop.schedule<[split("i", 8), …]>,
        loop.schedule_reason = "measured: 12.1 us by dense: 8 rows, 14.0 us by the first choice"
    } {…}
    ```

    Kernels that already have a schedule stay unchanged. The pass warns about a schedule that is no longer legal, and
    about a file without a record for any kernel of the module, as after a change of the compiler. Raises `InputError`
    for a file that cannot be read, and `PassError` without the option `file`.
    """

    name = "loop-assign-records"
    numerics = EXACT

    file: str = field(default="", metadata={"help": "the file of tuning records, as xrelay tune writes it"})
    target: str = field(default="cpu", metadata={"help": "the CPU, e.g. 'cpu -mcpu=znver4 -num-threads=2'"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Annotates the kernels of the module in place."""
        if not self.file:
            raise PassError(f"{self.name} needs a file of tuning records", help=f'write {self.name}{{file="…"}}')
        target = str(Target.parse(self.target))
        records = records_by_kernel(read_records(Path(self.file)), target)
        kernels = [kernel for kernel in kernels_of(op) if SCHEDULE not in kernel.attributes]
        known = [(kernel, records.get(kernel_digest(kernel))) for kernel in kernels]
        for kernel, record in known:
            if record is not None and record.best is not record.default:
                _assign(ctx, kernel, record)
        if kernels and all(record is None for _, record in known):
            _warn(f"{self.file} has no tuning record for a kernel of the module on {target}")


def _assign(ctx: Context, kernel: func.FuncOp, record: TuningRecord) -> None:
    """Attaches the best schedule of a record, if it is legal."""
    best = record.best
    try:
        schedule = _parsed(ctx, best)
        apply_schedule(copy(kernel), schedule.data)
    except (ScheduleError, ParseError) as error:
        _warn(f"the tuning record for @{kernel.sym_name.data} is not applied: {_first_line(error)}")
        return
    kernel.attributes[SCHEDULE] = schedule
    kernel.attributes[SCHEDULE_REASON] = StringAttr(_reason(best, record.default))


def _parsed(ctx: Context, best: Measurement) -> ScheduleAttr:
    """Returns the schedule of a measurement. Raises `ScheduleError` or `ParseError` for other text."""
    schedule = Parser(ctx, best.schedule, "tuning record").parse_attribute()
    if not isinstance(schedule, ScheduleAttr):
        raise ScheduleError(f"its schedule is {schedule}")
    return schedule


def _reason(best: Measurement, default: Measurement) -> str:
    return f"measured: {_microseconds(best)} by {best.candidate}, {_microseconds(default)} by the first choice"


def _microseconds(measured: Measurement) -> str:
    return f"{measured.nanoseconds / 1000:.1f} us"


def _first_line(error: Exception) -> str:
    return error.message if isinstance(error, ScheduleError) else str(error).strip().partition("\n")[0]


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=2)
