"""Lowers a schedule of tensor expressions to a kernel at the loop level with a `loop.schedule`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType, UnitAttr
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects import topi
from xrelay.dialects.loop import ScheduleAttr
from xrelay.dialects.shared.attribute_names import PRIMITIVE, SCHEDULE, VALUE_NAME
from xrelay.dialects.shared.dtypes import element_type
from xrelay.errors import InputError, one_line
from xrelay.lowering.topi_to_loop.convert_topi_to_loop import ConvertTopiToLoopPass
from xrelay.passes.infra.source import full_context
from xrelay.passes.loop.signature import set_argument_attrs
from xrelay.passes.topi.inline_injective import inline_computes
from xrelay.te.bind import bind_steps, stage_loops
from xrelay.te.emit import emit_compute
from xrelay.te.schedule import Schedule
from xrelay.te.tensor import ComputeOp, PlaceholderOp, Tensor

MAIN = "main"
"""The name of the function that calls the kernel."""


def lower(schedule: Schedule, args: Sequence[Tensor], name: str = "kernel", simple_mode: bool = False) -> ModuleOp:
    """Returns a module whose @main calls one kernel: loop nests, and the `loop.schedule` to apply to them.

    `args` are the placeholders and the outputs, in any order. Raises `InputError` if one is missing or an argument is
    neither, and `ScheduleError` for an illegal step. `simple_mode` has no effect.
    """
    _check_name(name)
    inputs, outputs = _split_args(schedule, args)
    labels = _labels(schedule)
    kernel, computes = _kernel(schedule, inputs, outputs, labels, name)
    inlined = [computes[stage.op] for stage in schedule.stages if stage.is_inlined and stage.op in computes]
    inline_computes(kernel.body.block, inlined)
    module = ModuleOp([kernel, _main(kernel)])
    ConvertTopiToLoopPass().apply(full_context(), module)
    _name_arguments(module, [*inputs, *outputs])
    loops = stage_loops(kernel, schedule, labels)
    kernel.attributes[SCHEDULE] = ScheduleAttr(bind_steps(kernel.clone(), schedule, loops, labels))
    return module


def _split_args(schedule: Schedule, args: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """Returns the placeholders and the outputs, in the order of `args`."""
    for arg in args:
        _check_tensor(arg)
    inputs = [arg for arg in args if isinstance(arg.op, PlaceholderOp)]
    outputs = [arg for arg in args if not isinstance(arg.op, PlaceholderOp)]
    needed = [stage.op for stage in schedule.stages if isinstance(stage.op, PlaceholderOp)]
    missing = [op.name for op in [*needed, *schedule.outputs] if op not in [arg.op for arg in args]]
    if missing:
        raise InputError(f"the arguments lack {', '.join(missing)}", help="pass all placeholders and outputs")
    strange = [arg.name for arg in outputs if arg.op not in schedule.outputs]
    if strange:
        raise InputError(f"{strange[0]} is not an output of the schedule", help="create the schedule of all outputs")
    return inputs, outputs


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name or name == MAIN:
        raise InputError(
            f"a kernel cannot be called {name!r}", help=f"@{MAIN} is the entry that calls it; pass another name"
        )


def _check_tensor(arg: object) -> None:
    if not isinstance(arg, Tensor):
        raise InputError(f"{arg!r} is not a tensor", help="pass the placeholders and outputs: [A, B, C]")


def _labels(schedule: Schedule) -> dict[object, str]:
    """Returns a unique name for the compute of each op."""
    labels: dict[object, str] = {}
    taken: set[str] = set()
    for stage in schedule.stages:
        if isinstance(stage.op, ComputeOp):
            name, number = stage.op.name, 0
            while name in taken:
                number += 1
                name = f"{stage.op.name}_{number}"
            taken.add(name)
            labels[stage.op] = name
    return labels


def _kernel(
    schedule: Schedule, inputs: Sequence[Tensor], outputs: Sequence[Tensor], labels: dict[object, str], name: str
) -> tuple[func.FuncOp, dict[object, topi.ComputeOp]]:
    """Returns the kernel as a function on tensors, with its computes."""
    block = Block(arg_types=[_type(tensor) for tensor in inputs])
    values: dict[Tensor, SSAValue] = dict(zip(inputs, block.args, strict=True))
    for tensor, argument in zip(inputs, block.args, strict=True):
        argument.name_hint = tensor.name if SSAValue.is_valid_name(tensor.name) else None
    computes: dict[object, topi.ComputeOp] = {}
    for stage in schedule.stages:
        op = stage.op
        if isinstance(op, ComputeOp):
            computes[op] = emit_compute(op, labels[op], values)
            block.add_op(computes[op])
            _verify(computes[op], op.name)
            values[op.tensor] = computes[op].results[0]
    results = [values[tensor] for tensor in outputs]
    block.add_op(func.ReturnOp(*results))
    types = ([_type(tensor) for tensor in inputs], [_type(tensor) for tensor in outputs])
    kernel = func.FuncOp(name, types, Region(block), visibility="private")
    kernel.attributes[PRIMITIVE] = UnitAttr()
    return kernel, computes


def _verify(compute: topi.ComputeOp, name: str) -> None:
    """Raises `InputError` for a compute that reads outside of a tensor."""
    try:
        compute.verify()
    except VerifyException as error:
        text = one_line(str(error)).partition("; ")[0]
        hint = "guard the access: te.if_then_else(i < n, A[i], 0)"
        raise InputError(f"compute {name!r}: {text}", help=hint) from error


def _main(kernel: func.FuncOp) -> func.FuncOp:
    """Returns @main, which calls the kernel."""
    types = kernel.function_type
    block = Block(arg_types=types.inputs.data)
    call = func.CallOp(kernel.sym_name.data, list(block.args), list(types.outputs.data))
    block.add_ops([call, func.ReturnOp(*call.results)])
    return func.FuncOp(MAIN, types, Region(block))


def _name_arguments(module: ModuleOp, tensors: Sequence[Tensor]) -> None:
    """Names the arguments of all functions after the tensors."""
    names = _distinct([tensor.name for tensor in tensors])
    for function in module.ops:
        if isinstance(function, func.FuncOp):
            set_argument_attrs(function, [{VALUE_NAME: StringAttr(name)} for name in names])
            for name, argument in zip(names, function.args, strict=True):
                argument.name_hint = name if SSAValue.is_valid_name(name) else None


def _type(tensor: Tensor) -> TensorType[Attribute]:
    return TensorType(element_type(tensor.dtype), tensor.shape)


def _distinct(names: Sequence[str]) -> list[str]:
    result: list[str] = []
    for name in names:
        new, number = name, 0
        while new in result:
            number += 1
            new = f"{name}_{number}"
        result.append(new)
    return result
