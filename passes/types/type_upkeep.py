"""Keeping types right after a rewrite, by looking only at what changed.

Relay infers the types of the whole module after every function pass. Here every op carries its type: only ops that are
new, or whose operands or attributes are others than before, are asked for their type again, and what depends on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from xrelay.dialects.attribute_names import PRIMITIVE
from xrelay.dialects.defined_values import defined_values
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.types import is_complete
from xrelay.dialects.relay.structure.call import AnyCall, NamedCallOp, callee_name, instantiated, is_call, names_in
from xrelay.index_algebra.dims import ANY
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.types.infer_type import infer_types


@dataclass(frozen=True)
class _Seen:
    """What the type of an op followed from."""

    operand_types: tuple[Attribute, ...]
    properties: Mapping[str, Attribute]

    def holds(self, op: Operation) -> bool:
        """Whether `op` is still the same in this respect."""
        return self.operand_types == op.operand_types and self.properties == op.properties


class TypeUpkeep:
    """Remembers the ops of `functions` as they are typed now; `update` types what a rewrite changed."""

    def __init__(self, functions: Iterable[FuncOp]):
        self._seen: dict[Operation, _Seen] = {}
        self.has_new_extents = False
        """Whether there are names of extents that only the inference of the whole tells."""
        self.inferred = 0
        """How many ops were asked for their type."""
        for function in functions:
            for op in walk_ops(function):
                if isinstance(op, RelayOp):
                    self._seen[op] = _Seen(tuple(op.operand_types), dict(op.properties))

    def update(self, module: ModuleOp, functions: Sequence[FuncOp]) -> None:
        """Give every op of `functions` that changed, and what follows it, the type its operands say.

        Where something is incomplete afterwards, the whole module is inferred. Raises `ConstraintError` or
        `TypeInferenceError` where an op refuses its operands.
        """
        pending = list(functions)
        callers = _Callers(module)
        while pending:
            function = pending.pop()
            for op in walk_ops(function):
                if isinstance(op, RelayOp):
                    self._retype(op)
            if _update_signature(function):
                pending += self.update_calls(callers, function)
        if self.has_new_extents or has_incomplete_types(functions):
            self.has_new_extents = False
            infer_types(module)

    def update_calls(self, callers: _Callers, function: FuncOp) -> list[FuncOp]:
        """Give the results of calls of `function` its types; the functions in which some changed."""
        changed: dict[FuncOp, None] = {}
        outputs = function.function_type.outputs.data
        # A kernel has the names of its callers.
        names = set[str]() if PRIMITIVE in function.attributes else set(names_in(outputs))
        for call, caller in callers.of(function):
            bindings = call.names if isinstance(call, NamedCallOp) else {}
            # What names of the callee that are new stand for is known to the inference of the whole alone.
            self.has_new_extents |= not names <= bindings.keys()
            for result, type_ in zip(call.results, outputs, strict=True):
                own = instantiated(type_, {name: bindings.get(name, ANY) for name in names})
                if result.type != own:
                    _set_type(result, own)
                    changed[caller] = None
        return list(changed)

    def _retype(self, op: RelayOp) -> None:
        """Ask `op` for its type unless nothing it follows from has changed."""
        seen = self._seen.get(op)
        if (seen is not None and seen.holds(op)) or not all(is_complete(type) for type in op.operand_types):
            return
        self.inferred += 1
        self._seen[op] = _Seen(tuple(op.operand_types), dict(op.properties))
        inference = op.inference(op.operand_types)
        # Names of extents, and shapes that are operands' elements, are known to the inference of the whole alone.
        self.has_new_extents |= bool(inference.extents)
        _set_type(op.results[0], inference.anonymous_type)


def update_signatures(module: ModuleOp) -> None:
    """Let functions of one block say the types that they give, and calls of them too, where some are not known yet.

    A value of a known type may have taken the place of one that has none yet, or the other way round.
    """
    upkeep, callers = TypeUpkeep(()), _Callers(module)
    pending = [op for op in module.body.block.ops if isinstance(op, FuncOp) and len(op.body.blocks) == 1]
    while pending:
        function = pending.pop()
        if _gives_unknown(function) and _update_signature(function):
            pending += upkeep.update_calls(callers, function)
    if upkeep.has_new_extents:
        infer_types(module)


def _gives_unknown(function: FuncOp) -> bool:
    """Whether a type that `function` gives, or says that it gives, is not known yet."""
    last = function.body.block.last_op
    types = (*function.function_type.outputs, *(() if last is None else last.operand_types))
    return not all(map(is_complete, types))


def has_incomplete_types(functions: Iterable[Operation]) -> bool:
    """Whether a value in `functions` still waits for its type."""
    return any(
        not is_complete(value.type)
        for function in functions
        for op in walk_ops(function)
        for value in defined_values(op)
    )


def _set_type(value: SSAValue, type_: Attribute) -> None:
    if value.type != type_:
        Rewriter.replace_value_with_new_type(value, type_)


def _update_signature(function: FuncOp) -> bool:
    """Let the signature say what the body takes and gives; whether its results changed."""
    block = function.body.blocks.first
    if block is None or block.last_op is None:
        return False
    inputs, outputs = list(block.arg_types), list(block.last_op.operand_types)
    changed = outputs != list(function.function_type.outputs)
    if changed or inputs != list(function.function_type.inputs):
        function.function_type = FunctionType.from_lists(inputs, outputs)
    return changed


class _Callers:
    """The calls of each function of a module, looked up when they are first asked for."""

    def __init__(self, module: ModuleOp):
        self._module = module

    @cached_property
    def _calls(self) -> dict[str, list[tuple[AnyCall, FuncOp]]]:
        found: dict[str, list[tuple[AnyCall, FuncOp]]] = {}
        for caller in self._module.body.block.ops:
            if isinstance(caller, FuncOp):
                for op in walk_ops(caller):
                    if is_call(op):
                        found.setdefault(callee_name(op), []).append((op, caller))
        return found

    def of(self, function: FuncOp) -> list[tuple[AnyCall, FuncOp]]:
        """The calls of `function`, each with the function in which it stands."""
        return self._calls.get(function.sym_name.data, [])
