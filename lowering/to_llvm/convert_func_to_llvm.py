"""convert-func-to-llvm: the calling convention of kernels.

`func.func @k(%x: memref<…>)` becomes `llvm.func @k(%ctx: !llvm.ptr, %x: !llvm.ptr) -> i32`. The result is a status, 0
for success. A caller passes its `%ctx` on, and returns a callee's status immediately if it is not 0.

A failed `cf.assert` stores a status in `ctx->status`, unless another thread's failure is already there, and returns it:
`reason | (kernel + 1) << 8`, where the beginning of the assertion's message determines `reason` (`failures.py`), and
`kernel` numbers the private functions in the order of the module. In public functions and in kernels the status is the
reason alone; the caller of a kernel adds the number of the kernel or of the call. In functions with named dimensions,
in `@main` and `@main_plan`, and in graph functions that allocate, the reason is `CHECK`, and the number is that of the
assertion in the module attribute `xrelay.checks`.

A failing function frees its heap buffers before it returns (`function_exits.py`). Those of a graph function are dynamic
buffers, which the context lists (`runtime_functions.py`); they are freed at the end of the run.

A graph function may return buffers and extents: `func.func @f(%x: memref<4xf32>, %n: index) -> (memref<?xf32>, index)`
gets one more pointer argument, after its buffers and before its extents, to 64 bits for each result: the address of a
buffer, or an extent. The contents are valid if the status is 0.

Functions that are always inlined (`expansions.py`) keep their signature: `llvm.func internal @f(%x: f32) -> f32`.

A call of `@xrelay_record_index` before an assertion stores the out-of-range index in the context; a module with its
declaration gets a definition.

`@main` gets an entry function for the runtime (`entry.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from xdsl.context import Context
from xdsl.dialects import cf, func, llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IndexType,
    MemRefType,
    ModuleOp,
    UnitAttr,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from xrelay.dialects.loop.signature import dim_names
from xrelay.dialects.shared.attribute_names import CALLS, GRAPH_FUNCTION, KERNELS, RECURSION
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.op_lists import ops_in, ops_of
from xrelay.dialects.upstream.func_extras import ConstantOp
from xrelay.dialects.upstream.llvm_extras import CmpXchgOp
from xrelay.errors import LoweringError
from xrelay.lowering.interface import has_interface, write_checks, write_kernels
from xrelay.lowering.loop_to_scf.graph_function import CANCELLED, POLL
from xrelay.lowering.loop_to_scf.lists import LIST_FUNCTIONS
from xrelay.lowering.to_llvm import ops
from xrelay.lowering.to_llvm.entry import add_entries
from xrelay.lowering.to_llvm.expansions.inlined_ops import is_always_inline
from xrelay.lowering.to_llvm.failures import (
    KernelNumbers,
    check_status,
    computed_extents,
    kernel_around,
    kernel_bits,
    kernel_numbers,
    record_extents,
    status_of,
)
from xrelay.lowering.to_llvm.function_exits import FunctionExits, LiveBuffer, live_allocations_at_exits
from xrelay.lowering.to_llvm.lists import LISTS
from xrelay.lowering.to_llvm.ops import constant, element_pointer, load, on_stack, split_before, store
from xrelay.lowering.to_llvm.runtime_functions import (
    BUFFER_FREE,
    BUFFER_NEW,
    BUFFERS,
    SCRATCH,
    SCRATCH_FUNCTIONS,
    RuntimeFunctions,
    define_record_index,
)
from xrelay.lowering.to_llvm.types import PTR, llvm_types
from xrelay.passes.infra.conversion import ConversionPattern, ConversionRewriter, apply_conversion, legal_outside
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.loop.nest_queries import require_lowered_blocks

CANCEL = 6
"""The position in the context of the word that cancels a run, in words of 8 bytes (`runtime/abi.py`)."""
_SUCCESS: Final = DenseArrayBase.from_list(i64, [1])
"""The position of the second result of `llvm.cmpxchg`: whether the word was replaced."""


@dataclass(frozen=True)
class _Convention:
    """Facts that all functions of a module share: numbers of kernels and checks, and names of inlined functions."""

    kernels: KernelNumbers
    checks: Mapping[cf.AssertOp, int]
    inlined: Collection[str]

    def status(self, op: cf.AssertOp, kernel: int | None) -> int:
        """Returns the status of a failed assertion in a function; `kernel` is the number of the function, or None."""
        check = self.checks.get(op)
        if op.msg.data == CANCELLED:  # The status of a cancellation has no kernel number.
            return status_of(CANCELLED, None)
        return status_of(op.msg.data, kernel) if check is None else check_status(check)


class ConvertFunction(ConversionPattern[func.FuncOp]):
    """`func.func @k(%x: memref<4xf32>) {…}` → `llvm.func @k(%ctx: !llvm.ptr, %x: !llvm.ptr) -> i32 {…}`.

    Calls, assertions and returns in the body are converted with it, last to first, because each splits its block.
    """

    def __init__(self, convention: _Convention):
        self.convention = convention

    def rewrite(self, op: func.FuncOp, rewriter: ConversionRewriter) -> str | None:
        """Converts the signature and the body."""
        if is_always_inline(op):
            return _convert_inline(op, rewriter)
        is_poll = op.is_declaration and op.sym_name.data == POLL
        if is_poll or any(functions.is_declaration(op) for functions in (BUFFERS, LISTS, SCRATCH)):
            rewriter.erase(op)
            return None
        outputs = op.function_type.outputs.data
        if not _can_be_returned(outputs):
            return f"@{op.sym_name.data} returns values; results go to memory that the caller passes"
        place = _position_of_results(op.function_type.inputs.data) if outputs else None
        inputs = [rewriter.types.convert(type_) for type_ in op.function_type.inputs]
        if place is not None:
            inputs.insert(place, PTR)
        new = ops.function(
            op.sym_name,
            ops.signature((PTR, *inputs), i32),
            op.detach_region(op.body),
            properties=_kept_properties(op, place),
            attributes={name: value for name, value in op.attributes.items() if name.startswith("llvm.")},
        )
        rewriter.insert(new)
        if new.body.blocks:
            _BodyConversion(new.body, self.convention, op, rewriter).run(place)
        rewriter.erase(op)
        return None


def _convert_inline(op: func.FuncOp, rewriter: ConversionRewriter) -> str | None:
    """Converts a function that is always inlined: values in, one value out."""
    if len(op.function_type.outputs.data) != 1 or not op.body.blocks:
        return f"@{op.sym_name.data} is always inlined: it must have a body and return one value"
    inputs = [rewriter.types.convert(type_) for type_ in op.function_type.inputs]
    output = rewriter.types.convert(op.function_type.outputs.data[0])
    new = llvm.FuncOp(
        op.sym_name,
        llvm.LLVMFunctionType(inputs, output),
        llvm.LinkageAttr("internal"),
        body=op.detach_region(op.body),
        extra_attrs={"always_inline": UnitAttr()},
    )
    rewriter.insert(new)
    for block in new.body.blocks:
        rewriter.convert_block_arguments(block)
        if isinstance(last := block.last_op, func.ReturnOp):
            rewriter.begin(last)
            rewriter.insert(llvm.ReturnOp(rewriter.operand(last.arguments[0])))
            rewriter.erase(last)
    rewriter.erase(op)
    return None


def _kept_properties(op: func.FuncOp, place: int | None) -> dict[str, Attribute]:
    """Returns the properties of an `llvm.func`: its arguments' attributes, and `no_inline` if it is private.

    `place` is the number of the argument that points to the results.
    """
    properties: dict[str, Attribute] = {}
    if op.arg_attrs is not None:
        attributes = list(op.arg_attrs)
        if place is not None:
            attributes.insert(place, DictionaryAttr({}))
        properties["arg_attrs"] = ArrayAttr([DictionaryAttr({}), *attributes])
    if op.sym_visibility is not None and op.sym_visibility.data == "private":
        properties["no_inline"] = UnitAttr()
    return properties


class _BodyConversion:
    """Converts a function's body to the calling convention; its other ops are already in the llvm dialect."""

    def __init__(self, body: Region, convention: _Convention, function: func.FuncOp, rewriter: ConversionRewriter):
        """Initialises the conversion of the body of `function`."""
        self._body, self._convention, self._rewriter = body, convention, rewriter
        around, numbers = kernel_around(function), convention.kernels
        self._kernel, self._names = numbers.written.get(around), dim_names(function)
        self._added = numbers.added

    def run(self, place: int | None) -> None:
        """Converts the body; argument `place`, if given, points to the results."""
        entry, rewriter = self._body.first_block, self._rewriter
        assert entry is not None, "a function with a body has an entry block"
        rewriter.convert_block_arguments(entry)
        context = entry.insert_arg(PTR, 0)
        context.name_hint = "ctx"
        results = None if place is None else entry.insert_arg(PTR, place + 1)
        if results is not None:
            results.name_hint = "buffers"
        exits, held = FunctionExits(context, self._body), live_allocations_at_exits(self._body)
        for op in reversed(self._to_convert()):
            rewriter.begin(op)
            if isinstance(op, func.CallOp):
                self._call(op, exits, held.get(op))
            elif isinstance(op, cf.AssertOp):
                self._assert(op, context, exits.fail(held.get(op)))
            elif isinstance(op, ConstantOp):
                rewriter.replace(op, rewriter.insert(llvm.AddressOfOp(op.value, PTR)))
            else:
                if results is not None:
                    _store_results(op, results, rewriter)
                rewriter.insert(ops.result_of(rewriter.insert(constant(0, i32)).results[0]))
                rewriter.erase(op)

    def _to_convert(self) -> list[func.CallOp | func.ReturnOp | ConstantOp | cf.AssertOp]:
        """Returns the ops of the body to convert; raises `LoweringError` for other ops of func."""
        found: list[func.CallOp | func.ReturnOp | ConstantOp | cf.AssertOp] = []
        for op in ops_in(self._body):
            if _outside_func(op) and type(op) is not cf.AssertOp:
                continue
            if isinstance(op, _CONVERTED):
                found.append(op)
            else:
                reason = f"failed to convert {op.name}: no pattern converts the op"
                raise LoweringError(reason, location=describe_location(op))
        return found

    def _assert(self, op: cf.AssertOp, context: SSAValue, exit: Block) -> None:
        """`cf.assert %c, "…"` → `llvm.cond_br %c, ^rest, ^fail(number)`."""
        status = self._rewriter.insert(constant(self._convention.status(op, self._kernel), i32)).result
        if op in self._convention.checks and (extents := computed_extents(op, self._names)) is not None:
            exit = record_extents(context, extents, exit)
        _branch(op, op.arg, exit, status, self._rewriter)

    def _call(self, op: func.CallOp, exits: FunctionExits, held: LiveBuffer | None) -> None:
        callee = op.callee.string_value()
        if callee in self._convention.inlined:
            _convert_inline_call(op, self._rewriter)
        elif callee in _OF_MEMORY or callee in LIST_FUNCTIONS:
            _convert_buffer_call(op, exits.context, self._rewriter)
        elif callee == POLL:
            _convert_poll(op, exits.context, self._rewriter)
        else:
            number = self._added.get(op)
            exit = exits.propagate(held) if number is None else exits.add_kernel(held, kernel_bits(number))
            _convert_call(op, self._body, exit, exits.context, self._rewriter)


def _convert_call(op: func.CallOp, body: Region, exit: Block, context: SSAValue, rewriter: ConversionRewriter) -> None:
    """`func.call @k(%x)` → `%s = llvm.call @k(%ctx, %x)`, and a branch to the exit unless `%s` is 0."""
    operands, results = rewriter.operands(op.arguments), None
    if op.results:
        operands, results = _operands_with_results(op, body, rewriter)
    status = rewriter.insert(ops.call(op.callee, [context, *operands], i32)).results[0]
    zero = rewriter.insert(constant(0, i32)).results[0]
    fine = rewriter.insert(ops.compare("eq", status, zero)).results[0]
    _branch(op, fine, exit, status, rewriter, [] if results is None else _load_results(op, results, rewriter))


def _convert_inline_call(op: func.CallOp, rewriter: ConversionRewriter) -> None:
    """`%y = func.call @f(%x)` → `%y = llvm.call @f(%x)`: functions that are always inlined return a value."""
    (result,) = op.results
    call = ops.call(op.callee, rewriter.operands(op.operands), rewriter.types.convert(result.type))
    rewriter.replace(op, rewriter.insert(call))


def _convert_buffer_call(op: func.CallOp, context: SSAValue, rewriter: ConversionRewriter) -> None:
    """`%p = func.call @xrelay_buffer_new(%bytes)` → `%p = llvm.call @xrelay_buffer_new(%ctx, %bytes)`."""
    returned = PTR if op.results else None
    call = ops.call(op.callee, [context, *rewriter.operands(op.operands)], returned)
    rewriter.replace(op, rewriter.insert(call))


def _convert_poll(op: func.CallOp, context: SSAValue, rewriter: ConversionRewriter) -> None:
    """`func.call @xrelay_poll()` → a test that the context's cancellation word, set by another thread, is 0."""
    place = rewriter.insert(ops.element_pointer(context, [CANCEL], i64)).results[0]
    zero = rewriter.insert(constant(0, i64)).result
    exchange = rewriter.insert(CmpXchgOp(place, zero, zero)).res
    is_zero = llvm.ExtractValueOp(_SUCCESS, exchange, i1)
    rewriter.replace(op, [rewriter.insert(is_zero).res])


def _branch(
    op: Operation,
    fine: SSAValue,
    target: Block,
    status: SSAValue,
    rewriter: ConversionRewriter,
    results: Sequence[SSAValue] = (),
) -> None:
    """Continues after `op` if `fine`, else branches to `target` with `status`; `results` replace those of `op`."""
    block = op.parent_block()
    assert block is not None, "the op is in a block"
    rest = split_before(op)
    rewriter.replace(op, results)
    rewriter.insertion_point = InsertPoint.at_end(block)
    rewriter.insert(ops.choose(fine, rest, (), target, (status,)))


# --- results

_EXTENTS = (IndexType(), i64)
"""The types of extents, before and after the bodies of functions were converted."""


def _can_be_returned(types: Sequence[Attribute]) -> bool:
    """Whether all of these types are buffers or extents."""
    return all(isinstance(type_, MemRefType | IndexType) for type_ in types)


def _position_of_results(inputs: Sequence[Attribute]) -> int:
    """Returns the position of the pointer to the results among arguments of these types, before the extents."""
    return len(inputs) - sum(1 for _ in takewhile(lambda type_: type_ in _EXTENTS, reversed(inputs)))


def _store_results(op: func.ReturnOp, results: SSAValue, rewriter: ConversionRewriter) -> None:
    """Stores the results of a function to the memory at `results`."""
    for number, value in enumerate(op.arguments):
        pointer = rewriter.insert(element_pointer(results, [number], i64)).results[0]
        rewriter.insert(store(rewriter.operand(value), pointer, 8))


def _operands_with_results(
    op: func.CallOp, body: Region, rewriter: ConversionRewriter
) -> tuple[list[SSAValue], SSAValue]:
    """Returns the operands of a call with memory for its results inserted, and that memory, on the caller's stack."""
    entry, here = body.first_block, rewriter.insertion_point
    assert entry is not None, "the call is in a function"
    rewriter.insertion_point = InsertPoint.at_start(entry)
    one = rewriter.insert(constant(1, i64))
    array = llvm.LLVMArrayType(len(op.results), i64)
    results = rewriter.insert(on_stack(one.results[0], array, 8)).results[0]
    rewriter.insertion_point = here
    operands = rewriter.operands(op.arguments)
    operands.insert(_position_of_results([argument.type for argument in op.arguments]), results)
    return operands, results


def _load_results(op: Operation, results: SSAValue, rewriter: ConversionRewriter) -> list[SSAValue]:
    """Loads the results of a call from the memory at `results`."""
    values: list[SSAValue] = []
    for number, result in enumerate(op.results):
        type_ = PTR if isinstance(result.type, MemRefType) else i64
        pointer = rewriter.insert(element_pointer(results, [number], i64)).results[0]
        values.append(rewriter.insert(load(pointer, type_, 8)).results[0])
    return values


# --- the pass


def _checks(module: ModuleOp) -> list[cf.AssertOp]:
    """Returns the assertions in functions around kernels, and those of recursions that became loops.

    Functions around kernels take named dimensions, allocate, or are the entry of a model. Checks occur even if all
    sizes are static, since an operand may specify a shape that does not fit.
    """
    is_model = has_interface(module)
    functions = [op for op in module.ops if isinstance(op, func.FuncOp) and op.body.blocks]
    entries = {op for op in functions if is_model and op.sym_name.data == "main"}
    checked = entries | {op for op in functions if GRAPH_FUNCTION in op.attributes or dim_names(op)}
    assertions = ((each, op) for each in functions for op in ops_of(each, cf.AssertOp))
    asked = [op for function, op in assertions if function in checked or RECURSION in op.attributes]
    return [op for op in asked if op.msg.data != CANCELLED]


_OF_MEMORY = frozenset({BUFFER_NEW, BUFFER_FREE, *SCRATCH_FUNCTIONS})
_CONVERTED = (func.CallOp, func.ReturnOp, ConstantOp, cf.AssertOp)
_outside_func = legal_outside("func")


@dataclass(frozen=True)
class ConvertFuncToLLVMPass(XRelayPass):
    """Converts functions, calls, returns and assertions to the llvm dialect, in the convention of this module.

    Runs last: the bodies must be in the llvm dialect. The number in a status is a row of the module attribute
    `xrelay.kernels`, continued by `xrelay.calls`; this pass writes both. Refuses functions that return anything but
    buffers and extents, and blocks of the loop level.
    """

    name = "convert-func-to-llvm"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Converts every function, then adds the entry."""
        require_lowered_blocks(op, self.name)
        convert_functions(op)


def convert_functions(op: ModuleOp) -> None:
    """Converts the functions of a module whose bodies are in the llvm dialect, and adds the entry."""
    numbers = kernel_numbers(op)
    write_kernels(op, KERNELS, numbers.kernels)
    write_kernels(op, CALLS, numbers.calls)
    inlined = {each.sym_name.data for each in op.ops if isinstance(each, func.FuncOp) and is_always_inline(each)}
    convention = _Convention(numbers, write_checks(op, _checks(op)), inlined)
    has_lists, has_scratch, returning = _declares(LISTS, op), _declares(SCRATCH, op), _returning(op)
    has_buffers = has_lists or _declares(BUFFERS, op)
    apply_conversion(op, [ConvertFunction(convention)], is_legal=_outside_func, types=llvm_types(), nested=False)
    define_record_index(op)
    if has_lists:
        LISTS.define(op)
    if has_buffers or returning:
        BUFFERS.define(op)
    if has_scratch:
        SCRATCH.define(op)
    add_entries(op, releases=has_buffers and not returning)


def _declares(functions: RuntimeFunctions, module: ModuleOp) -> bool:
    return any(map(functions.is_declaration, module.ops))


def _returning(module: ModuleOp) -> bool:
    """Whether `@main` returns buffers."""
    functions = (op for op in module.ops if isinstance(op, func.FuncOp) and op.sym_name.data == "main")
    return any(function.body.blocks and function.function_type.outputs.data for function in functions)
