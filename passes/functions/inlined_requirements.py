"""Keeps the requirements of an inlined call that no op of the body has, in `relay.require`, for `relay-inline`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.ops.annotation import RequireOp
from xrelay.dialects.relay.structure.call import instantiated
from xrelay.dialects.shared.recorded_requirements import requirements_of
from xrelay.dialects.shared.requirements_attr import RequirementsAttr
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.requirement import Requirement


def own_requirements(call: Operation) -> list[Requirement]:
    """The requirements of `call` that are not requirements of an op of its callee."""
    return [requirement for requirement in requirements_of(call) if requirement.constraint != "C6"]


def can_require(call: Operation) -> bool:
    """Whether `call` has no requirements of its own, or only tensor results, to which `relay.require` applies."""
    return not own_requirements(call) or all(isinstance(type, TensorType) for type in call.result_types)


def required_arguments(
    call: Operation, arguments: Sequence[SSAValue], parameters: Sequence[SSAValue], bindings: Mapping[str, Dim]
) -> list[SSAValue]:
    """`arguments` with the types of `parameters`; a `relay.require` converts those whose extents differ."""
    requirements = RequirementsAttr.of(own_requirements(call))
    converted = list(arguments)
    for index, (argument, parameter) in enumerate(zip(arguments, parameters, strict=True)):
        expected = instantiated(parameter.type, bindings)
        if requirements is not None and argument.type != expected and isinstance(expected, TensorType):
            converted[index] = _required(argument, expected, call, requirements)
    return converted


def required_results(call: Operation, results: Sequence[SSAValue]) -> list[SSAValue]:
    """`results` of the body, subject to the requirements of `call`."""
    requirements = RequirementsAttr.of(own_requirements(call))
    if requirements is None:
        return list(results)
    return [_required(new, old.type, call, requirements) for old, new in zip(call.results, results, strict=True)]


def _required(value: SSAValue, type: Attribute, call: Operation, requirements: RequirementsAttr) -> SSAValue:
    """`value` with type `type`, by a `relay.require` of `requirements` before `call`."""
    op = RequireOp.create(operands=[value], result_types=[type], properties={"demands": requirements})
    op.location = call.location
    Rewriter.insert_op(op, InsertPoint.before(call))
    return op.results[0]
