"""`relay-first-order-gradient`: makes functions return their results and the gradients of their parameters.

Each function f of the graph then returns `(f(x, …), (df/dx, …))`. df/dx is the gradient of the sum of all elements of
the result, and has the type of the parameter x. Several results become a tuple. Forward and backward pass
are one function, because the backward pass reads values of the forward pass; later passes simplify, fuse and plan it as
any other. `docs/gradient.md` has details.

Before:

    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
      func.return %y : tensor<4xf32>
    }

After:

    func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tuple<tensor<4xf32>>) {
      %y = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
      %o = relay.ones_like(%y) : (tensor<4xf32>) -> tensor<4xf32>
      %g = relay.multiply(%o, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %t = relay.tuple(%g) : (tensor<4xf32>) -> tuple<tensor<4xf32>>
      func.return %y, %t : tensor<4xf32>, tuple<tensor<4xf32>>
    }

Calls of functions and closures are inlined first, as by `relay-inline`, which removes private functions that are only
called. Each remaining function is differentiated separately.

Raises `PassError` with the location for ops without a rule between a parameter and the result, such as loops and calls
that are not inlined; for parameters and results other than (tuples of) tensors; and for unknown types. Kernels and
functions without a body are not changed.

The ops of the function are kept and followed by those of the backward pass. It visits ops from the last to the first.
If the result depends on an op, the rule of the op (`rule_table.py`) propagates the gradient to its operands, where
gradients are added up. Values that do not depend on a parameter get no gradient. Unused ops are erased. For a
`relay.if`, another `relay.if` yields the gradients of the values that its branches capture. Each branch recomputes its
forward pass and then runs its backward pass, so only the chosen branch runs, as before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr, TensorType, TupleType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xrelay.dialects.relay.core.compatible import compatible
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.gradients.builder import GradientBuilder, not_differentiable
from xrelay.dialects.relay.structure.call import is_call
from xrelay.dialects.relay.structure.composite import CompositeOp
from xrelay.dialects.relay.structure.function import InvokeOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp, yielded
from xrelay.dialects.shared.attribute_names import FORM, VALUE_NAME
from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.op_making import copies
from xrelay.dialects.shared.requirements import new_extents
from xrelay.dialects.shared.types import is_complete, tuple_type
from xrelay.errors import ConstraintError, PassError
from xrelay.passes.functions.inline import OPAQUE_BODIES, inline_calls
from xrelay.passes.gradient.rule_table import gradient_rule
from xrelay.passes.graph.effects import pure_functions, side_effect_free_ops
from xrelay.passes.graph.replacements import erase_op
from xrelay.passes.graph.scopes import ValueUses
from xrelay.passes.graph.tuple_leaves import leaf_types, rebuild, take_apart
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import XRelayPass, changes
from xrelay.passes.relay.to_basic_block_normal_form import to_basic_block_normal_form


@dataclass(frozen=True)
class RelayFirstOrderGradientPass(XRelayPass):
    """Makes functions return the gradients of their parameters; see the module's docstring."""

    name = "relay-first-order-gradient"
    numerics = changes("functions also return the gradients of their parameters")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Differentiates the functions of the module in place."""
        inline_calls(op)
        for function in op.body.block.ops:
            if (
                isinstance(function, FuncOp)
                and not function.is_declaration
                and not OPAQUE_BODIES & function.attributes.keys()
            ):
                differentiate(function)


GRADIENTS = "gradients"
"""The name of the second result, if results have names."""


def differentiate(function: FuncOp, *, first_alone: bool = False) -> None:
    """Makes `function` return its result and the tuple of the gradients of its parameters.

    Several results become a tuple. The gradient is that of the sum of all elements of the result, with `first_alone` of
    the first tensor in it. Raises `PassError` for an op that cannot be differentiated, for parameters and results other
    than tensors and tuples of tensors, and for unknown types.
    """
    _require_tensors(function)
    if any(isinstance(op, IfOp) for op in walk_ops(function)):
        # Moves values that only one branch needs into that branch, to be differentiated there.
        to_basic_block_normal_form(function, pure_functions(function.parent_op()))
    function.attributes.pop(FORM, None)
    block = function.body.block
    end = block.last_op
    if not isinstance(end, ReturnOp):
        raise PassError(f"@{function.sym_name.data} does not end in func.return", location=describe_location(function))
    forward = [op for op in block.ops if op is not end]
    backward = BackwardPass(active_values(function))
    end.detach()
    emit = GradientBuilder(block, end)
    result = end.operands[0] if len(end.operands) == 1 else emit.tuple(*end.operands)
    adjoints = Adjoints()
    for value in end.operands[: 1 if first_alone else None]:
        _seed(adjoints[value], value, emit, first_alone=first_alone)
    backward.jobs.append(_Job(block, forward, adjoints, lambda: None))
    backward.run()
    gradients = emit.tuple(*(adjoints.total(argument, emit) for argument in block.args))
    block.add_op(ReturnOp(result, gradients))
    function.function_type = FunctionType.from_lists(list(block.arg_types), [result.type, gradients.type])
    if function.res_attrs is not None:
        named = function.res_attrs.data if len(end.operands) == 1 else (DictionaryAttr({}),)
        function.res_attrs = ArrayAttr([*named, DictionaryAttr({VALUE_NAME: StringAttr(GRADIENTS)})])
    end.drop_all_references()
    _erase_unused(function, forward, backward.jobs)


def _require_tensors(function: FuncOp) -> None:
    """Raises `PassError` for parameters or results other than (tuples of) tensors, and for unknown types."""
    location = describe_location(function)
    # Checks each type object once: ops that take fields of a wide tuple share its type. The ops keep the types alive.
    known: set[int] = set()
    for op in walk_ops(function):
        new = [type for type in op.result_types if id(type) not in known]
        if not all(map(is_complete, new)):
            raise PassError(f"the type of {op.name} is not known", location=location, help="run relay-infer-type first")
        known.update(map(id, new))
    types = function.function_type
    for type in leaf_types([*types.inputs, *types.outputs]):
        if not isinstance(type, TensorType):
            raise PassError(f"a parameter or result has type {type}, which has no gradient", location=location)
    if not types.outputs:
        raise PassError(f"@{function.sym_name.data} has no result to differentiate", location=location)


def _seed(adjoint: Adjoint, value: SSAValue, emit: GradientBuilder, *, first_alone: bool) -> None:
    """Sets the gradient of each element of `value`, or of the first tensor in it, to 1."""
    pending = [(adjoint, value)]
    while pending:
        into, current = pending.pop()
        if isinstance(current.type, TupleType):
            indices = range(len(current.type.types))[: 1 if first_alone else None]
            pending += [(into.field(index), emit.item(current, index)) for index in indices]
        else:
            into.terms.append(emit.ones_like(current))


def active_values(function: FuncOp) -> set[SSAValue]:
    """Returns the values of `function` that depend on a parameter."""
    uses, active = ValueUses(function), set[SSAValue](function.args)
    for op in walk_ops(function):
        if op is not function and any(value in active for value in uses.of(op)):
            active.update(op.results)
    return active


@dataclass
class _Job:
    """Ops to traverse backwards; their backward pass is emitted at the end of `block`."""

    block: Block
    forward: Sequence[Operation]
    adjoints: Adjoints
    finish: Callable[[], None]
    """Called after all ops have been visited."""


class BackwardPass:
    """Runs the backward pass over blocks: first the function's body, then the branches found on the way."""

    def __init__(self, active: set[SSAValue]):
        self._active = active
        self.jobs: list[_Job] = []
        """A branch comes after the block that contains it."""

    def run(self) -> None:
        """Visits all blocks."""
        for job in self.jobs:
            pending = list(job.forward)
            while pending:
                op = pending.pop()
                known = [job.adjoints.get(result) for result in op.results if result in self._active]
                adjoint = next((each for each in known if each is not None), None)
                if adjoint is not None:
                    pending += self._propagate(job, op, adjoint)
            job.finish()

    def _propagate(self, job: _Job, op: Operation, adjoint: Adjoint) -> Sequence[Operation]:
        """Propagates the gradient of the result of `op`; returns ops that replace it and are to be visited."""
        emit = GradientBuilder(job.block, op)
        if isinstance(op, LetOp):
            job.adjoints[op.value].accumulate(adjoint)
        elif isinstance(op, TupleGetItemOp):
            job.adjoints[op.data].field(op.index.value.data).accumulate(adjoint)
        elif isinstance(op, TupleOp):
            for index, field in adjoint.fields.items():
                job.adjoints[op.fields[index]].accumulate(field)
        elif isinstance(op, IfOp):
            self._branch(job, op, emit)
        elif isinstance(op, RelayOp):
            return self._apply_rule(job, op, emit)
        else:
            raise _no_rule(op)
        return ()

    # --- operators -------------------------------------------------------------------------------------------------

    def _apply_rule(self, job: _Job, op: RelayOp, emit: GradientBuilder) -> Sequence[Operation]:
        """Applies the rule of `op`. A composite op without a rule is replaced by its parts."""
        rule = gradient_rule(type(op))
        if rule is None:
            if isinstance(op, CompositeOp):
                return self._insert_parts(job, op, emit)
            raise _no_rule(op)
        try:
            found = rule(op, job.adjoints.total(op.results[0], emit), emit)
        except ConstraintError as error:
            raise not_differentiable(op, f"its rule does not fit: {error.message}") from error
        if len(found) != len(op.operands):
            raise not_differentiable(op, f"its rule returns {len(found)} gradients for {len(op.operands)} operands")
        for operand, gradient in zip(op.operands, found, strict=True):
            if gradient is not None and operand in self._active:
                self._add(job, op, operand, gradient)
        return ()

    def _add(self, job: _Job, op: Operation, operand: SSAValue, gradient: SSAValue) -> None:
        """Adds the result of a rule to the gradient of an operand."""
        emit = GradientBuilder(job.block, op)
        if gradient.type != operand.type:
            if not fits(gradient.type, operand.type):
                message = f"its rule returns a gradient of type {gradient.type} for an operand of type {operand.type}"
                raise not_differentiable(op, message)
            gradient = gradient if isinstance(operand.type, TupleType) else emit.op("reshape_like", gradient, operand)
        job.adjoints[operand].add(gradient, emit)

    def _insert_parts(self, job: _Job, op: CompositeOp, emit: GradientBuilder) -> Sequence[Operation]:
        """Inserts the parts of `op`, passes its gradient to the last one, and returns them."""
        parts, value = op.decompose_on(op.operands)
        for part in parts:
            emit.insert(part)
            if any(operand in self._active for operand in part.operands):
                self._active.update(part.results)
        self._add(job, op, value, job.adjoints.total(op.result, emit))
        return parts

    # --- branches --------------------------------------------------------------------------------------------------

    def _branch(self, job: _Job, op: IfOp, emit: GradientBuilder) -> None:
        """Selects the gradients of the values that the branches of `op` capture.

        Before:

            %r = relay.if %c : … { %e = relay.exp(%x); relay.yield %e } else { relay.yield %y }

        After, with the gradient %g of %r:

            %t = relay.if %c : … -> tuple<…> {
              %e = relay.exp(%x)
              %m = relay.multiply(%g, %e)
              … relay.yield (%m, zeros)
            } else {
              … relay.yield (zeros, %g)
            }
        """
        captured = _captured(op, self._active)
        if not captured:
            return
        gradient = job.adjoints.total(op.result, emit)
        regions = [self._region(op, region, gradient, captured) for region in op.regions]
        type = tuple_type([value.type for value in captured])
        chosen = emit.insert(IfOp(op.condition, type, regions[0], regions[1])).result
        for index, value in enumerate(captured):
            job.adjoints[value].add(emit.item(chosen, index), emit)

    def _region(self, op: IfOp, region: Region, gradient: SSAValue, captured: Sequence[SSAValue]) -> Region:
        """Returns a copy of a branch, which is traversed backwards later."""
        block = Block()
        values: dict[SSAValue, SSAValue] = {}
        forward = copies(list(region.block.ops)[:-1], values)
        block.add_ops(forward)
        for old, new in values.items():
            if old in self._active:
                self._active.add(new)
        adjoints = Adjoints()
        result = values.get(yielded(region), yielded(region))
        emit = GradientBuilder(block, op)
        adjoints[result].add(gradient, emit)

        def finish() -> None:
            total = emit.tuple(*(adjoints.total(value, emit) for value in captured))
            block.add_op(YieldOp(total))

        self.jobs.append(_Job(block, forward, adjoints, finish))
        return Region(block)


def _captured(op: IfOp, active: set[SSAValue]) -> list[SSAValue]:
    """Returns the captured values of `op` that depend on a parameter. Raises `PassError` if a branch makes extents."""
    inside = list(walk_ops(op))[1:]
    for inner in inside:
        if new_extents(inner):
            raise not_differentiable(op, f"its branch has {inner.name}, whose extents depend on the data")
    own: set[SSAValue] = {result for inner in inside for result in inner.results}
    own.update(argument for inner in inside for region in inner.regions for argument in region.block.args)
    used = dict.fromkeys(value for inner in inside for value in inner.operands)
    return [value for value in used if value in active and value not in own]


def _no_rule(op: Operation) -> PassError:
    """Returns the error for an op without a gradient rule."""
    if is_call(op) or isinstance(op, InvokeOp):
        return not_differentiable(
            op, "only calls that relay-inline can inline are differentiable; it cannot inline recursive functions"
        )
    return not_differentiable(op, "there is no rule for it")


def _erase_unused(function: FuncOp, forward: Sequence[Operation], jobs: Sequence[_Job]) -> None:
    """Erases unused ops that the backward passes of `jobs` emitted, those inside of branches first."""
    free, kept = side_effect_free_ops(function), set(forward)
    for job in reversed(jobs):
        for op in reversed(list(job.block.ops)):
            if op in free and op not in kept and op.parent is not None and op.results and _is_unused(op):
                erase_op(op)


def _is_unused(op: Operation) -> bool:
    return all(result.first_use is None for result in op.results)


class Adjoint:
    """The known gradient of one value: terms to add up, or the adjoints of the fields of a tuple."""

    def __init__(self) -> None:
        self.terms: list[SSAValue] = []
        """The terms for a tensor, each of the tensor's type."""
        self.fields: dict[int, Adjoint] = {}
        """The adjoints of a tuple's fields. Fields on which nothing depends are missing."""

    def field(self, index: int) -> Adjoint:
        """Returns the adjoint of a field."""
        return self.fields.setdefault(index, Adjoint())

    def accumulate(self, other: Adjoint) -> None:
        """Adds the adjoint of another value of the same type."""
        pending: list[tuple[Adjoint, Adjoint]] = [(self, other)]
        while pending:
            into, source = pending.pop()
            into.terms += source.terms
            pending += ((into.field(index), field) for index, field in source.fields.items())

    def add(self, gradient: SSAValue, emit: GradientBuilder) -> None:
        """Adds a value. A tuple is added field by field."""
        pending: list[tuple[Adjoint, SSAValue]] = [(self, gradient)]
        while pending:
            into, value = pending.pop()
            if isinstance(value.type, TupleType):
                pending += ((into.field(index), emit.item(value, index)) for index in range(len(value.type.types)))
            else:
                into.terms.append(value)

    def leaves(self, type: Attribute) -> Iterator[Adjoint | None]:
        """Yields the adjoints of the tensors in a value of `type`, in order; None for those without terms."""
        pending: list[tuple[Adjoint | None, Attribute]] = [(self, type)]
        while pending:
            adjoint, current = pending.pop()
            if isinstance(current, TupleType):
                fields = {} if adjoint is None else adjoint.fields
                pending += ((fields.get(index), each) for index, each in reversed([*enumerate(current.types)]))
            else:
                yield adjoint if adjoint is not None and adjoint.terms else None


class Adjoints:
    """The adjoint of each value on which the result depends."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, Adjoint] = {}

    def __getitem__(self, value: SSAValue) -> Adjoint:
        """Returns the adjoint of `value`, to which terms can be added."""
        return self._known.setdefault(value, Adjoint())

    def get(self, value: SSAValue) -> Adjoint | None:
        """Returns the adjoint of `value`, or None if the result does not depend on it."""
        return self._known.get(value)

    def total(self, value: SSAValue, emit: GradientBuilder) -> SSAValue:
        """Returns the gradient of `value` as a value of its type; zeros if the result does not depend on it."""
        if not isinstance(value.type, TupleType):
            return _sum(value, self._known.get(value), emit)
        found = list(self[value].leaves(value.type))
        if None not in found:
            sums = [_sum(value, leaf, emit) for leaf in found]
        else:
            parts, ops = take_apart(value)
            for op in ops:
                emit.insert(op)
            sums = [_sum(part, leaf, emit) for part, leaf in zip(parts, found, strict=True)]
        total, ops = rebuild(value.type, iter(sums))
        for op in ops:
            emit.insert(op)
        return total


def _sum(value: SSAValue, adjoint: Adjoint | None, emit: GradientBuilder) -> SSAValue:
    """Returns the sum of an adjoint's terms, zeros without terms. The sum replaces the terms."""
    if adjoint is None or not adjoint.terms:
        return emit.zeros_like(value)
    total, *others = adjoint.terms
    for term in others:
        total = emit.op("add", total, term)
    adjoint.terms = [total]
    return total


def fits(gradient: Attribute, type: Attribute) -> bool:
    """Returns whether a value of type `gradient` can be the gradient of one of `type`, up to names of extents."""
    if isinstance(gradient, TensorType) and isinstance(type, TensorType):
        return gradient.element_type == type.element_type and compatible(gradient, type)
    return gradient == type
