"""`relay-inline`: replaces calls of functions and closures by their bodies.

Later passes work on one function at a time, and fusion does not cross a call. The pass first replaces the calls of
functions, then each `relay.invoke` of a known closure, also if lets and tuples are between the closure and the call.
Calls of recursive functions and closures, and of closures that a run chooses, remain. Kernels (`relay.primitive`),
functions of lower levels and functions without a body are never inlined.

Before:

    %y = func.call @square(%x) : (T) -> T
    …
    func.func private @square(%a: T) -> T {
      %m = relay.multiply(%a, %a) : (T, T) -> T
      func.return %m : T
    }

After:

    %y = relay.multiply(%x, %x) : (T, T) -> T

The dimensions of a `relay.call` replace the callee's names in the body. Extents that ops of the body introduce get new
names:

    %y = relay.call @found<n = 2 * m, k = j>(%x) {relay.binds = #relay.bounds<j>} : (…) -> tensor<?x1xi32, …<j>>

becomes

    %y = relay.argwhere(%x) {relay.binds = #relay.bounds<j <= 2 * m>} : (…) -> tensor<?x1xi32, …<j>>

Then the types are inferred again, so that each op records its requirements. The call's own requirements (equal extents
of two arguments, a name that is not negative) become a `relay.require` for each result of the call. An argument whose
extents differ from the parameter's gets the parameter's type:

    %y = relay.call @sum<n = m>(%x, %z) {relay.requires = #relay.requirements<p == m "C0 argument extent">}
        : (tensor<?xf32, …<m>>, tensor<?xf32, …<p>>) -> tensor<?xf32, …<m>>

becomes

    %w = relay.require(%z) {demands = #relay.requirements<p == m "C0 argument extent">}
        : (tensor<?xf32, …<p>>) -> tensor<?xf32, …<m>>
    %s = relay.add(%x, %w) : (…) -> tensor<?xf32, …<m>>
    %y = relay.require(%s) {demands = #relay.requirements<p == m "C0 argument extent">} : (…) -> …

A call with such requirements and a tuple as result is not inlined, nor is a call whose names are not inferred yet.

With `marked`, the pass is Relay's `Inline`: it inlines only functions with the attribute `relay.inline`, and no
closures. Functions with the attribute `Compiler` belong to an external compiler: neither they nor the calls in them are
inlined.

Before inlining, ops are moved to the innermost block that contains all their uses, so that a let of a callee is in the
block of the call.

A private function is removed when all of its calls are inlined, with `marked` also a public one other than `@main`. Its
ops move to the last call, so that a chain of functions needs no copies.

If types contradict each other after inlining, as in a branch that is invalid for the extents of a call, functions and
closures with named dimensions are not inlined: the branch is then an error only if it runs.

Raises `PassError` if the module would grow by more than `max-ops` ops: functions that call each other twice double the
size at each level.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.ops.annotation import RequireOp
from xrelay.dialects.relay.structure.call import AnyCall, NamedCallOp, callee_name, instantiate, is_call, names_in
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import yielded
from xrelay.dialects.shared.attribute_names import COMPILER, INLINE, PRIMITIVE
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.shared.requirements import RequirementsAttr, new_extents, requirements_of
from xrelay.errors import PassError, TypeInferenceError
from xrelay.index_algebra.dims import Dim, symbol
from xrelay.index_algebra.requirement import Requirement
from xrelay.passes.graph.calls import mentioned_symbols
from xrelay.passes.graph.dim_substitution import DimSubstitution, dim_names_in
from xrelay.passes.graph.effects import side_effect_free_ops
from xrelay.passes.graph.remarks import Remarks, report
from xrelay.passes.graph.replacements import Undo, erase_op
from xrelay.passes.graph.scopes import is_graph
from xrelay.passes.infra.digraph import nodes_on_cycles
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.relay.dead_code_elimination import PRIVATE
from xrelay.passes.relay.to_basic_block_normal_form import place_ops
from xrelay.passes.types.call_rule import CallNames
from xrelay.passes.types.dim_names import DimNames
from xrelay.passes.types.infer_type import infer_types
from xrelay.passes.types.type_upkeep import renew_requirements

MAX_OPS = 1_000_000


OPAQUE_BODIES = {PRIMITIVE, COMPILER}
"""Attributes of functions whose bodies belong to kernels or to external compilers."""


@dataclass(frozen=True)
class RelayInlinePass(XRelayPass):
    """Replaces calls of the graph's functions by their bodies; see the module's docstring. Exact."""

    name = "relay-inline"
    numerics = EXACT

    max_ops: int = field(default=MAX_OPS, metadata={"help": "the maximum number of ops that inlining adds"})
    marked: bool = field(default=False, metadata={"help": "inline only functions with the attribute relay.inline"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Inlines in place."""
        inline_calls(op, max_ops=self.max_ops, marked=self.marked)


def inline_calls(module: ModuleOp, *, max_ops: int = MAX_OPS, marked: bool = False) -> int:
    """Inlines the calls of functions and closures that are not recursive; returns the number of inlined calls.

    With `marked`, only functions with the attribute `relay.inline` are inlined, and no closures.
    """
    place_ops(module)
    calls = ops_of(module, CallOp, NamedCallOp, InvokeOp)
    if not calls:
        return 0
    first = next((call for call in calls if not isinstance(call, CallOp)), None)
    # Inlining changes types only if there are named dimensions.
    undo = None if first is None or not dim_names_in(module) else Undo(module)
    try:
        return _inline_calls(module, max_ops, marked=marked, named=True)
    except TypeInferenceError as error:
        if first is None or undo is None:
            raise
        remarks = Remarks(RelayInlinePass.name)
        remarks.refused(first, f"callees with named dimensions are not inlined: {error}")
        report(remarks.all)
        undo.run()
        return _inline_calls(module, max_ops, marked=marked, named=False)


def _inline_calls(module: ModuleOp, max_ops: int, *, marked: bool, named: bool) -> int:
    """Inlines as `inline_calls` does; callees with named dimensions only if `named` is set."""
    functions = {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, FuncOp) and _is_inlinable(op)}
    calls = {name: _calls_to_inline(function, functions) for name, function in functions.items()}
    recursive = nodes_on_cycles(calls)
    inlinable = {
        name: function
        for name, function in functions.items()
        if name not in recursive
        and (not marked or INLINE in function.attributes)
        and (named or not dim_names_in(function))
    }
    inliner = _Inliner(inlinable, calls, _only_called(calls, module, marked=marked), max_ops)
    for name, function in functions.items():
        if name not in inliner.removable:
            inliner.expand(function)
    for name in inliner.removable:
        Rewriter.erase_op(functions[name])
    if inliner.has_named:
        infer_types(module)
    elif inliner.inlined:
        renew_requirements(module)
    if marked:
        return inliner.inlined
    closures = ClosureInliner(max_ops, named, inliner.added)
    for function in module.body.block.ops:
        if isinstance(function, FuncOp) and not OPAQUE_BODIES & function.attributes.keys():
            closures.expand(function)
    if closures.changes_types:
        infer_types(module)
    elif closures.inlined:
        renew_requirements(module)
    return inliner.inlined + closures.inlined


class _Inliner:
    """Replaces calls by bodies, callers first, so that each op is copied or moved to its final position at once."""

    def __init__(
        self,
        inlinable: Mapping[str, FuncOp],
        calls: Mapping[str, Counter[str]],
        only_called: Counter[str],
        max_ops: int,
    ):
        self.inlinable, self.calls, self.max_ops = inlinable, calls, max_ops
        self.remaining = only_called
        """Removable function → the number of its remaining calls."""
        self.removable = {name for name in inlinable if only_called[name]}
        """The functions to remove when their calls are inlined."""
        self.sizes = {name: sum(1 for _ in walk_ops(function)) - 2 for name, function in inlinable.items()}
        """The number of ops that a copy of each body adds."""
        self.added = self.inlined = 0
        self.has_named = False
        """Whether a function with named dimensions was inlined."""
        self._names = {name: dim_names_in(function) for name, function in inlinable.items()}
        """The named dimensions of each function."""

    def expand(self, function: FuncOp) -> None:
        """Inlines the calls in `function` and in the inlined bodies."""
        taken: DimNames | None = None
        pending = [function.body.block.first_op]
        while pending:
            op = pending.pop()
            if op is None:
                continue
            if is_call(op) and callee_name(op) in self.inlinable and not _cannot_inline(op):
                bindings: dict[str, Dim] = {}
                if self._names[callee_name(op)]:
                    taken = taken if taken is not None else DimNames(function)
                    bindings = self._bindings(op, taken)
                pending.append(self._inline(op, bindings))
                continue
            pending.append(op.next_op)
            pending.extend(block.first_op for region in op.regions for block in region.blocks)

    def _bindings(self, call: AnyCall, taken: DimNames) -> dict[str, Dim]:
        """The caller's dimension for each name in the callee; names that `call` does not bind get new names."""
        known: dict[str, Dim]
        if isinstance(call, NamedCallOp):
            self.has_named, known = True, call.names
        else:
            # The call has the types of the callee, including names.
            type = self.inlinable[callee_name(call)].function_type
            known = {name: symbol(name) for name in names_in([*type.inputs, *type.outputs])}
        new = (name for name in self._names[callee_name(call)] if name not in known)
        return known | {name: symbol(taken.fresh(name)) for name in new}

    def _inline(self, call: AnyCall, bindings: Mapping[str, Dim]) -> Operation | None:
        """Replaces `call` by the body of its callee; returns the next op to visit."""
        name = callee_name(call)
        before, following = call.prev_op, call.next_op
        arguments = _required_arguments(call, call.arguments, self.inlinable[name].args, bindings)
        last = name in self.removable and self.remaining[name] == 1
        self.remaining[name] -= 1
        self.inlined += 1
        if not last:
            self.added += self.sizes[name]
            _check_size(self.added, self.max_ops, call)
            self.remaining.update(self.calls[name])
        _replace_call(call, _body(self.inlinable[name].body.block, arguments, bindings, move=last))
        block = following.parent if following is not None else None
        return before.next_op if before is not None else block.first_op if block is not None else None


def _calls_to_inline(function: FuncOp, names: Container[str]) -> Counter[str]:
    """The number of calls in `function` that can be inlined, for each callee in `names`."""
    calls = (op for op in walk_ops(function) if is_call(op) and not _cannot_inline(op))
    return Counter(name for call in calls if (name := callee_name(call)) in names)


def _cannot_inline(call: AnyCall) -> bool:
    """Whether `call` cannot be inlined: its names are not inferred yet, or no op can take over its requirements."""
    if not isinstance(call, NamedCallOp):
        return False
    return call.bindings is None or not _can_require(call)


def _is_inlinable(function: FuncOp) -> bool:
    return is_graph(function) and not OPAQUE_BODIES & function.attributes.keys()


def _only_called(calls: Mapping[str, Counter[str]], module: ModuleOp, *, marked: bool) -> Counter[str]:
    """The number of calls of each removable function: only `calls` mention it, and it is private or `marked`."""
    mentions = Counter(name for op in module.body.block.ops for name in mentioned_symbols(op))
    called = Counter[str]()
    for found in calls.values():
        called.update(found)
    functions = (op for op in module.body.block.ops if isinstance(op, FuncOp))
    names = [
        op.sym_name.data for op in functions if op.sym_visibility == PRIVATE or (marked and INLINE in op.attributes)
    ]
    return Counter({name: called[name] for name in names if name != "main" and 0 < called[name] == mentions[name]})


def _check_size(added: int, max_ops: int, call: Operation) -> None:
    """Raises `PassError` if inlining has added more than `max_ops` ops."""
    if added > max_ops:
        message = f"relay-inline: inlining adds more than {max_ops} ops"
        raise PassError(message, location=location_of(call), help="raise max-ops")


def _body(block: Block, arguments: Sequence[SSAValue], bindings: Mapping[str, Dim], *, move: bool) -> list[Operation]:
    """The ops of `block` or copies of them, with `arguments` and `bindings` for parameters and names."""
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, arguments, strict=True))
    if move:
        ops = list(block.ops)
        for parameter, argument in values.items():
            parameter.replace_all_uses_with(argument)
        for op in ops:
            op.detach()
    else:
        ops = [op.clone(values) for op in block.ops]
    if bindings:
        DimSubstitution(bindings).apply(ops)
    return ops


def _replace_call(call: Operation, ops: list[Operation]) -> list[Operation]:
    """Replaces `call` by `ops` without their terminator, whose operands are the results; returns the other ops."""
    *body, end = ops
    results = list(end.operands)
    erase_op(end)
    Rewriter.insert_op(body, InsertPoint.before(call))
    for old, new in zip(call.results, results, strict=True):
        if old.name_hint is not None and isinstance(new.owner, Operation) and new.owner in body[-1:]:
            new.name_hint = old.name_hint
    Rewriter.replace_op(call, [], _required_results(call, results))
    return body


# --- closures -------------------------------------------------------------------------------------------------------


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
        taken = cache(lambda: DimNames(function))
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
            pending.append(op.next_op)
            pending.extend(block.first_op for region in op.regions for block in region.blocks)

    def _bindings(self, call: InvokeOp, closure: FnOp, taken: Callable[[], DimNames]) -> Mapping[str, Dim] | None:
        """The caller's dimension for each name that `closure` binds; `None` if `call` cannot be inlined."""
        parameters = [parameter.type for parameter in closure.parameters]
        inner = dim_names_in(closure)
        if not inner:
            return {}
        if not self.named or not _can_require(call):
            return None
        names = taken()
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
        arguments = _required_arguments(call, call.arguments, closure.parameters, bindings)
        is_last = closure.result.has_one_use() and callee is closure.result and closure.parent is call.parent
        if not is_last:
            self.added += sum(1 for _ in walk_ops(closure)) - 2
            _check_size(self.added, self.max_ops, call)
        ops = _body(closure.body.block, arguments, bindings, move=is_last)
        self.changes_types |= ops[-1].operands[0].type != call.result.type
        body = _replace_call(call, ops)
        erase_unused_closure(callee)
        return body[0] if body else following


def _made_names(closure: FnOp, call: InvokeOp, names: DimNames) -> dict[str, Dim]:
    """A name for each extent that ops in `closure` introduce: that in the result of `call`, or a new one."""
    made = dict.fromkeys(extent.name for op in walk_ops(closure) for extent in new_extents(op) if op is not closure)
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


# --- requirements: those of a call that no op of the body has become a `relay.require` ---------------------------


def _own_requirements(call: Operation) -> list[Requirement]:
    """The requirements of `call` that are not requirements of an op of its callee."""
    return [requirement for requirement in requirements_of(call) if requirement.constraint != "C6"]


def _can_require(call: Operation) -> bool:
    """Whether `call` has no requirements of its own, or only tensor results, to which `relay.require` applies."""
    return not _own_requirements(call) or all(isinstance(type, TensorType) for type in call.result_types)


def _required_arguments(
    call: Operation, arguments: Sequence[SSAValue], parameters: Sequence[SSAValue], bindings: Mapping[str, Dim]
) -> list[SSAValue]:
    """`arguments` with the types of `parameters`; a `relay.require` converts those whose extents differ."""
    requirements = RequirementsAttr.of(_own_requirements(call))
    converted = list(arguments)
    for index, (argument, parameter) in enumerate(zip(arguments, parameters, strict=True)):
        expected = instantiate(parameter.type, bindings)
        if requirements is not None and argument.type != expected and isinstance(expected, TensorType):
            converted[index] = _required(argument, expected, call, requirements)
    return converted


def _required_results(call: Operation, results: Sequence[SSAValue]) -> list[SSAValue]:
    """`results` of the body, subject to the requirements of `call`."""
    requirements = RequirementsAttr.of(_own_requirements(call))
    if requirements is None:
        return list(results)
    return [_required(new, old.type, call, requirements) for old, new in zip(call.results, results, strict=True)]


def _required(value: SSAValue, type: Attribute, call: Operation, requirements: RequirementsAttr) -> SSAValue:
    """`value` with type `type`, by a `relay.require` of `requirements` before `call`."""
    op = RequireOp.create(operands=[value], result_types=[type], properties={"demands": requirements})
    op.location = call.location
    Rewriter.insert_op(op, InsertPoint.before(call))
    return op.results[0]
