"""`@main_plan`: computes the memory needs of an `@main` that binds names from the sizes of the names.

```
func.func @main_plan(%sizes: memref<6xi64>, %n: index {xrelay.dim = "n"})
```

writes to `%sizes` the bytes of the arena, then the dynamic extents of the outputs, in order, then upper bounds of the
bytes that a run needs in addition to the arena, as far as they are known (`memory_needs.py`): for dynamic buffers, for
kernels, and for kernels per thread; bounds are capped at 2^61. It makes the same assertions about names as `@main`, so
a caller that calls it first detects invalid names without calling `@main`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, cf, func, memref
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, MemRefType, ModuleOp, StringAttr, f64, i64
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint

from xrelay.dialects.loop.signature import PLAN, dim_arguments, dim_names, output_arguments
from xrelay.dialects.shared.attribute_names import DIM, LOOP_DIMS
from xrelay.dialects.shared.dims_attr import DimsAttr
from xrelay.dialects.upstream.arith_extras import IndexCastOp, SIToFPOp
from xrelay.index_algebra.dim_expressions import as_dim, terms_of
from xrelay.index_algebra.dims import Dim, DimExpr
from xrelay.passes.loop.dim_code import DimCode
from xrelay.passes.loop.memory_needs import MOST, MemoryNeeds
from xrelay.passes.loop.signature import argument_attrs, set_argument_attrs


def add_plan_function(module: ModuleOp, main: func.FuncOp, arena_size: SSAValue, needs: MemoryNeeds) -> None:
    """Adds `@main_plan` to a module whose `@main` computes `arena_size` from its names by ops of arith."""
    names = dim_names(main)
    extents = _open_extents(main)
    beside = (needs.dynamic_buffers, needs.kernels, needs.each_thread)
    block = Block(arg_types=[MemRefType(i64, [1 + len(extents) + len(beside)]), *[IndexType()] * len(names)])
    for argument, hint in zip(block.args, ("sizes", *names), strict=True):
        argument.name_hint = hint
    builder = Builder(InsertPoint.at_end(block))
    copies: dict[SSAValue, SSAValue] = dict(zip(dim_arguments(main), block.args[1:], strict=True))
    for op in _shape_code(main.body.block, arena_size):
        builder.insert(op.clone(copies))
    code = DimCode(dict(zip(names, block.args[1:], strict=True)), builder)
    sizes = [copies[arena_size], *map(code.value, extents), *(_at_most(dim, code, builder) for dim in beside)]
    for place, value in enumerate(sizes):
        _store(builder, value, block.args[0], place)
    builder.insert(func.ReturnOp())
    plan = func.FuncOp(PLAN, (list(block.arg_types), []), Region(block))
    set_argument_attrs(plan, [{}, *({DIM: StringAttr(name)} for name in names)])
    module.body.block.add_op(plan)


def _open_extents(main: func.FuncOp) -> list[DimExpr]:
    """The dynamic extents of the outputs, in order."""
    outputs = set(output_arguments(main))
    rows = zip(main.body.block.args, argument_attrs(main), strict=True)
    named = [attrs.get(LOOP_DIMS) for argument, attrs in rows if argument in outputs]
    return [dim for dims in named if isinstance(dims, DimsAttr) for dim in dims.data]


def _at_most(size: Dim, code: DimCode, builder: Builder) -> SSAValue:
    """Emits a sum of products of names as an `i64` capped at `MOST`; computed in f64, which cannot overflow."""

    def real(number: int) -> SSAValue:
        return builder.insert(arith.ConstantOp(FloatAttr(float(number), f64))).result

    total = real(0)
    for monomial, factor in terms_of(size).items():
        term = real(factor)
        for atom in monomial:
            number = builder.insert(IndexCastOp(code.value(as_dim(atom)), i64)).result
            term = builder.insert(arith.MulfOp(term, builder.insert(SIToFPOp(number, f64)).result)).result
        total = builder.insert(arith.AddfOp(total, term)).result
    return builder.insert(arith.FPToSIOp(builder.insert(arith.MinimumfOp(total, real(MOST))).result, i64)).result


def _store(builder: Builder, value: SSAValue, sizes: SSAValue, place: int) -> None:
    index = builder.insert(arith.ConstantOp(IntegerAttr(place, IndexType())))
    number = value if value.type == i64 else builder.insert(IndexCastOp(value, i64)).result
    builder.insert(memref.StoreOp.get(number, sizes, [index]))


def _shape_code(block: Block, wanted: SSAValue) -> Sequence[Operation]:
    """The ops that compute `wanted`, and the assertions that depend only on the names, in order."""
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
    """Whether an op between calls computes extents or asserts a condition on them."""
    return isinstance(op, cf.AssertOp) or op.dialect_name() == arith.Arith.name


def _needed_by(values: Iterable[SSAValue]) -> set[Operation]:
    """The ops that `values` depend on."""
    needed: set[Operation] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, OpResult) and value.op not in needed:
            needed.add(value.op)
            pending += value.op.operands
    return needed
