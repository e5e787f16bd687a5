"""`relay-annotate-target`: marks the ops that external compilers support, each as a region of its own.

Each op is assigned to the first of `targets` that supports it according to a hook (`hooks.py`) or to `ops`, else to
"default". A call of a composite function (`relay.fn` with the attribute `Composite = "dnnl.conv_relu"`) is assigned to
the target whose name precedes the dot. Its arguments are annotated with `compiler_begin`, and each use of its result
with a `compiler_end`. Afterwards `relay-merge-compiler-regions` and `relay-partition-graph` turn the annotated regions
into functions.

Before, with `targets=ccompiler` and `ops="ccompiler:exp"`:

    %y = relay.exp(%x)
    %z = relay.negative(%y)
    func.return %z

After:

    %b = relay.annotation.compiler_begin(%x) {compiler = "ccompiler"}
    %y = relay.exp(%b)
    %e = relay.annotation.compiler_end(%y) {compiler = "ccompiler"}
    %c = relay.annotation.compiler_begin(%e) {compiler = "default"}
    %z = relay.negative(%c)
    %f = relay.annotation.compiler_end(%z) {compiler = "default"}
    func.return %f

Tuples and their fields are assigned to the target of all their operands, or to "default" if these differ; with
`include-non-call-ops=false` they, and calls of function values, are outside of all regions. Branches, loops and
bindings, and ops without arguments, are always outside. Regions annotated for another compiler than "default" are kept.

Ops of a function without annotations are moved to the blocks where their uses meet first, because a region is in one
block: an op that one branch alone uses is in no region with ops outside of the branch.

Left alone: the ops in composite functions and in groups, kernels, and functions of lower levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.dialects.relay.ops.annotation import CompilerBeginOp, CompilerEndOp
from xrelay.dialects.relay.structure.call import NamedCallOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.shared.attribute_names import COMPILER, COMPOSITE
from xrelay.errors import InputError
from xrelay.passes.graph.effects import pure_functions
from xrelay.passes.graph.op_kinds import OpKind, is_relay_op, kind_of, short_name
from xrelay.passes.graph.replacements import erase_op
from xrelay.passes.graph.scopes import graph_functions, is_graph
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.relay.to_basic_block_normal_form import place_ops_of
from xrelay.relay.byoc.hooks import DEFAULT, is_taken


@dataclass(frozen=True)
class RelayAnnotateTargetPass(XRelayPass):
    """Annotates the ops that external compilers support; see the module's docstring. Exact."""

    name = "relay-annotate-target"
    numerics = EXACT
    per_function = True

    targets: tuple[str, ...] = field(default=(), metadata={"help": "the compilers, in order of preference"})
    include_non_call_ops: bool = field(
        default=True, metadata={"help": "also mark tuples, fields and calls of closures"}
    )
    ops: tuple[str, ...] = field(
        default=(), metadata={"help": "additional supported operators, each as compiler:operator"}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Annotates the module in place."""
        annotate_targets(op, self.targets, include_non_call_ops=self.include_non_call_ops, ops=self.ops)


def annotate_targets(
    module: ModuleOp, targets: Sequence[str], *, include_non_call_ops: bool = True, ops: Sequence[str] = ()
) -> None:
    """Annotates the ops that `targets` support, in the functions of `module` without an external compiler.

    Raises `InputError` for an entry of `ops` that is not `compiler:operator`, `UnknownOpError` for an unknown operator.
    """
    named, pure_calls = frozenset(map(_entry, ops)), pure_functions(module)
    for function in graph_functions(module):
        if COMPILER not in function.attributes and is_graph(function):
            if not any(isinstance(op, CompilerBeginOp | CompilerEndOp) for op in walk_ops(function)):
                place_ops_of(function, pure_calls)
            _Annotator(targets, include_non_call_ops, named).run(function)


def _entry(text: str) -> tuple[str, str]:
    target, _, name = text.rpartition(":")
    if not target:
        raise InputError(f"{text!r} is not of the form compiler:operator", help="use e.g. dnnl:nn.relu")
    return target, get_relay_op(name).relay_name()


class _Annotator:
    """Annotates one function. An op is assigned before its users are visited."""

    def __init__(self, targets: Sequence[str], non_calls: bool, named: frozenset[tuple[str, str]]):
        self._targets, self._non_calls, self._named = targets, non_calls, named
        self._assigned: dict[SSAValue, str] = {}
        """Results of ops → the assigned compiler; ops without arguments are still in no region."""
        self._last: dict[Operation, Operation] = {}
        """Op → the last `compiler_end` that was inserted after it."""

    def run(self, function: FuncOp) -> None:
        """Annotates the ops of `function`, operands before users."""
        for op in list(walk_ops(function, _is_closed)):
            self._visit(op)

    def _visit(self, op: Operation) -> None:
        if isinstance(op, CompilerBeginOp):
            return
        if isinstance(op, CompilerEndOp):
            self._keep_end(op)
        elif self._is_call(op):
            self._annotate(op, self._target_of(op))
        elif kind_of(op) in (OpKind.TUPLE, OpKind.FIELD) and self._non_calls:
            self._annotate(op, None)
        else:
            self._end_operands(op)

    def _is_call(self, op: Operation) -> bool:
        """Whether `op` calls an operator or function; calls of function values count only if non-calls are included."""
        if isinstance(op, InvokeOp):
            return self._non_calls or isinstance(op.callee.owner, FnOp)
        return isinstance(op, CallOp | NamedCallOp) or kind_of(op) in (OpKind.OPERATOR, OpKind.BARRIER)

    def _target_of(self, op: Operation) -> str:
        """The first of the targets that supports `op`."""
        callee = op.callee.owner if isinstance(op, InvokeOp) else None
        composite = callee.attributes.get(COMPOSITE) if isinstance(callee, FnOp) else None
        prefix = composite.data.partition(".")[0] if isinstance(composite, StringAttr) else None
        return next((target for target in self._targets if target == prefix or self._supports(op, target)), DEFAULT)

    def _supports(self, op: Operation, target: str) -> bool:
        return is_relay_op(op) and ((target, short_name(op)) in self._named or is_taken(op, target))

    def _keep_end(self, end: CompilerEndOp) -> None:
        """Keeps an end of an earlier run; an end for "default" gets the compiler that the op is now assigned to."""
        known = self._assigned.get(end.data)
        if known is not None and end.compiler.data == DEFAULT:
            end.properties["compiler"] = StringAttr(known)
        self._assigned.setdefault(end.data, end.compiler.data)

    # --- edges -----------------------------------------------------------------------------------------------------

    def _annotate(self, op: Operation, target: str | None) -> None:
        """Annotates the edges into `op`, which is assigned to `target`, or to the compiler of all its operands."""
        arguments = _arguments(op)
        if not arguments:
            self._assigned |= dict.fromkeys(op.results, DEFAULT if target is None else target)
            return
        first = arguments[0].owner
        if target is not None and isinstance(first, CompilerBeginOp) and first.compiler.data != DEFAULT:
            return
        if target is None:
            sources = list(dict.fromkeys(map(self._source, arguments)))
            target = sources[0] if len(sources) == 1 else DEFAULT
        begun = [self._begun(argument, target, op) for argument in arguments]
        op.operands = [*op.operands[: len(op.operands) - len(begun)], *begun]
        for argument in dict.fromkeys(arguments):
            if isinstance(argument.owner, CompilerBeginOp) and argument.first_use is None:
                erase_op(argument.owner)
        self._assigned |= dict.fromkeys(op.results, target)

    def _source(self, argument: SSAValue) -> str:
        """The compiler of the region that defines an argument."""
        owner = argument.owner
        if isinstance(owner, CompilerBeginOp):
            before = owner.data.owner
            return before.compiler.data if isinstance(before, CompilerEndOp) else DEFAULT
        return self._assigned.get(argument, DEFAULT)

    def _begun(self, argument: SSAValue, target: str, user: Operation) -> SSAValue:
        """The argument, followed by an end of its region and a begin for `target`."""
        owner = argument.owner
        if isinstance(owner, CompilerBeginOp):
            if owner.compiler.data != DEFAULT:
                return argument
            argument = owner.data
        begin = CompilerBeginOp.call(self._ended(argument), compiler=target)
        begin.location = user.location
        Rewriter.insert_op(begin, InsertPoint.before(user))
        return begin.result

    def _ended(self, value: SSAValue) -> SSAValue:
        """An end of `value` in the block of its op, or `value` itself if it is in no region."""
        target = self._assigned.get(value)
        if target is None or not isinstance(value, OpResult) or not _arguments(value.op):
            return value
        end = CompilerEndOp.call(value, compiler=target)
        end.location = value.op.location
        Rewriter.insert_op(end, InsertPoint.after(self._last.get(value.op, value.op)))
        self._last[value.op] = end
        return end.result

    def _end_operands(self, op: Operation) -> None:
        """Replaces the operands of an op outside of all regions by the ends of their regions."""
        op.operands = [self._ended(operand) for operand in op.operands]


def _arguments(op: Operation) -> list[SSAValue]:
    return list(op.arguments if isinstance(op, InvokeOp) else op.operands)


def _is_closed(op: Operation) -> bool:
    """Whether the ops in `op`, a composite function or a group, are not annotated."""
    return isinstance(op, FusedOp) or COMPOSITE in op.attributes
