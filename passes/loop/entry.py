"""The entry of a module at the loop level: an `@main` for a single kernel, and a check of the declared outputs."""

from __future__ import annotations

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp, StringAttr, i64
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.utils.hints import isa

from xrelay.dialects.loop import LoadOp, RowOp, StoreOp
from xrelay.dialects.loop.signature import dim_arguments, input_arguments, output_arguments, scratch_count
from xrelay.dialects.shared.attribute_names import LOOP_KERNEL, NUM_OUTPUTS, VALUE_NAME
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.op_lists import all_ops
from xrelay.errors import InputError, VerificationError
from xrelay.passes.loop.signature import argument_attrs, set_argument_attrs


def call_single_kernel(module: ModuleOp) -> None:
    """Adds an `@main` that calls the only kernel of a module, so that the kernel can be run alone.

    ```
    func.func private @k(%x: T, %y: U)  →  func.func private @k(%x: T, %y: U) …
      attributes {loop.num_outputs = 1}    func.func @main(%x: T, %y: U) attributes {loop.num_outputs = 1} {
                                             func.call @k(%x, %y) …
    ```

    A module with an `@main` or without kernels stays unchanged. Raises `InputError` for several kernels without
    `@main`, and for a kernel that does not declare its outputs, or does not receive all its memory from the caller.
    """
    functions = [op for op in module.ops if isinstance(op, func.FuncOp) and op.body.blocks]
    kernels = [function for function in functions if LOOP_KERNEL in function.attributes]
    if not kernels or any(function.sym_name.data == "main" for function in functions):
        return
    if len(kernels) > 1:
        names = ", ".join(f"@{kernel.sym_name.data}" for kernel in kernels)
        raise InputError(
            f"the module has no function @main and {len(kernels)} kernels: {names}",
            help="keep one kernel, or write an @main that calls them",
        )
    module.body.block.add_op(_main_around(kernels[0]))


def _main_around(kernel: func.FuncOp) -> func.FuncOp:
    outputs = kernel.attributes.get(NUM_OUTPUTS)
    if not isinstance(outputs, IntegerAttr):
        raise InputError(
            f"@{kernel.sym_name.data} does not specify the number of its outputs",
            help=f"the outputs are the last arguments, which the kernel writes: {NUM_OUTPUTS} = 1 : i64",
        )
    count = len(input_arguments(kernel)) + outputs.value.data
    old = list(kernel.body.block.args)
    block = Block(arg_types=[argument.type for argument in old[:count]])
    arguments: list[SSAValue] = list(block.args)
    for argument in old[count : count + scratch_count(kernel)]:
        arguments.append(_scratch(argument, block))
    block.add_ops([func.CallOp(kernel.sym_name.data, arguments, []), func.ReturnOp()])
    main = func.FuncOp("main", (list(block.arg_types), []), Region(block))
    main.attributes[NUM_OUTPUTS] = IntegerAttr(outputs.value.data, i64)
    set_argument_attrs(
        main, [_named(attributes, old[n]) for n, attributes in enumerate(argument_attrs(kernel)[:count])]
    )
    for argument, source in zip(block.args, old, strict=False):
        argument.name_hint = source.name_hint
    return main


def _scratch(argument: SSAValue, block: Block) -> SSAValue:
    """Allocates a buffer for one of the kernel's scratch arguments."""
    if not isinstance(argument.type, MemRefType):
        raise InputError(f"scratch argument %{argument.name_hint} is {argument.type}, no buffer")
    alloc = memref.AllocOp([], [], argument.type)
    block.add_op(alloc)
    return alloc.memref


def _named(attributes: dict[str, Attribute], argument: SSAValue) -> dict[str, Attribute]:
    """The attribute with the name of an argument: the declared name, or the name of its value in the text."""
    if VALUE_NAME in attributes:
        return {VALUE_NAME: attributes[VALUE_NAME]}
    return {VALUE_NAME: StringAttr(argument.name_hint)} if argument.name_hint is not None else {}


def check_declared_outputs(module: ModuleOp) -> None:
    """Raises `VerificationError` if `loop.num_outputs` contradicts the arguments or the writes of a function."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp) and NUM_OUTPUTS in op.attributes}
    counted = {name: op for name, op in functions.items() if op.body.blocks}
    for function in counted.values():
        _check_count(function)
    # Kernels are checked first, since the writes of a caller follow from their declarations.
    for function in sorted(counted.values(), key=lambda function: LOOP_KERNEL not in function.attributes):
        _check_writes(function, counted)


def _check_count(function: FuncOp) -> None:
    """Checks that the function has at least as many buffers as declared outputs."""
    count, buffers = function.attributes[NUM_OUTPUTS], len(function.body.block.args)
    buffers -= len(dim_arguments(function)) + scratch_count(function)
    if not isinstance(count, IntegerAttr) or not 0 <= count.value.data <= buffers:
        raise _error(function, f"{NUM_OUTPUTS} is {count}, and @{function.sym_name.data} takes {buffers} buffers")


def _check_writes(function: FuncOp, functions: dict[str, FuncOp]) -> None:
    """Checks that outputs are written and inputs are not."""
    written, unknown = _uses(function, functions)
    for position, value in enumerate(output_arguments(function)):
        is_empty = isa(value.type, MemRefType) and 0 in value.type.get_shape()
        if not is_empty and value not in written and value not in unknown:
            raise _error(function, f"@{function.sym_name.data} never writes its output {position}")
    for position, value in enumerate(input_arguments(function)):
        if value in written:
            raise _error(function, f"@{function.sym_name.data} writes its input {position}")


def _error(function: FuncOp, message: str) -> VerificationError:
    hint = f"count the last buffers, which the function writes, in {NUM_OUTPUTS}"
    return VerificationError(message, location=location_of(function), help=hint)


def _uses(function: FuncOp, functions: dict[str, FuncOp]) -> tuple[set[SSAValue], set[SSAValue]]:
    """The buffers that a function writes, and those that it may write through other values."""
    written, unknown = set[SSAValue](), set[SSAValue]()
    for op in all_ops(function):
        if isinstance(op, StoreOp):
            written.add(op.memref)
        elif isinstance(op, RowOp):
            written.update(op.writes)
        elif isinstance(op, CallOp) and (callee := functions.get(op.callee.string_value())) is not None:
            start, end = len(input_arguments(callee)), len(callee.body.block.args) - len(dim_arguments(callee))
            written.update(op.arguments[start:end])
        elif not isinstance(op, LoadOp | memref.DeallocOp):
            unknown.update(op.operands)
    return written, unknown
