"""`relay-annotate-used-memory`: writes on primitive functions how many bytes live while they run.

What: each primitive function that `@main` calls gets `used_memory`, for every call, in the order of the text, the bytes
of all tensors that are live there: what the call takes and gives, and what was computed before and is needed later.
`@main` gets `io_used_memory`, the bytes of its parameters and results. Primitive are kernels (`relay.primitive`),
functions and closures with Relay's attribute `Primitive`, and fused groups. Why: code generators from outside plan
scratch memory by it. Only in A-normal form does the order of the text say what runs when.

Before:

    %0 = relay.fn(%p: tensor<16xi8>) -> tensor<16xi8> attributes {Primitive = 1} {…}
    %f = relay.let "f" = %0
    %1 = relay.invoke %f(%x)
    %y = relay.let "y" = %1
    func.return %y

After:

    %0 = relay.fn(%p: tensor<16xi8>) -> tensor<16xi8> attributes {Primitive = 1, used_memory = array<i64: 32>} {…}
    …

Constants and functions count nothing; neither does a parameter or result that nobody uses. A tuple counts its fields,
which count again where they live themselves. The result of a `relay.if` or `relay.loop` is there while its regions run,
and so is what a loop uses from around it.

Refuses (`PassError`): a module without `@main`, or whose `@main` is not in A-normal form; types that are not inferred
or have extents that only a run tells; more bytes than a number of 64 bits counts; closures in `@main` that are not
primitive, since what they capture lives for as long as they do; and primitive closures that capture anything but
constants.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, FunctionType, IntegerAttr, ModuleOp, StringAttr, TensorType, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from xrelay.dialects.relay.structure.call import callee_name, is_call
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.loop import LoopOp
from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.dialects.shared.attribute_names import COMPILER_PRIMITIVE, FORM, IO_USED_MEMORY, PRIMITIVE, USED_MEMORY
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.types import is_complete
from xrelay.errors import PassError
from xrelay.passes.graph.tuple_leaves import leaf_types
from xrelay.passes.graph.value_uses import ValueUses, block_of
from xrelay.passes.relay.to_a_normal_form import ANF

PASS_NAME = "relay-annotate-used-memory"
MOST_BYTES = (1 << 63) - 1
"""The greatest number that the attributes hold."""


@dataclass(frozen=True)
class RelayAnnotateUsedMemoryPass(ModulePass):
    """Write on primitive functions how many bytes live while they run; see the module's docstring. Exact."""

    name = PASS_NAME

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Annotate the module in place."""
        functions = {function.sym_name.data: function for function in op.ops if isinstance(function, FuncOp)}
        main = functions.get("main")
        if main is None or main.is_declaration:
            raise PassError(f"{PASS_NAME}: the module has no @main with a body", location=location_of(op))
        if main.attributes.get(FORM) != StringAttr(ANF):
            raise PassError(
                f"{PASS_NAME}: @main is not in A-normal form",
                location=location_of(main),
                help="run relay-to-a-normal-form and relay-infer-type first",
            )
        annotate_used_memory(main, functions)


def annotate_used_memory(main: FuncOp, functions: dict[str, FuncOp]) -> None:
    """Annotate `main`, which is in A-normal form, and what it calls, of `functions` by name."""
    order = _Order(main)
    calls = [(op, called) for op in order.places if (called := _primitive(op, functions)) is not None]
    live = _live_bytes(order)
    used: dict[Operation, list[int]] = {}
    for op, called in calls:
        used.setdefault(called, []).append(_countable(live[order.places[op]], op))
    for called, counts in used.items():
        called.attributes[USED_MEMORY] = DenseArrayBase.from_list(i64, counts)
    types = [*main.function_type.inputs, *main.function_type.outputs]
    main.attributes[IO_USED_MEMORY] = IntegerAttr(_countable(sum(_bytes_of(type, main) for type in types), main), i64)


class _Order:
    """The ops of a function that run one by one, closures and groups taken whole, with their places."""

    def __init__(self, main: FuncOp):
        self.places: dict[Operation, int] = {}
        self.ends: dict[Operation, int] = {}
        """The last place inside of an op with regions."""
        self.users: dict[SSAValue, list[Operation]] = {}
        """For each value but constants the ops that use it, under whatever name."""
        self._uses = ValueUses(main)
        pending: list[Operation | None] = [main.body.block.first_op]
        around: list[Operation] = []
        while pending:
            op = pending.pop()
            if op is None:
                continue
            # A block ends in an op without regions, so that each op with regions is met by the next one of its block.
            while around and op.parent is around[-1].parent:
                self.ends[around.pop()] = len(self.places) - 1
            pending.append(op.next_op)
            self._note(op)
            if op.regions and not isinstance(op, FnOp | FusedOp):
                around.append(op)
                pending += [block.first_op for region in reversed(op.regions) for block in region.blocks]

    def _note(self, op: Operation) -> None:
        self.places[op] = len(self.places)
        if isinstance(op, LetOp):
            return
        if isinstance(op, FnOp):
            self._check_closure(op)
        for value in dict.fromkeys(_named(value) for value in op.operands):
            if not isinstance(value.owner, ConstantOp):
                self.users.setdefault(value, []).append(op)

    def _check_closure(self, op: FnOp) -> None:
        """`PassError` where what the closure keeps alive is not what its calls take."""
        if not _is_marked(op):
            raise PassError(
                f"{PASS_NAME}: a function in @main is not primitive",
                location=location_of(op),
                help="inline it (relay-inline), or give it the attribute Primitive = 1",
            )
        captured = [value for value in self._uses.of(op) if not isinstance(_named(value).owner, ConstantOp)]
        if captured:
            raise PassError(
                f"{PASS_NAME}: a primitive function uses a value from around it",
                location=location_of(op),
                help="give it a parameter for each value that it needs",
            )


def _named(value: SSAValue) -> SSAValue:
    """The value that `value` is, without the names that lets give it."""
    while isinstance(value.owner, LetOp):
        value = value.owner.value
    return value


def _is_marked(op: Operation) -> bool:
    mark = op.attributes.get(COMPILER_PRIMITIVE)
    return mark is not None and not (isinstance(mark, IntegerAttr) and not mark.value.data)


def _primitive(op: Operation, functions: dict[str, FuncOp]) -> Operation | None:
    """The op to annotate for a call of a primitive function; `None` for any other op."""
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
    """`count` bytes, which an attribute says; `PassError` where no number of 64 bits is as great."""
    if count > MOST_BYTES:
        raise PassError(
            f"{PASS_NAME}: {count} bytes are live here, more than {MOST_BYTES}",
            location=location_of(at),
            help="give the tensors smaller extents",
        )
    return count


def _live_bytes(order: _Order) -> list[int]:
    """The bytes that are live at each place."""
    steps = [0] * (len(order.places) + 1)
    for value, users in order.users.items():
        size = _bytes_of(value.type, users[0])
        for first, last in _spans(value, users, order):
            steps[first] += size
            steps[last + 1] -= size
    return list(accumulate(steps))


def _spans(value: SSAValue, users: list[Operation], order: _Order) -> Iterator[tuple[int, int]]:
    """The first and last places of each run of places at which `value` is live.

    In a block a value is live up to the last op that uses it or in whose regions it is used; in the regions of that op
    up to the last use in each, and to the end of a loop, which needs it again.
    """
    owner, home = value.owner, block_of(value)
    first = order.places[owner] if isinstance(owner, Operation) else _first_place(owner, order)
    pending = [(first, 0, [_path(user, home) for user in users])]
    while pending:
        first, depth, paths = pending.pop()
        last = max((path[depth] for path in paths), key=order.places.__getitem__)
        inside = [path for path in paths if path[depth] is last and len(path) > depth + 1]
        if inside and isinstance(last, LoopOp):
            yield first, order.ends[last]
            continue
        yield first, order.places[last]
        branches: dict[Block, list[list[Operation]]] = {}
        for path in inside:
            if (branch := path[depth + 1].parent) is not None:
                branches.setdefault(branch, []).append(path)
        pending += [(_first_place(branch, order), depth + 1, part) for branch, part in branches.items()]


def _path(user: Operation, home: Block | None) -> list[Operation]:
    """The op of `home` that `user` is or stands in, and the ops from there to `user`, each in a region of the last."""
    path = [user]
    while path[-1].parent is not home and (around := path[-1].parent_op()) is not None:
        path.append(around)
    return path[::-1]


def _first_place(block: Block, order: _Order) -> int:
    return 0 if block.first_op is None else order.places[block.first_op]


def _bytes_of(type: Attribute, user: Operation) -> int:
    """The bytes of a value that `user` uses, all tensors of a tuple together."""
    return sum(_tensor_bytes(leaf, user) for leaf in _leaves(type))


def _leaves(type: Attribute) -> Iterable[Attribute]:
    return (leaf for leaf in leaf_types([type]) if not isinstance(leaf, FunctionType))


def _tensor_bytes(type: Attribute, user: Operation) -> int:
    if not is_complete(type):
        raise PassError(
            f"{PASS_NAME}: a type is not known yet", location=location_of(user), help="run relay-infer-type first"
        )
    if not isinstance(type, TensorType) or any(extent < 0 for extent in type.get_shape()):
        raise PassError(
            f"{PASS_NAME}: AnnotateUsedMemory does not support dynamic shapes, found {type}",
            location=location_of(user),
            help="give every extent a number",
        )
    return prod(type.get_shape()) * numpy_dtype(type.element_type).itemsize
