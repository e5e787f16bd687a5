"""Moves the requirements of a kernel's ops on named dimensions to the calls of the kernel, to be checked there.

Kernels contain no checks: below relay they have extents as arguments, without the expressions for them.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Operation

from xrelay.dialects.shared.attribute_names import DEMANDS, PRIMITIVE, REQUIRES
from xrelay.dialects.shared.locations import sources_of


def record_kernel_requirements(module: ModuleOp) -> None:
    """Records the requirements of a kernel's ops on each of its calls, as rows of op, requirements and source nodes.

    Call and kernel share the names of dimensions.
    """
    functions = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    requirements = {f.sym_name.data: _requirements(f) for f in functions if PRIMITIVE in f.attributes}
    if not any(requirements.values()):
        return
    for function in functions:
        for op in function.walk():
            if isinstance(op, CallOp) and (rows := requirements.get(op.callee.string_value())):
                op.attributes[DEMANDS] = ArrayAttr(rows)


def _requirements(kernel: FuncOp) -> list[DictionaryAttr]:
    return [_row(op, op.attributes[REQUIRES]) for op in kernel.walk() if REQUIRES in op.attributes]


def _row(op: Operation, requires: Attribute) -> DictionaryAttr:
    row: dict[str, Attribute] = {"op": StringAttr(op.name), "requires": requires}
    if (sources := sources_of(op)) is not None:
        row["sources"] = sources
    return DictionaryAttr(row)
