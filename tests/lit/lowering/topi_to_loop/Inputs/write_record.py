"""Writes a tuning record for a kernel: `write_record.py TEXT KERNEL RECORDS TARGET FASTEST_SCHEDULE`."""

import sys
from pathlib import Path

from xrelay.lowering.topi_to_loop.tuning_records import (
    FORMAT_VERSION,
    Measurement,
    TuningRecord,
    append_record,
    kernel_digest,
)
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.loop.nest_queries import kernels_of
from xrelay.target import Target

text, name, records, target, schedule = sys.argv[1:]
module = parse_module(full_context(), Path(text).read_text(), text)
kernel = next(each for each in kernels_of(module) if each.sym_name.data == name)
measured = (
    Measurement("first", "#loop.schedule<[]>", 2000),
    Measurement("family: fastest", f"#loop.schedule<[{schedule}]>", 1000),
)
packages = {"xrelay": "0"}
record = TuningRecord(
    FORMAT_VERSION, kernel_digest(kernel), name, (), str(Target.parse(target)), "cpu", packages, measured
)
append_record(Path(records), record)
