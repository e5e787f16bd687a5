"""Binds values by `relay.let`, with names that are unique in a function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator

from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.passes.graph.replacements import Replacements

Chooses: TypeAlias = Callable[[SSAValue], bool]


def bind_values(blocks: Iterable[Block], chooses: Chooses) -> int:
    """Binds the results in `blocks` that `chooses` accepts by lets, for all uses; returns the number of new lets.

    Constants, and values that only lets use, need no further binding.
    """
    blocks = list(blocks)
    names = _Names(op.variable.data for block in blocks for op in block.ops if isinstance(op, LetOp))
    bound = Replacements()
    for block in blocks:
        for op in list(block.ops):
            if not isinstance(op, ConstantOp | LetOp) and not op.has_trait(IsTerminator):
                for result in op.results:
                    if chooses(result) and not _bound_already(result):
                        _bind(op, result, names, bound)
    made = len(bound)
    bound.apply(lambda user, old: isinstance(user, LetOp) and user.value is old)
    return made


def _bound_already(value: SSAValue) -> bool:
    return value.first_use is not None and all(isinstance(use.operation, LetOp) for use in value.uses)


def _bind(op: Operation, value: SSAValue, names: _Names, bound: Replacements) -> None:
    """Inserts a let of `value` after `op`, for all uses of `value`."""
    let = LetOp.call(value, variable=names.fresh(value.name_hint))
    let.location = op.location
    let.result.name_hint, value.name_hint = value.name_hint, None
    Rewriter.insert_op(let, InsertPoint.after(op))
    bound.add(value, let.result)


class _Names:
    """Generates unique names of variables."""

    def __init__(self, taken: Iterable[str]):
        self._numbers = dict.fromkeys(taken, 0)

    def fresh(self, hint: str | None) -> str:
        """Returns `hint` (`x` without a hint) if it is unused, else `hint` with a number."""
        base = hint if hint is not None else "x"
        name, number = base, self._numbers.get(base, 0)
        while name in self._numbers:
            number += 1
            name = f"{base}_{number}"
        self._numbers[base] = number
        self._numbers.setdefault(name, 0)
        return name
