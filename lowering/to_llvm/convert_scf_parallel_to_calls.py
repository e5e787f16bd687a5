"""convert-scf-parallel-to-calls: outlines the bodies of parallel loops into functions for the thread pool.

The values that a body captures are passed in a struct on the stack; a small task function unpacks it and calls the body
function. There are two functions so that `llvm.noalias` arguments of the kernel stay noalias arguments of the body:
LLVM has no alias information for pointers loaded from a struct.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects import arith, llvm, math, memref, scf, vector
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    ModuleOp,
    VectorType,
    i64,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint

from xrelay.dialects.shared.attribute_names import PART_OF_KERNEL
from xrelay.dialects.shared.levels import level_of_class
from xrelay.dialects.shared.op_lists import all_ops, ops_of
from xrelay.dialects.upstream.func_extras import ConstantOp
from xrelay.dialects.upstream.llvm_extras import ZeroOp
from xrelay.lowering.to_llvm import ops
from xrelay.lowering.to_llvm.addressing import constant_index
from xrelay.lowering.to_llvm.ops import constant, enclosing_function
from xrelay.lowering.to_llvm.types import BUFFER_ALIGNMENT, PTR, llvm_types
from xrelay.passes.infra.conversion import ConversionPattern, ConversionRewriter, apply_conversion
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.target.cpus import MIN_PARALLEL_WORK

PARALLEL_FOR = "xrelay_parallel_for"
"""The runtime function that distributes `n` iterations over threads."""
INDEX = IndexType()
TASK_TYPE = FunctionType.from_lists([PTR, INDEX, INDEX], [])
PARALLEL_FOR_TYPE = FunctionType.from_lists([TASK_TYPE, PTR, INDEX], [])

Amount: TypeAlias = "int | SSAValue"
"""A number from 0 to `MIN_PARALLEL_WORK`, static or as an index value."""

_ACCESSES = (memref.LoadOp, memref.StoreOp, vector.LoadOp, vector.StoreOp, vector.MaskedLoadOp, vector.MaskedStoreOp)
_INSTRUCTIONS = (
    math.AbsFOp,
    math.CeilOp,
    math.CopySignOp,
    math.FloorOp,
    math.FmaOp,
    math.RoundEvenOp,
    math.SqrtOp,
    math.TruncOp,
)
"""Functions for which a CPU has an instruction; others are polynomials or calls."""

_FUNCTION_WORK = 8
"""The number of operations that a function counts as."""

_MAX_DEPTH = 8
"""The maximum depth of index arithmetic that is copied before the loop for the trip count of an inner loop."""


class OutlineParallel(ConversionPattern[scf.ParallelOp]):
    """Replaces a parallel loop nest with a call of the thread pool and a function for its body.

        func.func @k(%x: memref<64xf32>) {
          scf.parallel (%i) = (0) to (64) step (1) { body(%i, %x) }
    becomes
        func.func private @k_parallel_0(%x: memref<64xf32>, %begin: index, %end: index) {
          scf.for %t = %begin to %end step 1 { body(%t, %x) }
        }
        func.func private @k_parallel_0_task(%env: !llvm.ptr, %begin: index, %end: index) {
          unpack %env; func.call @k_parallel_0(…, %begin, %end)
        }
        func.func @k(%x: memref<64xf32>) {
          pack %x into %env
          %task = func.constant @k_parallel_0_task
          func.call @xrelay_parallel_for(%task, %env, 64)

    If the trip count, or that of an inner loop, is dynamic, the work is computed first, and the calling thread runs a
    loop with little work itself:

          scf.if %small {
            func.call @k_parallel_0(%x, 0, %n)
          } else {
            … func.call @xrelay_parallel_for(%task, %env, %n)
          }

    """

    def __init__(self, module: ModuleOp):
        self.module = module
        self.symbols = {op.sym_name.data for op in module.ops if isinstance(op, FuncOp)}

    def rewrite(self, op: scf.ParallelOp, rewriter: ConversionRewriter) -> str | None:
        """Outlines the body, and calls the pool."""
        if op.res:
            return "reductions across the iterations of a parallel loop are not supported: reduce inside or after it"
        if len(op.step) != 1 or any(inner is not op for inner in ops_of(op, scf.ParallelOp)):
            return "a loop of several dimensions, or around another parallel loop, is not supported: collapse it"
        function = enclosing_function(op)
        name = self._fresh(function.sym_name.data)
        captures, constants = _captured(op)
        count = _trip_count(op, rewriter)
        work = _WorkEstimate(op, rewriter).work(count)

        rewriter.insertion_point = InsertPoint.before(function)
        kernel = function.attributes.get(PART_OF_KERNEL, function.sym_name)
        for part in (_body_function(name, op, captures, constants), _task_function(name, captures)):
            part.attributes[PART_OF_KERNEL] = kernel
            rewriter.insert(part)
        rewriter.insertion_point = InsertPoint.before(op)
        if work is not None:
            _run_small(name, work, [*captures, count], rewriter)
        environment = _pack(captures, function, rewriter)
        task = rewriter.insert(ConstantOp(f"{name}_task", TASK_TYPE))
        rewriter.insert(CallOp(PARALLEL_FOR, [task.result, environment, count], []))
        if work is not None:
            rewriter.insert(scf.YieldOp())
        rewriter.erase(op)
        self._declare(rewriter)
        return None

    def _fresh(self, function: str) -> str:
        """Returns an unused name for the function of a loop body in `function`."""
        number = 0
        while f"{function}_parallel_{number}" in self.symbols:
            number += 1
        self.symbols.add(f"{function}_parallel_{number}")
        return f"{function}_parallel_{number}"

    def _declare(self, rewriter: ConversionRewriter) -> None:
        """Declares the pool's function, once."""
        if PARALLEL_FOR not in self.symbols:
            self.symbols.add(PARALLEL_FOR)
            rewriter.insertion_point = InsertPoint.at_end(self.module.body.block)
            rewriter.insert(FuncOp.external(PARALLEL_FOR, PARALLEL_FOR_TYPE.inputs.data, []))


def _run_small(name: str, work: SSAValue, arguments: Sequence[SSAValue], rewriter: ConversionRewriter) -> None:
    """Calls the body directly if there is little work, else runs the ops that are inserted next."""
    enough = rewriter.insert(_index(MIN_PARALLEL_WORK)).result
    small = rewriter.insert(arith.CmpiOp(work, enough, "ult")).result
    begin = _index(0)
    *captures, count = arguments
    inline = [begin, CallOp(name, [*captures, begin.result, count], []), scf.YieldOp()]
    otherwise = Block()
    rewriter.insert(scf.IfOp(small, [], [*inline], Region(otherwise)))
    rewriter.insertion_point = InsertPoint.at_end(otherwise)


def _captured(op: scf.ParallelOp) -> tuple[list[SSAValue], list[arith.ConstantOp]]:
    """Returns the values that the loop captures, in order of first use, and the constants to copy into its function."""
    found = all_ops(op)
    inside: set[SSAValue] = {value for inner in found if inner is not op for value in inner.results}
    for region in [region for inner in found if inner.regions for region in inner.regions]:
        inside.update(*[block.args for block in region.blocks])
    values: dict[SSAValue, None] = {}
    constants: dict[arith.ConstantOp, None] = {}
    for operand in [operand for reader in found for operand in reader.operands]:
        if operand in inside:
            continue
        if isinstance(operand.owner, arith.ConstantOp):
            constants[operand.owner] = None
        else:
            values[operand] = None
    return list(values), list(constants)


def _trip_count(op: scf.ParallelOp, rewriter: ConversionRewriter) -> SSAValue:
    """Computes `max(0, ceil((upper - lower) / step))` before the loop."""
    (lower,), (upper,), (step,) = op.lowerBound, op.upperBound, op.step
    first, last, by = map(constant_index, (lower, upper, step))
    if first is not None and last is not None and by is not None:
        return rewriter.insert(_index(max(0, -(-(last - first) // by)))).result
    span = rewriter.insert(arith.SubiOp(upper, lower))
    trips = rewriter.insert(arith.CeilDivSIOp(span, step))
    return rewriter.insert(arith.MaxSIOp(trips, rewriter.insert(_index(0)))).result


def _index(number: int) -> arith.ConstantOp:
    return arith.ConstantOp.from_int_and_width(number, INDEX)


def _pack(captures: Sequence[SSAValue], function: FuncOp | llvm.FuncOp, rewriter: ConversionRewriter) -> SSAValue:
    """Stores the captured values to a struct on the function's stack; returns its address."""
    if not captures:
        return rewriter.insert(ZeroOp(PTR)).res
    types = llvm_types()
    here, struct = rewriter.insertion_point, _struct_type(captures)
    rewriter.insertion_point = InsertPoint.at_start(function.body.blocks[0])
    one = rewriter.insert(constant(1, i64))
    environment = rewriter.insert(ops.on_stack(one.results[0], struct, BUFFER_ALIGNMENT)).results[0]
    environment.name_hint = "env"
    rewriter.insertion_point = here
    for index, value in enumerate(captures):
        pointer = rewriter.insert(ops.element_pointer(environment, [0, index], struct)).results[0]
        target = types.convert(value.type)
        if target != value.type:
            value = rewriter.insert(ops.cast(value, target)).results[0]
        rewriter.insert(ops.store(value, pointer))
    return environment


def _struct_type(captures: Sequence[SSAValue]) -> llvm.LLVMStructType:
    types = llvm_types()
    return llvm.LLVMStructType.from_type_list([types.convert(value.type) for value in captures])


def _task_function(name: str, captures: Sequence[SSAValue]) -> FuncOp:
    """Returns the function that the pool calls: it unpacks the struct and calls the body."""
    block = Block(arg_types=[PTR, INDEX, INDEX])
    environment, begin, end = block.args
    environment.name_hint, begin.name_hint, end.name_hint = "env", "begin", "end"
    struct, operands = _struct_type(captures), list[SSAValue]()
    for index, value in enumerate(captures):
        pointer = ops.element_pointer(environment, [0, index], struct)
        load = ops.load(pointer.results[0], struct.types.data[index])
        block.add_ops([pointer, load])
        operand: SSAValue = load.results[0]
        if operand.type != value.type:
            cast = ops.cast(operand, value.type)
            block.add_op(cast)
            operand = cast.results[0]
        operand.name_hint = value.name_hint
        operands.append(operand)
    block.add_ops([CallOp(name, [*operands, begin, end], []), ReturnOp()])
    return FuncOp(f"{name}_task", TASK_TYPE, Region(block), "private")


def _body_function(
    name: str, op: scf.ParallelOp, captures: Sequence[SSAValue], constants: Sequence[arith.ConstantOp]
) -> FuncOp:
    """Returns the function of the loop's body, moved from `op`: a serial loop over `[begin, end)`."""
    types: list[Attribute] = [*(value.type for value in captures), INDEX, INDEX]
    block = Block(arg_types=types)
    begin, end = block.args[-2:]
    begin.name_hint, end.name_hint = "begin", "end"
    values: dict[SSAValue, SSAValue] = dict(zip(captures, block.args, strict=False))
    for outside, inside in values.items():
        inside.name_hint = outside.name_hint
    for number in constants:
        clone = number.clone()
        clone.result.name_hint = number.result.name_hint
        block.add_op(clone)
        values[number.result] = clone.result
    for inner in all_ops(op):
        operands = tuple(inner.operands)
        if not values.keys().isdisjoint(operands):
            inner.operands = [values.get(operand, operand) for operand in operands]

    one = _index(1)
    body = op.body.detach_block(0)
    builder = ConversionRewriter(llvm_types())
    builder.insertion_point = InsertPoint.at_start(body)
    iteration = body.insert_arg(INDEX, len(body.args))
    iteration.name_hint = "t"
    block.add_op(one)
    _bind_induction_variable(op, body, iteration, builder)
    assert body.last_op is not None, "the body ends in scf.reduce"
    body.erase_op(body.last_op)
    body.add_op(scf.YieldOp())
    block.add_ops([scf.ForOp(begin, end, one, [], Region(body)), ReturnOp()])
    return FuncOp(
        name,
        (types, []),
        Region(block),
        "private",
        arg_attrs=ArrayAttr([*map(_argument_attributes, captures), DictionaryAttr({}), DictionaryAttr({})]),
    )


def _bind_induction_variable(
    op: scf.ParallelOp, body: Block, iteration: SSAValue, rewriter: ConversionRewriter
) -> None:
    """Computes the induction variable from the iteration number."""
    (lower,), (step,) = op.lowerBound, op.step
    value = iteration
    if constant_index(step) != 1:
        value = rewriter.insert(arith.MuliOp(value, step)).result
    if constant_index(lower) != 0:
        value = rewriter.insert(arith.AddiOp(value, lower)).result
    body.args[0].replace_all_uses_with(value)
    body.erase_arg(body.args[0])


def _argument_attributes(value: SSAValue) -> DictionaryAttr:
    """Returns the attributes that the body's argument inherits from the function's, such as `llvm.noalias`.

    A `reinterpret_cast` of an argument to another shape is the same pointer.
    """
    if isinstance(cast := value.owner, memref.ReinterpretCastOp) and cast.static_offsets.get_values() == (0,):
        value = cast.source
    function = value.block.parent_op() if isinstance(value, BlockArgument) else None
    if (
        isinstance(value, BlockArgument)
        and isinstance(function, FuncOp)
        and function.arg_attrs is not None
        and function.body.first_block is value.block
    ):
        return function.arg_attrs.data[value.index]
    return DictionaryAttr({})


class _WorkEstimate:
    """Computes the work of a parallel loop with dynamic extents before the loop.

    It counts operations on elements: arithmetic, functions, and accesses to buffers that are not on the stack, each
    times its lanes and the trip counts of the loops around it. The estimate is compared only with `MIN_PARALLEL_WORK`,
    so every number is clamped to that, and nothing overflows.
    """

    def __init__(self, loop: scf.ParallelOp, rewriter: ConversionRewriter):
        """Initialises the estimate; `rewriter` inserts before `loop`."""
        self._loop, self._rewriter = loop, rewriter

    def work(self, iterations: SSAValue) -> SSAValue | None:
        """Returns the work of `iterations`; None if it is static, or depends on values computed in the loop."""
        count = constant_index(iterations)
        inside = self._of_block(self._loop.body.block)
        if inside is None:
            return None
        work = self._product(self._cut_off(iterations if count is None else count), inside)
        return None if isinstance(work, int) else work

    # --- counted ops

    def _of_block(self, block: Block) -> Amount | None:
        """Returns the work of one execution of a block; loops in it are few and shallow."""
        return self._sum([self._of_op(op) for op in block.ops])

    def _of_op(self, op: Operation) -> Amount | None:
        if not op.regions:
            return _elements(op)
        if isinstance(op, scf.ForOp):
            trips, inside = self._trips(op), self._of_block(op.body.block)
            return None if trips is None or inside is None else self._product(trips, inside)
        if isinstance(op, scf.IfOp):
            return self._sum([self._of_block(region.block) for region in op.regions if region.blocks])
        return None

    def _trips(self, loop: scf.ForOp) -> Amount | None:
        """Returns the trip count of a loop; None if it depends on values computed inside the parallel loop."""
        if constant_index(loop.lb) != 0 or constant_index(loop.step) != 1:
            return None
        upper = self._outside(loop.ub, 0)
        return None if upper is None else self._cut_off(upper)

    # --- values before the loop

    def _outside(self, value: SSAValue, depth: int) -> Amount | None:
        """Computes a value before the parallel loop; one available operand of a minimum suffices as an upper bound."""
        number = constant_index(value)
        if number is not None:
            return number
        owner = value.owner
        place = owner if isinstance(owner, Operation) else owner.parent_op()
        if place is None or not self._loop.is_ancestor(place):
            return value
        if not isinstance(value, OpResult) or not isinstance(owner, Operation) or depth == _MAX_DEPTH:
            return None
        parts = [self._outside(operand, depth + 1) for operand in owner.operands]
        known = [part for part in parts if part is not None]
        if isinstance(owner, arith.MinSIOp | arith.MinUIOp) and len(known) == 1:
            return known[0]
        if owner.dialect_name() != arith.Arith.name or value.type != INDEX or len(known) < len(parts):
            return None
        copy = owner.clone(dict(zip(owner.operands, map(self._value, known), strict=True)))
        return self._rewriter.insert(copy).results[0]

    # --- clamped sums and products

    def _cut_off(self, value: Amount) -> Amount:
        if isinstance(value, int):
            return max(0, min(value, MIN_PARALLEL_WORK))
        return self._rewriter.insert(arith.MinUIOp(value, self._constant(MIN_PARALLEL_WORK))).result

    def _product(self, left: Amount, right: Amount) -> Amount:
        if isinstance(left, int) and isinstance(right, int):
            return self._cut_off(left * right)
        if isinstance(left, int):
            left, right = right, left
        if right == 1 or isinstance(left, int):
            return left
        return self._cut_off(self._rewriter.insert(arith.MuliOp(left, self._value(right))).result)

    def _sum(self, parts: Sequence[Amount | None]) -> Amount | None:
        if None in parts:
            return None
        total: Amount = self._cut_off(sum(part for part in parts if isinstance(part, int)))
        for part in parts:
            if part is not None and not isinstance(part, int):
                total = part if total == 0 else self._add(part, total)
        return total

    def _add(self, left: SSAValue, right: Amount) -> Amount:
        return self._cut_off(self._rewriter.insert(arith.AddiOp(left, self._value(right))).result)

    def _value(self, amount: Amount) -> SSAValue:
        return self._constant(amount) if isinstance(amount, int) else amount

    def _constant(self, number: int) -> SSAValue:
        return self._rewriter.insert(_index(number)).result


def _elements(op: Operation) -> int:
    """Returns the number of elements that an op computes or moves."""
    weight = _weight(type(op))
    if weight is None:
        return 0 if memref.AllocaOp in {type(operand.owner) for operand in op.operands} else _lanes(op)
    if not weight or all(type(result.type) is IndexType for result in op.results):
        return 0
    return _lanes(op) * weight


@cache
def _weight(kind: type[Operation]) -> int | None:
    """Returns the cost per element of ops of a class; None for an access to memory."""
    if issubclass(kind, _ACCESSES):
        return None
    if level_of_class(kind) not in (arith.Arith.name, math.Math.name) or issubclass(kind, arith.ConstantOp):
        return 0
    return _FUNCTION_WORK if level_of_class(kind) == math.Math.name and not issubclass(kind, _INSTRUCTIONS) else 1


def _lanes(op: Operation) -> int:
    types = [value.type for value in (*op.results, *op.operands)]
    return max([type.element_count() for type in types if isinstance(type, VectorType)], default=1)


@dataclass(frozen=True)
class ConvertScfParallelToCallsPass(XRelayPass):
    """Outlines the bodies of `scf.parallel` and passes them to `xrelay_parallel_for`.

    Refuses loops with reductions, of several dimensions, and inside of other parallel loops.
    """

    name = "convert-scf-parallel-to-calls"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Outlines every parallel loop of the module."""
        apply_conversion(op, [OutlineParallel(op)], is_legal=lambda inner: type(inner) is not scf.ParallelOp)
