"""Finds the ops that have side effects; visits each op once.

xDSL visits all ops inside of an op at each query, recursively. For nested branches this takes quadratic time in their
depth, and a few hundred levels exceed Python's stack.
"""

from __future__ import annotations

from collections.abc import Container
from functools import cache

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.traits import IsTerminator, MemoryEffect, NoMemoryEffect, RecursiveMemoryEffect, is_side_effect_free

from xrelay.dialects.relay.structure.call import callee_name, is_call
from xrelay.passes.infra.verify import walk_ops


def is_pure(op: Operation) -> bool:
    """Whether `op` and the ops inside of it certainly have no side effects; for most ops their class determines it."""
    return _is_pure_class(type(op)) or is_side_effect_free(op)


@cache
def _is_pure_class(op: type[Operation]) -> bool:
    effects = op.get_traits_of_type(MemoryEffect)
    return bool(effects) and all(isinstance(effect, NoMemoryEffect) for effect in effects)


def side_effect_free_ops(top: Operation, pure_calls: Container[str] | None = frozenset()) -> set[Operation]:
    """Returns those of `top` and the ops in it that have no side effects.

    An op with regions, such as a branch, has the effects of the ops in them. Calls of the functions in `pure_calls`
    have no side effects; with None, all calls are free of them.
    """
    free: set[Operation] = set()
    # The reversed order visits the ops inside of an op before the op.
    for op in reversed(list(walk_ops(top))):
        if _is_pure_class(type(op)):
            free.add(op)
        elif is_call(op):
            if pure_calls is None or callee_name(op) in pure_calls:
                free.add(op)
        elif _has_effects_of_regions(type(op)):
            inside = (inner for region in op.regions for block in region.blocks for inner in block.ops)
            if all(inner in free for inner in inside):
                free.add(op)
        elif is_side_effect_free(op):
            free.add(op)
    return free


@cache
def _has_effects_of_regions(op: type[Operation]) -> bool:
    """Whether the only effects of an op of this class are those of the ops in its regions."""
    kinds = op.get_traits_of_type(MemoryEffect)
    return len(kinds) == 1 and isinstance(kinds[0], RecursiveMemoryEffect)


def pure_functions(module: Operation | None) -> set[str]:
    """Returns the functions of `module` that have no side effects; empty if it is not a module.

    A function without a body may have any effect, and so may its callers.
    """
    if not isinstance(module, ModuleOp):
        return set()
    functions = {op.sym_name.data: op for op in module.body.block.ops if isinstance(op, FuncOp)}
    callers: dict[str, list[str]] = {}
    for name, function in functions.items():
        for op in walk_ops(function):
            if is_call(op):
                callers.setdefault(callee_name(op), []).append(name)
    pending = [name for name, function in functions.items() if not _only_calls(function)]
    pending += [name for name in callers if name not in functions]
    impure = set(pending)
    while pending:
        for caller in callers.get(pending.pop(), ()):
            if caller not in impure:
                impure.add(caller)
                pending.append(caller)
    return functions.keys() - impure


class PureFunctions(Container[str]):
    """The names of `pure_functions`, computed at the first query: few programs have calls without uses."""

    def __init__(self, module: ModuleOp):
        self._module = module
        self._names: set[str] | None = None

    def __contains__(self, name: object) -> bool:
        """Whether the function `name` has no side effects."""
        if self._names is None:
            self._names = pure_functions(self._module)
        return name in self._names


def _only_calls(function: FuncOp) -> bool:
    """Whether `function` has a body, and its ops have no side effects if its callees have none."""
    free = side_effect_free_ops(function, None)
    inside = (op for region in function.regions for block in region.blocks for op in block.ops)
    return not function.is_declaration and all(op in free or op.has_trait(IsTerminator) for op in inside)
