"""Updates types after a rewrite, visiting only what changed.

Relay infers the types of the whole module after every function pass. Here every op has a type: only new ops, and ops
whose operands or attributes changed, are inferred again, and then the ops that depend on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.structure.call import AnyCall, NamedCallOp, callee_name, instantiate, is_call, names_in
from xrelay.dialects.shared.attribute_names import PRIMITIVE
from xrelay.dialects.shared.op_lists import defined_values
from xrelay.dialects.shared.types import is_complete
from xrelay.index_algebra.dims import ANY
from xrelay.passes.graph.dim_substitution import dim_names_in
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.types.infer_type import infer_types


@dataclass(frozen=True)
class _InferredFrom:
    """The operand types and properties from which the type of an op was inferred."""

    operand_types: tuple[Attribute, ...]
    properties: Mapping[str, Attribute]

    def holds(self, op: Operation) -> bool:
        """Returns whether operand types and properties of `op` are unchanged."""
        return self.operand_types == op.operand_types and self.properties == op.properties


class TypeUpkeep:
    """Records the ops of `functions` with their current types; `update` infers the types that a rewrite changed."""

    def __init__(self, functions: Iterable[FuncOp]):
        self._seen: dict[Operation, _InferredFrom] = {}
        self.has_new_extents = False
        """Whether there are new named extents, which only inference of the whole module can determine."""
        self.inferred = 0
        """The number of ops whose type was inferred."""
        for function in functions:
            for op in walk_ops(function):
                if isinstance(op, RelayOp):
                    self._seen[op] = _InferredFrom(tuple(op.operand_types), dict(op.properties))

    def update(self, module: ModuleOp, functions: Sequence[FuncOp]) -> None:
        """Infers the type of each changed op of `functions`, and of the ops that depend on it.

        If types are incomplete afterwards, infers the whole module. Raises `ConstraintError` or `TypeInferenceError` if
        an op rejects its operands.
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
        """Sets the result types of calls of `function`; returns the functions in which some changed."""
        changed: dict[FuncOp, None] = {}
        outputs = function.function_type.outputs.data
        # A kernel shares names with its callers.
        names = set[str]() if PRIMITIVE in function.attributes else set(names_in(outputs))
        for call, caller in callers.of(function):
            bindings = call.names if isinstance(call, NamedCallOp) else {}
            # Only inference of the whole module can bind new names of the callee.
            self.has_new_extents |= not names <= bindings.keys()
            for result, type_ in zip(call.results, outputs, strict=True):
                own = instantiate(type_, {name: bindings.get(name, ANY) for name in names})
                if result.type != own:
                    _set_type(result, own)
                    changed[caller] = None
        return list(changed)

    def _retype(self, op: RelayOp) -> None:
        """Infers the type of `op`, unless its operand types and properties are unchanged."""
        seen = self._seen.get(op)
        if (seen is not None and seen.holds(op)) or not all(is_complete(type) for type in op.operand_types):
            return
        self.inferred += 1
        self._seen[op] = _InferredFrom(tuple(op.operand_types), dict(op.properties))
        inference = op.inference(op.operand_types)
        # Only inference of the whole module determines names of extents, and shapes from elements of operands.
        self.has_new_extents |= bool(inference.extents)
        _set_type(op.results[0], inference.anonymous_type)


def update_signatures(module: ModuleOp) -> None:
    """Updates result types of functions with one block, and of their calls, if some types are incomplete.

    A value of known type may have replaced one of incomplete type, or the reverse.
    """
    upkeep, callers = TypeUpkeep(()), _Callers(module)
    pending = [op for op in module.body.block.ops if isinstance(op, FuncOp) and len(op.body.blocks) == 1]
    while pending:
        function = pending.pop()
        if _has_unknown(function) and _update_signature(function):
            pending += upkeep.update_calls(callers, function)
    if upkeep.has_new_extents:
        infer_types(module)


def _has_unknown(function: FuncOp) -> bool:
    """Returns whether a type that `function` returns, or its signature declares, is incomplete."""
    last = function.body.block.last_op
    types = (*function.function_type.outputs, *(() if last is None else last.operand_types))
    return not all(map(is_complete, types))


def renew_requirements(module: ModuleOp) -> None:
    """Infers the types of a module with named dimensions again, unless some are incomplete.

    An op does not record a requirement that follows from those of earlier ops. It has to when these ops go.
    """
    if not has_incomplete_types([module]) and dim_names_in(module):
        infer_types(module)


def has_incomplete_types(functions: Iterable[Operation]) -> bool:
    """Returns whether a value in `functions` has an incomplete type."""
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
    """Sets the signature to the types of the body; returns whether the results changed."""
    block = function.body.blocks.first
    if block is None or block.last_op is None:
        return False
    inputs, outputs = list(block.arg_types), list(block.last_op.operand_types)
    changed = outputs != list(function.function_type.outputs)
    if changed or inputs != list(function.function_type.inputs):
        function.function_type = FunctionType.from_lists(inputs, outputs)
    return changed


class _Callers:
    """The calls of each function of a module, computed on first use."""

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
        """Returns the calls of `function`, each with the function that contains it."""
        return self._calls.get(function.sym_name.data, [])
