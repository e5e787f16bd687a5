"""Replaces layers whose weights are parameters by sparse layers, for `relay-dense-to-sparse` and similar passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.types import element_type_of
from xrelay.errors import ConstraintError, PassError
from xrelay.passes.graph.remarks import Remark, Remarks, report
from xrelay.passes.graph.rewriting import Emitter
from xrelay.passes.infra.verify import walk_ops
from xrelay.relay.passes.parameters import Parameters, free_functions
from xrelay.relay.passes.sparse_weights import KERNEL_LAYOUTS, Sizes, add_sparse_parameters

LayerT = TypeVar("LayerT", bound=RelayOp)


def require_layout(pass_name: str, layout: str, kernel_size: int) -> None:
    """Raises `PassError` for a layout or a kernel size that sparse convolutions do not support."""
    if layout not in KERNEL_LAYOUTS:
        raise PassError(f"{pass_name}: the layout is {layout!r}, it must be NHWC or NCHW")
    if kernel_size < 1 or kernel_size % 2 == 0:
        raise PassError(f"{pass_name}: kernel-size is {kernel_size}, it must be odd")


def make_sparse(
    module: ModuleOp,
    pass_name: str,
    kind: type[LayerT],
    sizes: Mapping[str, Sizes],
    why_not: Callable[[LayerT], str | None],
    sparse: Callable[[LayerT, list[SSAValue]], RelayOp],
) -> list[Remark]:
    """Replaces ops of `kind` whose second operand is a parameter in `sizes` by sparse ops; returns remarks.

    `sparse` returns the new op for an op and the arrays of its sparse weight. `why_not` returns the reason why an op
    cannot be replaced, or `None`. Raises `PassError` if the arrays do not match the op.
    """
    remarks = Remarks(pass_name)
    for function in free_functions(module):
        parameters, replaced = Parameters(function), list[SSAValue]()
        for op in _layers(function, kind):
            name = parameters.name_of(op.operands[1])
            if name is None or name not in sizes:
                continue
            reason = why_not(op)
            if reason is not None:
                remarks.refused(op, reason)
                continue
            remarks.applied(op, f"its weight {name} is sparse now")
            replaced.append(op.operands[1])
            arrays = add_sparse_parameters(parameters, name, sizes[name], element_type_of(op.operands[1].type))
            _replace(op, arrays, name, pass_name, sparse)
        if replaced:
            parameters.finish(replaced)
    report(remarks.all)
    return remarks.all


def _layers(function: FuncOp, kind: type[LayerT]) -> list[LayerT]:
    return [op for op in walk_ops(function) if isinstance(op, kind)]


def _replace(
    op: LayerT, arrays: list[SSAValue], name: str, pass_name: str, sparse: Callable[[LayerT, list[SSAValue]], RelayOp]
) -> None:
    """Replaces `op` by the sparse op; raises `PassError` if the arrays of the weight do not match `op`."""
    try:
        made = sparse(op, arrays)
    except ConstraintError as error:
        raise PassError(
            f"{pass_name}: the sparse arrays of {name!r} do not match: {error.message}", location=describe_location(op)
        ) from error
    if made.results[0].type != op.results[0].type:
        found, wanted = made.results[0].type, op.results[0].type
        made.erase()
        raise PassError(
            f"{pass_name}: with the sparse arrays of {name!r} the result is {found}, not {wanted}",
            location=describe_location(op),
        )
    emit = Emitter(PatternRewriter(op), op)
    emit.replace(emit.insert(made).results[0])
