"""Entry functions that the runtime calls, around `@main` and `@main_plan`.

`i32 @xrelay_entry(ptr ctx, ptr args)` loads the pointer arguments of `@main` from the array `args`. If `@main` takes
sizes of named dimensions, one more element of `args` points to them, as 64-bit integers, and
`i32 @xrelay_plan(ptr ctx, ptr dims, ptr sizes)` writes the required sizes to the array `sizes` (see
`passes/loop/memory/plan_memory.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xrelay.dialects.loop.signature import PLAN
from xrelay.lowering.to_llvm import ops
from xrelay.lowering.to_llvm.runtime_functions import RELEASE
from xrelay.lowering.to_llvm.types import PTR

ENTRY = "xrelay_entry"
PLAN_ENTRY = "xrelay_plan"


def add_entries(module: ModuleOp, *, releases: bool) -> None:
    """Adds the entries of `@main` and `@main_plan`, if the module has them with a body.

    With `releases`, the entry frees all dynamic buffers after a run of `@main`.
    """
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, llvm.FuncOp) and op.body.blocks}
    if (main := functions.get("main")) is not None:
        pointers, sizes = _split(main)
        entry = _Entry(ENTRY, ["args"])
        operands = entry.elements(entry.block.args[1], pointers)
        if sizes:
            (dims,) = entry.elements(entry.block.args[1], [PTR], first=len(pointers))
            operands += entry.elements(dims, sizes)
        module.body.block.add_op(entry.call("main", operands, releases=releases))
    if (plan := functions.get(PLAN)) is not None:
        entry = _Entry(PLAN_ENTRY, ["dims", "sizes"])
        _, dims, out = entry.block.args
        module.body.block.add_op(entry.call(PLAN, [out, *entry.elements(dims, _split(plan)[1])]))


def _split(function: llvm.FuncOp) -> tuple[Sequence[Attribute], Sequence[Attribute]]:
    """Returns the types of the pointers after the context, and of the sizes after them."""
    types = function.function_type.inputs.data[1:]
    pointers = [type for type in types if type == PTR]
    return pointers, types[len(pointers) :]


class _Entry:
    """A function with pointer arguments that loads the arguments of another function and calls it."""

    def __init__(self, name: str, pointers: Sequence[str]):
        self._name = name
        self.block = Block(arg_types=[PTR] * (1 + len(pointers)))
        for argument, hint in zip(self.block.args, ("ctx", *pointers), strict=True):
            argument.name_hint = hint

    def elements(self, array: SSAValue, types: Sequence[Attribute], *, first: int = 0) -> list[SSAValue]:
        """Loads elements of these types, 8 bytes each, from an array, beginning with number `first`."""
        values: list[SSAValue] = []
        for index, type in enumerate(types, first):
            pointer = ops.element_pointer(array, [index], type)
            load = ops.load(pointer.result, type, 8)
            self.block.add_ops([pointer, load])
            values.append(load.dereferenced_value)
        return values

    def call(self, callee: str, operands: Sequence[SSAValue], *, releases: bool = False) -> Operation:
        """Returns the function, which passes the context on and returns the status of `callee`."""
        context = self.block.args[0]
        call = ops.call(SymbolRefAttr(callee), [context, *operands], i32)
        self.block.add_op(call)
        if releases:
            self.block.add_op(ops.call(SymbolRefAttr(RELEASE), [context], None))
        self.block.add_op(ops.result_of(call.results[0]))
        type_ = ops.signature(tuple(argument.type for argument in self.block.args), i32)
        return ops.function(StringAttr(self._name), type_, Region(self.block))
