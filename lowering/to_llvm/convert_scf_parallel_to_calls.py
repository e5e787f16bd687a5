"""convert-scf-parallel-to-calls: outlines the bodies of parallel loops into functions for the thread pool.

The values that a body captures are passed in a struct on the stack; a small task function unpacks it and calls the body
function. There are two functions so that `llvm.noalias` arguments of the kernel stay noalias arguments of the body:
LLVM has no alias information for pointers loaded from a struct.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, llvm, memref, scf
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    ModuleOp,
    i64,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from xrelay.dialects.shared.attribute_names import PART_OF_KERNEL
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.op_lists import all_ops, ops_of
from xrelay.dialects.upstream.func_extras import ConstantOp
from xrelay.dialects.upstream.llvm_extras import ZeroOp
from xrelay.errors import LoweringError
from xrelay.lowering.to_llvm import ops
from xrelay.lowering.to_llvm.addressing import constant_index
from xrelay.lowering.to_llvm.constants import constant
from xrelay.lowering.to_llvm.parallel_work import WorkEstimate
from xrelay.lowering.to_llvm.types import BUFFER_ALIGNMENT, PTR, llvm_types
from xrelay.passes.infra.conversion import ConversionPattern, ConversionRewriter, apply_conversion
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.target.parallel_work import MIN_PARALLEL_WORK

PARALLEL_FOR = "xrelay_parallel_for"
"""The runtime function that distributes `n` iterations over threads."""
INDEX = IndexType()
TASK_TYPE = FunctionType.from_lists([PTR, INDEX, INDEX], [])
PARALLEL_FOR_TYPE = FunctionType.from_lists([TASK_TYPE, PTR, INDEX], [])


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

    Several dimensions are collapsed into one. A nested parallel loop becomes serial, since all threads run the outer
    one.
    """

    def __init__(self, module: ModuleOp):
        self.module = module
        self.symbols = {op.sym_name.data for op in module.ops if isinstance(op, FuncOp)}

    def rewrite(self, op: scf.ParallelOp, rewriter: ConversionRewriter) -> str | None:
        """Outlines the body, and calls the pool."""
        if op.res:
            return "reductions across the iterations of a parallel loop are not supported: reduce inside or after it"
        function = _function_around(op)
        name = self._fresh(function.sym_name.data)
        _serialise_nested(op, rewriter)
        captures, constants = _captured(op)
        count = _trip_count(op, rewriter)
        work = WorkEstimate(op, rewriter).work(count)

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
    """Calls the body directly if there is little work; ops that are inserted next run otherwise."""
    enough = rewriter.insert(arith.ConstantOp.from_int_and_width(MIN_PARALLEL_WORK, INDEX)).result
    small = rewriter.insert(arith.CmpiOp(work, enough, "ult")).result
    begin = arith.ConstantOp.from_int_and_width(0, INDEX)
    *captures, count = arguments
    inline = [begin, CallOp(name, [*captures, begin.result, count], []), scf.YieldOp()]
    otherwise = Block()
    rewriter.insert(scf.IfOp(small, [], [*inline], Region(otherwise)))
    rewriter.insertion_point = InsertPoint.at_end(otherwise)


def _function_around(op: Operation) -> FuncOp:
    around: Operation | None = op.parent_op()
    while around is not None and not isinstance(around, FuncOp):
        around = around.parent_op()
    if around is None:
        raise LoweringError("a parallel loop is not inside a function", location=describe_location(op))
    return around


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
    """Computes the product of the trip counts of all dimensions before the loop."""
    return _product(list(_trip_counts(op, rewriter)), rewriter)


def _trip_counts(op: scf.ParallelOp, rewriter: ConversionRewriter) -> Iterator[SSAValue]:
    """Yields `max(0, ceil((upper - lower) / step))` for each dimension."""
    for lower, upper, step in zip(op.lowerBound, op.upperBound, op.step, strict=True):
        bounds = [constant_index(value) for value in (lower, upper, step)]
        if all(bound is not None for bound in bounds):
            first, last, by = (bound for bound in bounds if bound is not None)
            yield rewriter.insert(arith.ConstantOp.from_int_and_width(max(0, -(-(last - first) // by)), INDEX)).result
        else:
            span = rewriter.insert(arith.SubiOp(upper, lower))
            trips = rewriter.insert(arith.CeilDivSIOp(span, step))
            zero = rewriter.insert(arith.ConstantOp.from_int_and_width(0, INDEX))
            yield rewriter.insert(arith.MaxSIOp(trips, zero)).result


def _product(factors: Sequence[SSAValue], rewriter: ConversionRewriter) -> SSAValue:
    if len(factors) == 1:
        return factors[0]
    numbers = [constant_index(factor) for factor in factors]
    if all(number is not None for number in numbers):
        product = 1
        for number in numbers:
            product *= number if number is not None else 1
        return rewriter.insert(arith.ConstantOp.from_int_and_width(product, INDEX)).result
    result = factors[0]
    for factor in factors[1:]:
        result = rewriter.insert(arith.MuliOp(result, factor)).result
    return result


def _pack(captures: Sequence[SSAValue], function: FuncOp, rewriter: ConversionRewriter) -> SSAValue:
    """Stores the captured values to a struct on the function's stack; returns its address."""
    if not captures:
        return rewriter.insert(ZeroOp(PTR)).res
    types = llvm_types()
    here, entry = rewriter.insertion_point, function.body.first_block
    assert entry is not None, "the function has a body"
    struct = _struct_type(captures)
    rewriter.insertion_point = InsertPoint.at_start(entry)
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

    one = arith.ConstantOp.from_int_and_width(1, INDEX)
    body = op.body.detach_block(0)
    builder = ConversionRewriter(llvm_types())
    builder.insertion_point = InsertPoint.at_start(body)
    iteration = body.insert_arg(INDEX, len(body.args))
    iteration.name_hint = "t"
    block.add_op(one)
    _bind_induction_variables(op, body, iteration, builder)
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


def _bind_induction_variables(
    op: scf.ParallelOp, body: Block, iteration: SSAValue, rewriter: ConversionRewriter
) -> None:
    """Computes the induction variables of all dimensions from the iteration number, last dimension fastest."""
    counts = list(_trip_counts(op, rewriter)) if len(op.step) > 1 else [iteration]
    rest = iteration
    for dimension in reversed(range(len(op.step))):
        position = rest
        if dimension > 0:
            position = rewriter.insert(arith.RemUIOp(rest, counts[dimension])).result
            rest = rewriter.insert(arith.DivUIOp(rest, counts[dimension])).result
        lower, step = op.lowerBound[dimension], op.step[dimension]
        if constant_index(step) != 1:
            position = rewriter.insert(arith.MuliOp(position, step)).result
        if constant_index(lower) != 0:
            position = rewriter.insert(arith.AddiOp(position, lower)).result
        body.args[dimension].replace_all_uses_with(position)
    for arg in reversed(body.args[:-1]):
        body.erase_arg(arg)


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


def _serialise_nested(op: scf.ParallelOp, rewriter: ConversionRewriter) -> None:
    """Turns the parallel loops inside `op` into serial ones, innermost first."""
    nested = [found for found in ops_of(op, scf.ParallelOp) if found is not op]
    for inner in reversed(nested):
        if inner.res:
            raise LoweringError(
                "a parallel loop with reductions is nested in another", location=describe_location(inner)
            )
        block = inner.body.detach_block(0)
        assert block.last_op is not None, "the body ends in scf.reduce"
        block.erase_op(block.last_op)
        block.add_op(scf.YieldOp())
        for dimension in reversed(range(len(inner.step))):
            loop = block
            if dimension > 0:
                variable = block.args[dimension]
                loop = Block(arg_types=[INDEX])
                loop.args[0].name_hint = variable.name_hint
                variable.replace_all_uses_with(loop.args[0])
                block.erase_arg(variable)
                for moved in list(block.ops):
                    moved.detach()
                    loop.add_op(moved)
            bounds = inner.lowerBound[dimension], inner.upperBound[dimension], inner.step[dimension]
            serial = scf.ForOp(*bounds, [], Region(loop))
            if dimension > 0:
                block.add_ops([serial, scf.YieldOp()])
            else:
                rewriter.insertion_point = InsertPoint.before(inner)
                rewriter.insert(serial)
        rewriter.erase(inner)
    rewriter.insertion_point = InsertPoint.before(op)


@dataclass(frozen=True)
class ConvertScfParallelToCallsPass(XRelayPass):
    """Outlines the bodies of `scf.parallel` and passes them to `xrelay_parallel_for`.

    Parallel loops nested in others become serial. Refuses loops with reductions.
    """

    name = "convert-scf-parallel-to-calls"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Outlines every parallel loop of the module."""
        apply_conversion(op, [OutlineParallel(op)], is_legal=lambda inner: type(inner) is not scf.ParallelOp)
