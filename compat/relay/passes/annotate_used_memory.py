"""`relay-annotate-used-memory`: annotates primitive functions with the number of live bytes during each call.

Each primitive function that `@main` calls gets `used_memory`: for every call, in the order of the text, the bytes of
all live tensors. These are the arguments and the result of the call, and earlier values with later uses. `@main` gets
`io_used_memory`, the bytes of its parameters and results. Kernels (`relay.primitive`), functions and closures with
Relay's attribute `Primitive`, and fused groups are primitive. External code generators plan scratch memory with these
numbers. Ops run in the order of the text only in A-normal form.

Before:

    %0 = relay.fn(%p: tensor<16xi8>) -> tensor<16xi8> attributes {Primitive = 1} {…}
    %f = relay.let "f" = %0
    %1 = relay.invoke %f(%x)
    %y = relay.let "y" = %1
    func.return %y

After:

    %0 = relay.fn(%p: tensor<16xi8>) -> tensor<16xi8> attributes {Primitive = 1, used_memory = array<i64: 32>} {…}
    …

Constants, functions, and parameters and results without uses have no bytes. A tuple counts its fields, which also count
as values of their own if they are live. The result of a `relay.if` or `relay.loop` is live while its regions run, and
so are the values from around it that a loop uses.

Refuses (`PassError`): a module without `@main`, or with an `@main` that is not in A-normal form; types that are not
inferred, or dynamic shapes; more than 2^63 - 1 bytes; closures in `@main` that are not primitive, because their
captured values live as long as they do; primitive closures that capture other values than constants.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, FunctionType, IntegerAttr, ModuleOp, StringAttr, TensorType, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xrelay.dialects.relay.structure.call import callee_name, is_call
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.dialects.shared.attribute_names import COMPILER_PRIMITIVE, FORM, IO_USED_MEMORY, PRIMITIVE, USED_MEMORY
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.op_lists import block_of
from xrelay.dialects.shared.types import is_complete
from xrelay.errors import PassError
from xrelay.passes.graph.calls import functions_of
from xrelay.passes.graph.scopes import ValueUses
from xrelay.passes.graph.tuple_leaves import leaf_types
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.relay.to_a_normal_form import ANF

PASS_NAME = "relay-annotate-used-memory"
MAX_BYTES = (1 << 63) - 1
"""The greatest number that the attributes can hold."""


@dataclass(frozen=True)
class RelayAnnotateUsedMemoryPass(XRelayPass):
    """Annotates primitive functions with their numbers of live bytes; see the module's docstring. Exact."""

    name = PASS_NAME
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Annotates the module in place."""
        functions = functions_of(op)
        main = functions.get("main")
        if main is None or main.is_declaration:
            raise PassError(f"{PASS_NAME}: the module has no @main with a body", location=location_of(op))
        if main.attributes.get(FORM) != StringAttr(ANF):
            raise PassError(
                f"{PASS_NAME}: @main is not in A-normal form",
                location=location_of(main),
                help="run relay-to-a-normal-form and relay-infer-type first",
            )
        order = _Order(main)
        live = _live_bytes(order)
        used: dict[Operation, list[int]] = {}
        for each, position in order.positions.items():
            if (called := _primitive(each, functions)) is not None:
                used.setdefault(called, []).append(_countable(live[position], each))
        for called, counts in used.items():
            called.attributes[USED_MEMORY] = DenseArrayBase.from_list(i64, counts)
        types = [*main.function_type.inputs, *main.function_type.outputs]
        total = sum(_bytes_of(type, main) for type in types)
        main.attributes[IO_USED_MEMORY] = IntegerAttr(_countable(total, main), i64)


class _Order:
    """The ops of a function in the order in which they run, with positions. Closures and groups count as one op."""

    def __init__(self, main: FuncOp):
        self.positions: dict[Operation, int] = {}
        self.ends: dict[Operation, int] = {}
        """The last position inside of each op with regions."""
        self.users: dict[SSAValue, list[Operation]] = {}
        """The users of each value except constants; uses of a let's result are uses of its value."""
        self._uses = ValueUses(main)
        pending: list[Operation | None] = [main.body.block.first_op]
        around: list[Operation] = []
        while pending:
            op = pending.pop()
            if op is None:
                continue
            # Blocks end in an op without regions, so an op with regions always has a next op in its block.
            while around and op.parent is around[-1].parent:
                self.ends[around.pop()] = len(self.positions) - 1
            pending.append(op.next_op)
            self._note(op)
            if op.regions and not isinstance(op, FnOp | FusedOp):
                around.append(op)
                pending += [block.first_op for region in reversed(op.regions) for block in region.blocks]

    def _note(self, op: Operation) -> None:
        self.positions[op] = len(self.positions)
        if isinstance(op, LetOp):
            return
        if isinstance(op, FnOp):
            self._check_closure(op)
        for value in dict.fromkeys(_named(value) for value in op.operands):
            if not isinstance(value.owner, ConstantOp):
                self.users.setdefault(value, []).append(op)

    def _check_closure(self, op: FnOp) -> None:
        """Raises `PassError` if the closure keeps other values alive than the arguments of its calls."""
        if not _is_marked(op):
            problem = "a closure in @main is not primitive"
            help = "inline it (relay-inline), or set its attribute Primitive = 1"
        elif any(not isinstance(_named(value).owner, ConstantOp) for value in self._uses.of(op)):
            problem, help = "a primitive closure captures a value", "pass each captured value as a parameter"
        else:
            return
        raise PassError(f"{PASS_NAME}: {problem}", location=location_of(op), help=help)


def _named(value: SSAValue) -> SSAValue:
    """Returns the value that lets bind to `value`, or `value` itself."""
    while isinstance(value.owner, LetOp):
        value = value.owner.value
    return value


def _is_marked(op: Operation) -> bool:
    mark = op.attributes.get(COMPILER_PRIMITIVE)
    return mark is not None and not (isinstance(mark, IntegerAttr) and not mark.value.data)


def _primitive(op: Operation, functions: dict[str, FuncOp]) -> Operation | None:
    """Returns the op to annotate for a call of a primitive function, or None for any other op."""
    if isinstance(op, FusedOp):
        return op
    called: object = None
    if is_call(op):
        called = functions.get(callee_name(op))
    elif isinstance(op, InvokeOp):
        called = _named(op.callee).owner
    if isinstance(called, FuncOp | FnOp) and (PRIMITIVE in called.attributes or _is_marked(called)):
        return called
    return None


def _countable(count: int, at: Operation) -> int:
    """Returns `count`; raises `PassError` if the attributes cannot hold it."""
    if count > MAX_BYTES:
        raise PassError(
            f"{PASS_NAME}: {count} bytes are live here, more than {MAX_BYTES}",
            location=location_of(at),
            help="reduce the extents of the tensors",
        )
    return count


def _live_bytes(order: _Order) -> list[int]:
    """Returns the number of live bytes at each position."""
    steps = [0] * (len(order.positions) + 1)
    for value, users in order.users.items():
        size = _bytes_of(value.type, users[0])
        for first, last in _spans(value, users, order):
            steps[first] += size
            steps[last + 1] -= size
    return list(accumulate(steps))


def _spans(value: SSAValue, users: list[Operation], order: _Order) -> Iterator[tuple[int, int]]:
    """Yields the first and last positions of each range in which `value` is live.

    In a block a value is live up to the last op that uses it or contains a use. In the regions of that op it is live up
    to the last use in each region, or to the end of a loop, whose next iteration uses it again.
    """
    owner, block = value.owner, block_of(value)
    first = order.positions[owner] if isinstance(owner, Operation) else _first_position(owner, order)
    pending = [(first, 0, [_path(user, block) for user in users])]
    while pending:
        first, depth, paths = pending.pop()
        last = max((path[depth] for path in paths), key=order.positions.__getitem__)
        inside = [path for path in paths if path[depth] is last and len(path) > depth + 1]
        if inside and isinstance(last, LoopOp):
            yield first, order.ends[last]
            continue
        yield first, order.positions[last]
        branches: dict[Block, list[list[Operation]]] = {}
        for path in inside:
            if (branch := path[depth + 1].parent) is not None:
                branches.setdefault(branch, []).append(path)
        pending += [(_first_position(branch, order), depth + 1, subpaths) for branch, subpaths in branches.items()]


def _path(user: Operation, block: Block | None) -> list[Operation]:
    """Returns the op of `block` that is or contains `user`, then the nested ops down to `user`."""
    path = [user]
    while path[-1].parent is not block and (around := path[-1].parent_op()) is not None:
        path.append(around)
    return path[::-1]


def _first_position(block: Block, order: _Order) -> int:
    return 0 if block.first_op is None else order.positions[block.first_op]


def _bytes_of(type: Attribute, user: Operation) -> int:
    """Returns the bytes of a value of this type, for a tuple of all its tensors; errors are located at `user`."""
    total = 0
    for leaf in leaf_types([type]):
        if isinstance(leaf, FunctionType):
            continue
        if not is_complete(leaf):
            message = f"{PASS_NAME}: a type is not inferred"
            raise PassError(message, location=location_of(user), help="run relay-infer-type first")
        if not isinstance(leaf, TensorType) or any(extent < 0 for extent in leaf.get_shape()):
            message = f"{PASS_NAME}: AnnotateUsedMemory does not support dynamic shapes, found {leaf}"
            raise PassError(message, location=location_of(user), help="make the shape static")
        total += prod(leaf.get_shape()) * numpy_dtype(leaf.element_type).itemsize
    return total
