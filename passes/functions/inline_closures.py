"""Replaces calls of closures that are known at compile time by their bodies, for `relay-inline`.

If a branch yields the closure, copies of the branches contain the call, at its position. No op of the branches may run
more often there. Requirements of a call that no op of the body has become a `relay.require`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.ops.annotation import RequireOp
from xrelay.dialects.relay.structure.call import instantiated, names_in
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp, yielded
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.requirements import RequirementsAttr, made_extents, requirements_of
from xrelay.errors import PassError
from xrelay.index_algebra.dims import Dim, symbol
from xrelay.index_algebra.requirement import Requirement
from xrelay.passes.graph.dim_substitution import DimSubstitution, dim_names_in
from xrelay.passes.graph.effects import side_effect_free_ops
from xrelay.passes.graph.replacements import erase_op
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.types.call_rule import CallNames
from xrelay.passes.types.dim_names import DimNames


def known_closure(value: SSAValue) -> FnOp | None:
    """The `relay.fn` that defines `value`, possibly by way of lets and tuples; `None` if it depends on the run."""
    path: list[int] = []
    """The indices of pending tuple accesses, the innermost last."""
    while isinstance(value, OpResult):
        op = value.op
        if isinstance(op, FnOp) and not path:
            return op
        if isinstance(op, LetOp):
            value = op.value
        elif isinstance(op, TupleGetItemOp):
            path.append(op.index.value.data)
            value = op.data
        elif isinstance(op, TupleOp) and path:
            value = op.fields[path.pop()]
        else:
            return None
    return None


class _NamesOf:
    """The named dimensions of a function, collected on first use."""

    def __init__(self, function: FuncOp):
        self._function = function

    @cached_property
    def names(self) -> DimNames:
        """The names in use, and their definitions."""
        return DimNames(self._function)


@dataclass
class ClosureInliner:
    """Replaces calls of known closures that are not recursive."""

    max_ops: int
    """The maximum number of ops to add."""
    named: bool = True
    """Whether closures with named dimensions of their own are inlined."""
    added: int = 0
    inlined: int = 0
    changes_types: bool = False
    """Whether types have to be inferred again, because names were bound or a call had no type yet."""

    def expand(self, function: FuncOp) -> None:
        """Inlines the calls in `function` and in the inlined bodies."""
        taken = _NamesOf(function)
        pending = [block.first_op for block in function.body.blocks]
        while pending:
            op = pending.pop()
            if op is None:
                continue
            closure = known_closure(op.callee) if isinstance(op, InvokeOp) else None
            if isinstance(op, InvokeOp) and closure is not None and not closure.is_recursive:
                bindings = self._bindings(op, closure, taken)
                if bindings is not None:
                    pending.append(self._inline(op, closure, bindings))
                    continue
            choice = choice_of(op.callee) if isinstance(op, InvokeOp) and not op.attributes else None
            if isinstance(op, InvokeOp) and choice is not None and may_call_in_branches(op, choice):
                pending.append(self._call_in_branches(op, choice))
                continue
            pending.append(op.next_op)
            pending.extend(block.first_op for region in op.regions for block in region.blocks)

    def _call_in_branches(self, call: InvokeOp, choice: IfOp) -> IfOp:
        """Replaces `call` by a copy of `choice`, whose branches call the closures that they yield.

            %f = relay.if %c : … {… relay.yield %g} else {… relay.yield %h}
            %y = relay.invoke %f(%x)
        becomes
            %y = relay.if %c : … {… %a = relay.invoke %g(%x); relay.yield %a} else {…}
        """
        self._add(sum(1 for _ in walk_ops(choice)), call)
        regions: list[Region] = []
        for region in choice.regions:
            copy = Region()
            region.clone_into(copy)
            end = copy.block.last_op
            assert isinstance(end, YieldOp), "a branch ends in relay.yield"
            inner = InvokeOp(end.value, call.arguments, call.result.type)
            inner.location = call.location
            Rewriter.insert_op(inner, InsertPoint.before(end))
            end.operands = [inner.result]
            regions.append(copy)
        new = IfOp(choice.condition, call.result.type, regions[0], regions[1])
        new.location, new.result.name_hint = call.location, call.result.name_hint
        Rewriter.insert_op(new, InsertPoint.before(call))
        callee = call.callee
        Rewriter.replace_op(call, [], [new.result])
        erase_unused_closure(callee)
        self.inlined += 1
        return new

    def _add(self, ops: int, call: InvokeOp) -> None:
        """Counts added ops; raises `PassError` if there are too many."""
        self.added += ops
        if self.added > self.max_ops:
            raise PassError(
                f"relay-inline: inlining adds more than {self.max_ops} ops",
                location=location_of(call),
                help="raise max-ops",
            )

    def _bindings(self, call: InvokeOp, closure: FnOp, taken: _NamesOf) -> Mapping[str, Dim] | None:
        """The caller's dimension for each name that `closure` binds; `None` if `call` cannot be inlined."""
        parameters = [parameter.type for parameter in closure.parameters]
        inner = dim_names_in(closure)
        if not inner:
            return {}
        if not self.named or not can_require(call):
            return None
        names = taken.names
        own = names.unbound(names_in(parameters), closure, lambda value: value.type)
        fixed = {name: symbol(name) for name in inner if name not in own}
        found = CallNames(parameters, [argument.type for argument in call.arguments], {}, fixed).bindings
        if not set(own) <= found.keys():
            return None
        bindings = {name: found[name] for name in own}
        bindings |= _made_names(closure, call, names)
        self.changes_types |= bool(bindings)
        return bindings

    def _inline(self, call: InvokeOp, closure: FnOp, bindings: Mapping[str, Dim]) -> Operation | None:
        """Replaces `call` by the body of `closure`; returns the next op to visit."""
        self.inlined += 1
        following, callee = call.next_op, call.callee
        arguments = required_arguments(call, call.arguments, closure.parameters, bindings)
        if closure.result.has_one_use() and callee is closure.result and closure.parent is call.parent:
            for parameter, argument in zip(closure.parameters, arguments, strict=True):
                parameter.replace_all_uses_with(argument)
            ops = list(closure.body.block.ops)
            for op in ops:
                op.detach()
        else:
            self._add(sum(1 for _ in walk_ops(closure)) - 2, call)
            values: dict[SSAValue, SSAValue] = dict(zip(closure.parameters, arguments, strict=True))
            ops = [op.clone(values) for op in closure.body.block.ops]
        if bindings:
            DimSubstitution(bindings).apply(ops)
        *body, last = ops
        if not isinstance(last, YieldOp):
            raise PassError("relay-inline: a closure does not end in relay.yield", location=location_of(closure))
        result = last.value
        if call.result.name_hint is not None and isinstance(result.owner, Operation) and result.owner in body[-1:]:
            result.name_hint = call.result.name_hint
        self.changes_types |= result.type != call.result.type
        erase_op(last)
        Rewriter.insert_op(body, InsertPoint.before(call))
        Rewriter.replace_op(call, [], required_results(call, [result]))
        erase_unused_closure(callee)
        return body[0] if body else following


def _made_names(closure: FnOp, call: InvokeOp, names: DimNames) -> dict[str, Dim]:
    """A name for each extent that ops in `closure` introduce: that in the result of `call`, or a new one."""
    made = dict.fromkeys(extent.name for op in walk_ops(closure) for extent in made_extents(op) if op is not closure)
    output = yielded(closure.body).type
    shown = [name for name in names_in([output]) if name in made]
    known = names.of_call(call, shown, output, call.result.type)
    return known | {name: symbol(names.fresh(name)) for name in made if name not in known}


def erase_unused_closure(value: SSAValue) -> None:
    """Erases `value` if it is unused, with the closures, lets, tuples and ifs that become unused."""
    pending = [value]
    while pending:
        current = pending.pop()
        if current.first_use is not None or not isinstance(current, OpResult):
            continue
        op = current.op
        is_free = isinstance(op, FnOp | LetOp | TupleOp | TupleGetItemOp)
        if op.parent is not None and (is_free or (isinstance(op, IfOp) and op in side_effect_free_ops(op))):
            pending += op.operands
            erase_op(op)


FREE = (ConstantOp, FnOp, LetOp, TupleGetItemOp, TupleOp, YieldOp)
"""Ops that cost nothing, however often they run."""


def choice_of(value: SSAValue) -> IfOp | None:
    """Returns the branch that yields the closure `value`, through lets, or None."""
    while isinstance(value, OpResult) and isinstance(value.op, LetOp):
        value = value.op.value
    return value.op if isinstance(value, OpResult) and isinstance(value.op, IfOp) else None


def may_call_in_branches(call: InvokeOp, choice: IfOp) -> bool:
    """Whether `call` may be made in copies of the branches of `choice`, whose result is the closure.

    It may if the branches only make closures, or if it is the only call and no loop or closure repeats it.
    """
    if all(isinstance(op, FREE) for region in choice.regions for op in region.block.ops):
        return True
    return _is_only_use(call) and not _is_repeated(call, choice)


def _is_repeated(call: InvokeOp, choice: IfOp) -> bool:
    """Whether a loop or closure that contains `call`, but not `choice`, may run `call` more often."""
    op: Operation | None = call
    while op is not None and op.parent is not choice.parent:
        op = op.parent_op()
        if isinstance(op, FnOp | LoopOp):
            return True
    return False


def _is_only_use(call: InvokeOp) -> bool:
    """Whether `call` is the only use of its closure, also through lets."""
    value = call.callee
    while value.has_one_use() and isinstance(value, OpResult) and isinstance(value.op, LetOp):
        value = value.op.value
    return value.has_one_use()


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
