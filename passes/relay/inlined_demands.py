"""Keeps the requirements of an inlined call that no op of the body has, in `relay.require`, for `relay-inline`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.ops.require import RequireOp
from xrelay.dialects.relay.structure.call import instantiated
from xrelay.dialects.shared.recorded_requirements import requirements_of
from xrelay.dialects.shared.requirements_attr import RequirementsAttr
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.requirement import Requirement


def own_demands(call: Operation) -> list[Requirement]:
    """The requirements of `call` that are not requirements of an op of its callee."""
    return [demand for demand in requirements_of(call) if demand.constraint != "C6"]


def can_carry(call: Operation) -> bool:
    """Whether `call` has no requirements of its own, or only tensor results, to which `relay.require` applies."""
    return not own_demands(call) or all(isinstance(type, TensorType) for type in call.result_types)


def carried_arguments(
    call: Operation, arguments: Sequence[SSAValue], parameters: Sequence[SSAValue], bindings: Mapping[str, Dim]
) -> list[SSAValue]:
    """`arguments` with the types of `parameters`; a `relay.require` converts those whose extents differ."""
    demands = RequirementsAttr.of(own_demands(call))
    given = list(arguments)
    for index, (argument, parameter) in enumerate(zip(arguments, parameters, strict=True)):
        wanted = instantiated(parameter.type, bindings)
        if demands is not None and argument.type != wanted and isinstance(wanted, TensorType):
            given[index] = _required(argument, wanted, call, demands)
    return given


def carried_results(call: Operation, results: Sequence[SSAValue]) -> list[SSAValue]:
    """`results` of the body, subject to the requirements of `call`."""
    demands = RequirementsAttr.of(own_demands(call))
    if demands is None:
        return list(results)
    return [_required(new, old.type, call, demands) for old, new in zip(call.results, results, strict=True)]


def _required(value: SSAValue, type: Attribute, call: Operation, demands: RequirementsAttr) -> SSAValue:
    """`value` with type `type`, by a `relay.require` of `demands` before `call`."""
    op = RequireOp.create(operands=[value], result_types=[type], properties={"demands": demands})
    op.location = call.location
    Rewriter.insert_op(op, InsertPoint.before(call))
    return op.results[0]
