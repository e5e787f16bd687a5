"""`AnnotateSpans` from Python: ops get locations in the module's text."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import FileLineColLoc, ModuleOp
from xdsl.ir import Operation

from xrelay import relay, transform
from xrelay.dialects.relay.structure.fused import FusedOp


def place(op: Operation) -> FileLineColLoc:
    assert isinstance(op.location, FileLineColLoc)
    return op.location


def module() -> ModuleOp:
    data = relay.var("data", shape=(1, 3, 8, 8))
    weight = relay.const(np.ones((4, 3, 3, 3), np.float32))
    conv = relay.nn.conv2d(data, weight, channels=4, kernel_size=(3, 3))
    return relay.IRModule.from_expr(relay.Function([data], relay.nn.relu(conv)))


def test_places_are_those_of_the_text() -> None:
    placed = transform.AnnotateSpans()(module())
    lines = str(placed).splitlines()
    for op in placed.walk():
        at = place(op)
        text = lines[at.line.data - 1][at.column.data - 1 :]
        assert at.filename.data == "GeneratedSource"
        assert op.name in text.partition("(")[0]


def test_groups_know_where_they_come_from() -> None:
    fused = transform.Sequential([transform.AnnotateSpans(), transform.FuseOps(fuse_opt_level=2)])(module())
    (group,) = (op for op in fused.walk() if isinstance(op, FusedOp))
    assert str(group.location).count("GeneratedSource") == 2
    again = transform.DefuseOps()(fused)
    assert {place(op).filename.data for op in again.walk()} == {"GeneratedSource"}
