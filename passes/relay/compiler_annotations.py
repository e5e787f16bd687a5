"""Removes the annotations of regions for external compilers, and splits those of tuples into fields."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.ops.annotation import CompilerAnnotationOp, CompilerEndOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.passes.graph.replacements import Replacements, erase_op
from xrelay.passes.infra.verify import walk_ops


def remove_annotations(module: ModuleOp, compiler: str | None = None) -> int:
    """Replace annotations by their values, only those for `compiler` if given; returns their number."""
    annotations = [
        op for op in walk_ops(module) if isinstance(op, CompilerAnnotationOp) and compiler in (None, op.compiler.data)
    ]
    values = Replacements()
    for op in annotations:
        values.add(op.result, op.data)
    values.apply()
    for op in annotations:
        erase_op(op)
    return len(annotations)


def flatten_ends_of_tuples(module: ModuleOp) -> int:
    """End the region of a tuple at the fields of the tuple; returns the number of changed ends.

        %t = relay.tuple(%a, %b)
        %e = relay.annotation.compiler_end(%t) {compiler = "c"}
    becomes
        %f = relay.annotation.compiler_end(%a) {compiler = "c"}
        %g = relay.annotation.compiler_end(%b) {compiler = "c"}
        %e = relay.tuple(%f, %g)
    """
    values, changed = Replacements(), list[CompilerEndOp]()
    tuples = dict[TupleOp, None]()
    pending = [op for op in walk_ops(module) if isinstance(op, CompilerEndOp)]
    while pending:
        end = pending.pop()
        made = end.data.owner
        if not isinstance(made, TupleOp):
            continue
        ends = [CompilerEndOp.call(field, compiler=end.compiler) for field in made.fields]
        new = TupleOp.create(operands=[each.result for each in ends], result_types=[end.result.type])
        for op in (*ends, new):
            op.location = end.location
        Rewriter.insert_op([*ends, new], InsertPoint.before(end))
        new.result.name_hint = end.result.name_hint
        values.add(end.result, new.result)
        changed.append(end)
        tuples[made] = None
        pending += ends
    values.apply()
    for end in changed:
        erase_op(end)
    _erase_unused(list(tuples))
    return len(changed)


def _erase_unused(ops: list[Operation]) -> None:
    """Erase those of `ops` that have no uses; users precede their operands."""
    for op in ops:
        if op.results[0].first_use is None:
            erase_op(op)
