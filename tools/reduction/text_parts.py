"""Parts of a text: some of its ops as a program of their own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.traits import IsTerminator

from xrelay.api.sources import save_module
from xrelay.dialects.relay.structure.weights import resolve_side_file, weights_of
from xrelay.dialects.shared.attribute_names import WEIGHTS_FILE
from xrelay.dialects.shared.op_lists import all_ops
from xrelay.errors import XRelayError
from xrelay.passes.infra.printing import print_module
from xrelay.passes.infra.source import full_context, read_module, write_text
from xrelay.passes.infra.verify import verify_module
from xrelay.passes.types.infer_type import known_types


class TextParts:
    """The ops of a text at any level, from which smaller texts are made."""

    unit = "ops"

    def __init__(self, path: Path):
        """Reads the text, unverified. Raises `ParseError` for invalid syntax, and the errors of its weights."""
        self._module = read_module(full_context(), path)
        resolve_side_file(self._module, path.parent)
        self._types = _inferred_types(self._module)
        self.count = len(_removable(self._module))
        """The number of ops that can be removed: all but modules and terminators."""

    def write_part(self, ops: Sequence[int], path: Path) -> bool:
        """Writes the text of the ops with these numbers; returns False for ops that are in no function."""
        part = self.part(ops)
        if part is None:
            return False
        part.attributes.pop(WEIGHTS_FILE, None)
        if weights_of(part):
            save_module(part, path)
        else:
            write_text(path, print_module(part) + "\n")
        return True

    def part(self, ops: Sequence[int]) -> ModuleOp | None:
        """Returns a module of the ops with these numbers, unverified; `None` if a value cannot become a parameter.

        Results of removed ops become the first parameters of their function, with inferred types. A function that
        returns values returns those whose users are removed, and loses unused parameters.
        """
        module, kept = self._module.clone(), set(ops)
        removable = _removable(module)
        removed = _outermost([op for number, op in enumerate(removable) if number not in kept])
        types = dict(zip(removable, self._types, strict=True))
        edits: dict[FuncOp, _FunctionEdit] = {}
        for op in reversed(removed):
            function = _function_around(op)
            if function is not None:
                edit = edits.setdefault(function, _FunctionEdit(function))
                edit.remove(op, types[op])
            elif any(result.uses for result in op.results):
                return None
            else:
                _erase(op)
        for edit in edits.values():
            edit.finish()
        return module


class _FunctionEdit:
    """The removal of ops from one function."""

    def __init__(self, function: FuncOp):
        self._function = function
        self._block: Block = function.body.blocks[0]
        self._ends: list[SSAValue] = []
        """The operands of removed ops, candidates for new results."""

    def remove(self, op: Operation, types: Sequence[Attribute]) -> None:
        """Removes an op; its results become parameters of these types."""
        for result, type in zip(op.results, types, strict=True):
            if result.uses:
                parameter = self._block.insert_arg(type, 0)
                parameter.name_hint = result.name_hint
                self._add_attributes()
                result.replace_all_uses_with(parameter)
        self._ends += op.operands
        _erase(op)

    def finish(self) -> None:
        """Updates the results and the type of the function."""
        function, last = self._function, self._block.last_op
        outputs: Sequence[Attribute] = function.function_type.outputs.data
        if isinstance(last, ReturnOp) and last.operands:
            returned = [value for value in last.operands if isinstance(value, OpResult)]
            ends = dict.fromkeys(value for value in reversed(self._ends) if self._is_end(value))
            last.operands = list(dict.fromkeys([*returned, *ends]))
            outputs = [value.type for value in last.operands]
            function.res_attrs = None
            self._remove_unused_parameters()
        function.function_type = FunctionType.from_lists(list(self._block.arg_types), outputs)

    def _is_end(self, value: SSAValue) -> bool:
        return isinstance(value, OpResult) and value.op.parent is self._block and not value.uses

    def _add_attributes(self) -> None:
        if self._function.arg_attrs is not None:
            self._function.arg_attrs = ArrayAttr([DictionaryAttr({}), *self._function.arg_attrs])

    def _remove_unused_parameters(self) -> None:
        unused = [number for number, parameter in enumerate(self._block.args) if not parameter.uses]
        if self._function.arg_attrs is not None:
            rows = enumerate(self._function.arg_attrs)
            self._function.arg_attrs = ArrayAttr([row for number, row in rows if number not in unused])
        for number in reversed(unused):
            self._block.erase_arg(self._block.args[number])


def _inferred_types(module: ModuleOp) -> list[Sequence[Attribute]]:
    """Returns the result types of the removable ops, as far as they can be inferred; as written for invalid modules."""
    ops = _removable(module)
    try:
        verify_module(module)
        type_of = known_types(module)
    except XRelayError:
        return [op.result_types for op in ops]
    return [[type_of(result) for result in op.results] for op in ops]


def _removable(module: ModuleOp) -> list[Operation]:
    return [op for op in all_ops(module) if not isinstance(op, ModuleOp) and not op.has_trait(IsTerminator)]


def _outermost(ops: Sequence[Operation]) -> list[Operation]:
    """Returns those of `ops`, which are in program order, that are not inside of another."""
    inside: set[Operation] = set()
    found: list[Operation] = []
    for op in ops:
        parent = op.parent_op()
        while parent is not None and parent not in inside:
            parent = parent.parent_op()
        if parent is None:
            found.append(op)
        inside.add(op)
    return found


def _function_around(op: Operation) -> FuncOp | None:
    """Returns the function that contains an op; `None` for an op outside of functions."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        parent = parent.parent_op()
    return parent


def _erase(op: Operation) -> None:
    op.detach()
    op.erase(safe_erase=False)
