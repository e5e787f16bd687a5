"""`relay-to-cps`: converts functions to continuation passing style.

Each function gets a continuation as its last parameter. It calls the continuation with its former result and returns
the continuation's result, the *answer*. The ops after a call become the continuation of the call. The ops after a
branch become a closure that both branches call. Closures and parameters that are functions are converted too. Control
flow thus becomes calls of closures, which `relay-partial-eval` follows separately in each branch.

Before:

    func.func @main(%c: tensor<i1>, %x: T) -> T {
      %y = func.call @f(%x)
      %z = relay.if %c {relay.yield %x} else {relay.yield %y}
      %r = relay.negative(%z)
      func.return %r
    }

After:

    func.func @main(%c: tensor<i1>, %x: T, %k: (T) -> T) -> T {
      %k_1 = relay.fn(%y: T) -> T {
        %k_2 = relay.fn(%z: T) -> T {
          %r = relay.negative(%z)
          %0 = relay.invoke %k(%r)
          relay.yield %0
        }
        %1 = relay.if %c {
          %2 = relay.invoke %k_2(%x)
          relay.yield %2
        } else {…}
        relay.yield %1
      }
      %3 = func.call @f_cps(%x, %k_1)
      func.return %3
    }

In Relay the answer's type is a type variable. There are no type variables here: the answer of a function of the module
has the type of its former result. A function that is called gets a private copy `@f_cps` for each answer type of its
callers; if the function itself is private, it is erased. Calls of functions without a body, kernels, functions of lower
levels, and functions for external compilers do not change.

Functions are converted to basic block normal form first, so that the position of an op determines when it runs, and
remain in this form.

Raises `PassError` for a function of the module that returns a function, because its answer type would contain itself;
for calls, closures and branches with named dimensions; and for loops whose bodies contain calls or closures.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr, TupleType
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.traits import IsTerminator

from xrelay.dialects.relay.structure.call import callee_name, is_call
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.attribute_names import COMPILER, FORM, PRIMITIVE, SKIP_OPTIMIZATION, VALUE_NAME
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.requirements import new_extents
from xrelay.dialects.shared.types import tuple_type
from xrelay.errors import PassError
from xrelay.passes.graph.calls import functions_of
from xrelay.passes.graph.dim_substitution import dim_names_in
from xrelay.passes.graph.effects import pure_functions
from xrelay.passes.graph.replacements import erase_op
from xrelay.passes.graph.scopes import is_graph
from xrelay.passes.infra.fresh_names import fresh_name
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.relay.dead_code_elimination import PRIVATE
from xrelay.passes.relay.to_basic_block_normal_form import to_basic_block_normal_form


@dataclass(frozen=True)
class RelayToCpsPass(XRelayPass):
    """Converts functions to continuation passing style; see the module's docstring. Exact."""

    name = "relay-to-cps"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        to_cps(op)


def to_cps(module: ModuleOp, only: Collection[str] | None = None) -> list[str]:
    """Converts the functions of `module`, or those in `only`, and their callees to continuation passing style.

    Returns the names of the new functions.
    """
    converter = _Converter(module)
    wanted = [name for name in converter.functions if only is None or name in only]
    for name in wanted:
        if only is not None or name not in converter.private_callees:
            converter.convert(name)
    converter.convert_callees()
    converter.replace()
    return list(converter.made.values())


class _Converter:
    """Converts the functions of a module, and copies of their callees for the answer types of the callers."""

    def __init__(self, module: ModuleOp):
        self._module = module
        every = functions_of(module)
        self.functions = {name: op for name, op in every.items() if _has_style(op)}
        called = {callee_name(op) for op in walk_ops(module) if is_call(op)}
        self.private_callees = {
            name for name, op in self.functions.items() if name in called and op.sym_visibility == PRIVATE
        }
        self.made: dict[tuple[str, Attribute], str] = {}
        """Function name and answer type → the name of the copy that calls use."""
        self._taken = set(every)
        self._pure = pure_functions(module)
        self._converted: dict[str, FuncOp] = {}
        self._callees: list[FuncOp] = []
        self._pending: list[tuple[str, Attribute]] = []
        """The keys of `made` in order, to be converted."""

    def convert(self, name: str) -> None:
        """Converts the function `name`; the type of its answer is that of its result."""
        function = self.functions[name]
        answer = _passed_type(function.function_type.outputs.data)
        if _has_functions(answer):
            raise PassError(
                f"relay-to-cps: @{name} returns a function, so the type of its answer would contain itself",
                location=location_of(function),
                help="make it private, or return the result of that function",
            )
        self._converted[name] = self._written(function, name, answer)

    def convert_callees(self) -> None:
        """Converts the callees of converted functions, and their callees in turn."""
        for name, answer in self._pending:
            made = self._written(self.functions[name], self.made[name, answer], answer)
            made.sym_visibility = PRIVATE
            self._callees.append(made)

    def _written(self, function: FuncOp, name: str, answer: Attribute) -> FuncOp:
        to_basic_block_normal_form(function, self._pure)

        def name_of(call: CallOp) -> str | None:
            callee = callee_name(call)
            if callee not in self.functions:
                return None
            if (callee, answer) not in self.made:
                self.made[callee, answer] = fresh_name(f"{callee}_cps", self._taken)
                self._pending.append((callee, answer))
            return self.made[callee, answer]

        return _CpsWriter(function, answer, name_of).write(name)

    def replace(self) -> None:
        """Replaces the functions by the converted ones, and appends the converted callees."""
        block = self._module.body.block
        for name, new in self._converted.items():
            old = self.functions[name]
            block.insert_op_before(new, old)
            erase_op(old)
        for name in self.private_callees - self._converted.keys():
            if any(made == name for made, _ in self.made):
                erase_op(self.functions[name])
        block.add_ops(self._callees)


def _has_style(function: FuncOp) -> bool:
    marks = {PRIMITIVE, COMPILER, SKIP_OPTIMIZATION}
    return is_graph(function) and not marks & function.attributes.keys()


NamesOf = Callable[[CallOp], str | None]
"""A function that returns the name of the converted callee of a call, or None if the callee is not converted."""


@dataclass
class _PendingBlock:
    """Ops to be written to `block`; the results of the last op are passed to the continuation."""

    op: Operation | None
    block: Block
    continuation: SSAValue
    ops: list[Operation] = field(default_factory=list[Operation])
    """The written ops, which are added to the block at the end: for each added op, xDSL visits all blocks around it."""


class _CpsWriter:
    """Writes one function, whose continuation returns `answer`.

    The ops of a block are copied in order. After a call, the remaining ops become the body of a continuation. After a
    branch, they become a closure that both branches call. Blocks are on a worklist instead of a recursion.
    """

    def __init__(self, function: FuncOp, answer: Attribute, names_of: NamesOf):
        self._function, self._answer, self._names_of = function, answer, names_of
        self._values: dict[SSAValue, SSAValue] = {}
        """Maps values of `function` to their replacements."""
        self._types: dict[int, tuple[Attribute, Attribute]] = {}
        """Maps the `id` of a type to the type and the converted type; a type may share its parts many times."""
        self._pending: list[_PendingBlock] = []
        self._written: list[_PendingBlock] = []

    def write(self, name: str) -> FuncOp:
        """Returns the converted function under the name `name`; the original is not changed."""
        old = self._function
        _refuse(old)
        outputs = old.function_type.outputs.data
        block = self._block(old.body.block.args, self._continuation(_passed_type(outputs)))
        self._pending.append(_PendingBlock(old.body.block.first_op, block, block.args[-1]))
        while self._pending:
            self._write(self._pending.pop())
        for pending in reversed(self._written):
            pending.block.add_ops(pending.ops)
        visibility = old.sym_visibility.data if old.sym_visibility is not None else None
        new = FuncOp(name, (list(block.arg_types), [self._answer]), Region(block), visibility)
        new.attributes.update({**old.attributes, FORM: StringAttr("bbnf")})
        if old.arg_attrs is not None:
            named = DictionaryAttr({VALUE_NAME: StringAttr("k")})
            new.arg_attrs = ArrayAttr([*old.arg_attrs.data, named])
        new.location = old.location
        return new

    def _write(self, pending: _PendingBlock) -> None:
        """Writes a block up to the first op after which a continuation follows."""
        self._written.append(pending)
        op = pending.op
        while op is not None:
            if op.has_trait(IsTerminator):
                self._return(pending, op)
                return
            callee = self._names_of(op) if isinstance(op, CallOp) else None
            if isinstance(op, IfOp):
                self._choose(pending, op)
                return
            if isinstance(op, InvokeOp) or (isinstance(op, CallOp) and callee is not None):
                self._call(pending, op, callee)
                return
            if isinstance(op, FnOp):
                self._closure(pending, op)
            else:
                self._copy(pending, op)
            op = op.next_op

    def _return(self, pending: _PendingBlock, end: Operation) -> None:
        """Calls the continuation with the results of a block."""
        values = list(map(self._new, end.operands))
        if len(values) == 1:
            value = values[0]
        else:
            made = TupleOp.create(operands=values, result_types=[tuple_type(value.type for value in values)])
            self._add(pending, made, end)
            value = made.results[0]
        call = InvokeOp(pending.continuation, [value], self._answer)
        self._add(pending, call, end)
        self._end(pending, call.result, end)

    def _end(self, pending: _PendingBlock, answer: SSAValue, at: Operation) -> None:
        """Ends a block with the result `answer`."""
        around = pending.block.parent_op()
        end = YieldOp(answer) if isinstance(around, FnOp | IfOp) else ReturnOp(answer)
        self._add(pending, end, at)

    def _call(self, pending: _PendingBlock, op: CallOp | InvokeOp, name: str | None) -> None:
        """Writes a call with the remaining ops as its continuation; a tail call gets the continuation of the block."""
        outputs = tuple(result.type for result in op.results)
        continuation = self._continuation_after(pending, op, _passed_type(outputs))
        arguments = [*map(self._new, op.arguments), continuation]
        if isinstance(op, InvokeOp):
            call = InvokeOp(self._new(op.callee), arguments, self._answer)
        else:
            call = CallOp(str(name), arguments, [self._answer])
        self._add(pending, call, op)
        self._end(pending, call.results[0], op)

    def _take_apart(self, pending: _PendingBlock, op: Operation) -> None:
        """Replaces the results of `op` by the argument of a continuation."""
        argument = pending.block.args[0]
        if len(op.results) == 1:
            argument.name_hint = op.results[0].name_hint
            self._values[op.results[0]] = argument
            return
        for index, result in enumerate(op.results):
            field = TupleGetItemOp.call(argument, index=index)
            field.result.name_hint = result.name_hint
            self._add(pending, field, op)
            self._values[result] = field.result

    def _continuation_after(self, pending: _PendingBlock, op: Operation, passed: Attribute) -> SSAValue:
        """Returns the continuation after `op`: a closure for the remaining ops, or that of the block if none remain."""
        following = op.next_op
        if following is not None and following.has_trait(IsTerminator) and list(following.operands) == list(op.results):
            return pending.continuation
        block = Block(arg_types=[self._type(passed)])
        closure = FnOp(self._continuation(passed), Region(block))
        closure.result.name_hint = "k"
        self._add(pending, closure, op)
        rest = _PendingBlock(following, block, pending.continuation)
        self._take_apart(rest, op)
        self._pending.append(rest)
        return closure.result

    def _choose(self, pending: _PendingBlock, op: IfOp) -> None:
        """Writes a branch in which both regions call the continuation."""
        continuation = self._continuation_after(pending, op, op.result.type)
        regions = [Region(Block()), Region(Block())]
        chosen = IfOp(self._new(op.condition), self._answer, regions[0], regions[1])
        self._add(pending, chosen, op)
        for old, new in zip(op.regions, regions, strict=True):
            self._pending.append(_PendingBlock(old.block.first_op, new.block, continuation))
        self._end(pending, chosen.result, op)

    def _closure(self, pending: _PendingBlock, op: FnOp) -> None:
        """Writes a closure, and adds its body to the worklist."""
        type = self._type(op.result.type)
        assert isinstance(op.result.type, FunctionType), "types are complete"
        assert isinstance(type, FunctionType), "the converted type of a function is a function type"
        own = self._continuation(op.result.type.outputs.data[0])
        block = self._block(op.body.block.args, own)
        made = FnOp(type, Region(block), recursive=op.is_recursive)
        made.attributes.update(op.attributes)
        made.result.name_hint = op.result.name_hint
        self._add(pending, made, op)
        self._values[op.result] = made.result
        self._pending.append(_PendingBlock(op.body.block.first_op, block, block.args[-1]))

    def _block(self, arguments: Sequence[BlockArgument], continuation: Attribute) -> Block:
        """Returns a block for these arguments and a continuation."""
        block = Block(arg_types=[*(self._type(each.type) for each in arguments), continuation])
        for old, new in zip(arguments, block.args, strict=False):
            new.name_hint = old.name_hint
            self._values[old] = new
        block.args[-1].name_hint = "k"
        return block

    def _copy(self, pending: _PendingBlock, op: Operation) -> None:
        """Copies an op that calls nothing."""
        used = {value for inner in walk_ops(op) for value in inner.operands if value in self._values}
        new = op.clone({value: self._values[value] for value in used})
        for result in new.results:
            if (type := self._type(result.type)) is not result.type:
                Rewriter.replace_value_with_new_type(result, type)
        self._add(pending, new, op)
        for old, made in zip(op.results, new.results, strict=True):
            made.name_hint = old.name_hint
            self._values[old] = made

    def _new(self, value: SSAValue) -> SSAValue:
        """Returns the replacement of a value."""
        return self._values.get(value, value)

    def _type(self, type: Attribute) -> Attribute:
        """Returns a type in continuation passing style; recursive to the depth of the type.

        A function from A to B becomes a function of A and a continuation, which takes B. Both return the answer.
        """
        known = self._types.get(id(type))
        if known is None:
            made = type
            if isinstance(type, FunctionType):
                inputs = [*map(self._type, type.inputs), self._continuation(type.outputs.data[0])]
                made = FunctionType.from_lists(inputs, [self._answer])
            elif isinstance(type, TupleType) and _has_functions(type):
                made = tuple_type(map(self._type, type.types))
            known = self._types[id(type)] = type, made
        return known[1]

    def _continuation(self, passed: Attribute) -> FunctionType:
        """Returns the type of a continuation that takes a value of type `passed`."""
        return FunctionType.from_lists([self._type(passed)], [self._answer])

    def _add(self, pending: _PendingBlock, new: Operation, at: Operation) -> None:
        new.location = at.location
        pending.ops.append(new)


def _refuse(function: FuncOp) -> None:
    """Raises `PassError` for ops that cannot be converted to continuation passing style."""
    has_names, looped = bool(dim_names_in(function)), set[Operation]()
    for op in walk_ops(function):
        around = op.parent_op()
        if isinstance(around, LoopOp) or around in looped:
            looped.add(op)
        calls = is_call(op) or isinstance(op, FnOp | InvokeOp)
        if has_names and (calls or new_extents(op)):
            raise PassError(
                "relay-to-cps: a call, closure or branch in a function with named dimensions",
                location=location_of(op),
                help="make the shapes static, or run relay-inline first",
            )
        if calls and op in looped:
            raise PassError(
                "relay-to-cps: the body of a loop makes a call or a closure",
                location=location_of(op),
                help="run relay-inline first, or write the loop as a recursion",
            )


def _has_functions(type: Attribute) -> bool:
    """Whether a value of `type` is or contains a function."""
    pending, seen = [type], set[int]()
    for each in pending:
        if isinstance(each, FunctionType):
            return True
        if isinstance(each, TupleType) and id(each) not in seen:
            # A small type that shares parts can stand for millions of types.
            seen.add(id(each))
            pending += each.types.data
    return False


def _passed_type(outputs: tuple[Attribute, ...]) -> Attribute:
    """Returns the type that a function with these results passes to its continuation: a tuple if there are several."""
    return outputs[0] if len(outputs) == 1 else tuple_type(outputs)
