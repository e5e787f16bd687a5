"""Intermediate values of a program as additional outputs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr, TensorType, TupleType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.api.interface import main_function
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp
from xrelay.dialects.shared.attribute_names import VALUE_NAME
from xrelay.dialects.shared.locations import format_location
from xrelay.errors import InputError, did_you_mean
from xrelay.passes.infra.module_level import module_level


@dataclass(frozen=True)
class NodeOutput:
    """Output number `field` of the node at the source location `location`."""

    location: str
    field: int


def add_outputs(
    module: ModuleOp,
    names: Sequence[str],
    *,
    nodes: Mapping[str, NodeOutput] | None = None,
    only_known: bool = False,
) -> list[str]:
    """Appends the values called `names` to the results of `@main`, under these names; returns the new names.

    A value is identified by its name in the text (`%y` or `y`), or by the node or source location it comes from.
    `nodes` maps other names, such as those of an ONNX model, to outputs of nodes. A tuple becomes one output per field,
    `name.0`, `name.1`. Raises `InputError` for a name that no value or several values in the body of the function have,
    and for a module below topi. With `only_known`, such names are skipped, and so are values other than tensors.
    """
    level = module_level(module)
    if level not in ("relay", "topi"):
        raise InputError(
            f"values of a program at the {level} level cannot be outputs", help="pass the program at the relay level"
        )
    main = main_function(module)
    end = main.body.block.last_op
    if not isinstance(end, ReturnOp):
        raise InputError("@main does not end with func.return")
    values = _Values(main.body.block)
    outputs: list[tuple[str, SSAValue]] = []
    for name in names:
        node = nodes.get(name) if nodes is not None else None
        try:
            own = _fields(name, values.named(name), end) if node is None else [(name, values.output(node, end))]
        except InputError:
            if only_known:
                continue
            raise
        outputs += [pair for pair in own if not only_known or isinstance(pair[1].type, TensorType)]
    end.operands = [*end.operands, *(value for _, value in outputs)]
    added = [name for name, _ in outputs]
    _set_names(main, added)
    return added


class _Values:
    """The values of a block by name and by source location."""

    def __init__(self, block: Block):
        self._hints: defaultdict[str, list[SSAValue]] = defaultdict(list)
        self._by_location: dict[str, SSAValue] = {}
        for value in (*block.args, *(result for op in block.ops for result in op.results)):
            if value.name_hint is not None:
                self._hints[value.name_hint].append(value)
            if (location := _location(value.owner)) is not None:
                self._by_location[location] = value  # the last value that comes from a node is its result

    def named(self, name: str) -> SSAValue:
        """Returns the value with a name or from a source location."""
        if (placed := self._from(name)) is not None:
            return placed
        found = self._hints.get(name.removeprefix("%"), [])
        if len(found) > 1:
            locations = {location: None for value in found if (location := _location(value.owner)) is not None}
            hint = f"identify the value by its location: {', '.join(locations)}"
            raise InputError(f"{len(found)} values are called {name!r}", help=hint)
        if not found:
            hint = did_you_mean(name, sorted({*self._hints, *self._by_location}), "xrelay import lists all names")
            raise InputError(f"no value is called {name!r}", help=hint)
        return found[0]

    def output(self, node: NodeOutput, end: Operation) -> SSAValue:
        """Returns an output of a node."""
        value = self._from(node.location)
        if value is not None and isinstance(value.type, TupleType) and node.field < len(value.type.types):
            return _fields("", value, end)[node.field][1]
        if value is None or isinstance(value.type, TupleType) or node.field > 0:
            raise InputError(f"output {node.field} of the node {node.location!r} is not a value of the program")
        return value

    def _from(self, location: str) -> SSAValue | None:
        """Returns the value from a source location, or the tuple that contains it as a field."""
        value = self._by_location.get(location)
        owner = None if value is None else value.owner
        if isinstance(owner, TupleGetItemOp) and _location(owner.data.owner) == location:
            return owner.data
        return value


def _fields(name: str, value: SSAValue, end: Operation) -> list[tuple[str, SSAValue]]:
    """Returns the named outputs of a value: itself, or the fields of a tuple, extracted before `end`."""
    plain = name.removeprefix("%")
    if not isinstance(value.type, TupleType):
        return [(plain, value)]
    fields = [TupleGetItemOp.call(value, index=index) for index in range(len(value.type.types))]
    for field in fields:
        Rewriter.insert_op(field, InsertPoint.before(end))
    return [(f"{plain}.{index}", field.result) for index, field in enumerate(fields)]


def _location(owner: Operation | Block) -> str | None:
    return format_location(owner.location) if isinstance(owner, Operation) else None


def _set_names(function: FuncOp, names: Sequence[str]) -> None:
    """Updates the type of the function and names the last results."""
    end = function.body.block.last_op
    old, types = function.function_type, end.operand_types if end is not None else ()
    function.function_type = FunctionType.from_lists(list(old.inputs), list(types))
    known = list(function.res_attrs) if function.res_attrs is not None else [DictionaryAttr({}) for _ in old.outputs]
    known += (DictionaryAttr({VALUE_NAME: StringAttr(name)}) for name in names)
    function.res_attrs = ArrayAttr(known)
