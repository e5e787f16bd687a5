"""`@main_plan`: what a run of an `@main` that binds names needs, computed from the sizes of the names alone.

```
func.func @main_plan(%sizes: memref<3xi64>, %n: index {xrelay.dim = "n"})
```

writes to `%sizes` the bytes of the arena, and then the open extents of the outputs, in order. It asserts what `@main`
asserts of its names, so who asks for the sizes first need not enter `@main` with names that do not fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, cf, func, memref
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, ModuleOp, StringAttr, i64
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint

from xrelay.dialects.attribute_names import DIM, LOOP_DIMS
from xrelay.dialects.loop.signature import PLAN, dim_arguments, dim_names, output_arguments
from xrelay.dialects.relay.core.dims_attr import DimsAttr
from xrelay.dialects.upstream.arith_extras import IndexCastOp
from xrelay.index_algebra.dims import DimExpr
from xrelay.passes.loop.dim_code import DimCode
from xrelay.passes.loop.signature import argument_attrs, set_argument_attrs


def add_plan_function(module: ModuleOp, main: func.FuncOp, arena_size: SSAValue) -> None:
    """Adds `@main_plan` to a module, whose `@main` computes `arena_size` from its names by ops of arith."""
    names = dim_names(main)
    extents = _open_extents(main)
    block = Block(arg_types=[MemRefType(i64, [1 + len(extents)]), *[IndexType()] * len(names)])
    for argument, hint in zip(block.args, ("sizes", *names), strict=True):
        argument.name_hint = hint
    builder = Builder(InsertPoint.at_end(block))
    copies: dict[SSAValue, SSAValue] = dict(zip(dim_arguments(main), block.args[1:], strict=True))
    for op in _shape_code(main.body.block, arena_size):
        builder.insert(op.clone(copies))
    code = DimCode(dict(zip(names, block.args[1:], strict=True)), builder)
    for place, value in enumerate([copies[arena_size], *map(code.value, extents)]):
        _store(builder, value, block.args[0], place)
    builder.insert(func.ReturnOp())
    plan = func.FuncOp(PLAN, (list(block.arg_types), []), Region(block))
    set_argument_attrs(plan, [{}, *({DIM: StringAttr(name)} for name in names)])
    module.body.block.add_op(plan)


def _open_extents(main: func.FuncOp) -> list[DimExpr]:
    """The open extents of the outputs, in order."""
    outputs = set(output_arguments(main))
    rows = zip(main.body.block.args, argument_attrs(main), strict=True)
    named = [attrs.get(LOOP_DIMS) for argument, attrs in rows if argument in outputs]
    return [dim for dims in named if isinstance(dims, DimsAttr) for dim in dims.data]


def _store(builder: Builder, value: SSAValue, sizes: SSAValue, place: int) -> None:
    index = builder.insert(arith.ConstantOp(IntegerAttr(place, IndexType())))
    builder.insert(memref.StoreOp.get(builder.insert(IndexCastOp(value, i64)), sizes, [index]))


def _shape_code(block: Block, wanted: SSAValue) -> Sequence[Operation]:
    """The ops that compute `wanted`, and the assertions of what follows from the names alone, in order."""
    names = {argument for argument in block.args if isinstance(argument.type, IndexType)}
    known: set[SSAValue] = set(names)
    computed: list[Operation] = []
    for op in block.ops:
        if is_shape_code(op) and known.issuperset(op.operands):
            known.update(op.results)
            computed.append(op)
    needed = _needed_by([wanted, *(op.operands[0] for op in computed if isinstance(op, cf.AssertOp))])
    return [op for op in computed if op in needed or isinstance(op, cf.AssertOp)]


def is_shape_code(op: Operation) -> bool:
    """Whether an op between calls computes with extents, or asserts something of them."""
    return isinstance(op, cf.AssertOp) or op.dialect_name() == arith.Arith.name


def _needed_by(values: Iterable[SSAValue]) -> set[Operation]:
    """The ops from which `values` follow."""
    needed: set[Operation] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, OpResult) and value.op not in needed:
            needed.add(value.op)
            pending += value.op.operands
    return needed
