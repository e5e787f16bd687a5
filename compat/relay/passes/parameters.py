"""Adds and removes parameters of functions by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, BlockArgument, SSAValue

from xrelay.dialects.shared.attribute_names import PRIMITIVE, VALUE_NAME
from xrelay.passes.graph.scopes import is_graph
from xrelay.passes.infra.verify import walk_ops


def free_functions(module: ModuleOp) -> Iterator[FuncOp]:
    """Yields the functions whose parameters may change: those with a body, except kernels and called functions."""
    called = {op.callee.string_value() for op in walk_ops(module) if isinstance(op, CallOp)}
    for op in module.ops:
        if not isinstance(op, FuncOp) or op.is_declaration or PRIMITIVE in op.attributes:
            continue
        if op.sym_name.data not in called and is_graph(op):
            yield op


class Parameters:
    """The parameters of one function. Parameters can be added, and replaced ones removed."""

    def __init__(self, function: FuncOp):
        self._function, self._block = function, function.body.block
        given = function.arg_attrs.data if function.arg_attrs is not None else None
        self._attributes = [{} if given is None else dict(given[index].data) for index in range(len(self._block.args))]
        self._added: dict[str, BlockArgument] = {}

    def name_of(self, value: SSAValue) -> str | None:
        """Returns the public name of a parameter, or None for any other value."""
        if not isinstance(value, BlockArgument) or value.owner is not self._block:
            return None
        name = self._attributes[value.index].get(VALUE_NAME)
        return name.data if isinstance(name, StringAttr) else value.name_hint

    def add(self, name: str, type: Attribute) -> BlockArgument:
        """Returns the parameter `name`, which the first call adds after all others."""
        if name not in self._added:
            argument = self._block.insert_arg(type, len(self._block.args))
            argument.name_hint = name if SSAValue.is_valid_name(name) else None
            self._attributes.append({VALUE_NAME: StringAttr(name)})
            self._added[name] = argument
        return self._added[name]

    def finish(self, replaced: Sequence[SSAValue]) -> None:
        """Removes those of `replaced` that have no use, and updates the signature."""
        for argument in dict.fromkeys(replaced):
            if isinstance(argument, BlockArgument) and argument.first_use is None and argument.block is self._block:
                del self._attributes[argument.index]
                self._block.erase_arg(argument)
        types = [argument.type for argument in self._block.args]
        self._function.function_type = FunctionType.from_lists(types, self._function.function_type.outputs.data)
        if any(self._attributes):
            self._function.arg_attrs = ArrayAttr([DictionaryAttr(dict(each)) for each in self._attributes])
