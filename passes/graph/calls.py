"""The calls of functions in a module, and its functions with callees first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from xdsl.dialects.func import FuncOp

from xrelay.dialects.relay.structure.call import callee_name, is_call
from xrelay.passes.infra.digraph import post_order
from xrelay.passes.infra.verify import walk_ops


def calls_in(function: FuncOp, names: Mapping[str, object]) -> Counter[str]:
    """Returns the number of calls in `function` of each function in `names`."""
    found = (callee_name(op) for op in walk_ops(function) if is_call(op))
    return Counter(name for name in found if name in names)


def callees_first(callees: Mapping[str, Iterable[str]]) -> list[str]:
    """Returns the names with callees before their callers. In a cycle, the name that is reached first is last."""
    return post_order(callees, lambda name: list(callees.get(name, ()))[::-1])
