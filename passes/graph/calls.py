"""The call graph of a module, its groups of mutually recursive functions, and its functions with callees first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from xdsl.dialects.func import FuncOp

from xrelay.dialects.relay.structure.call import callee_name, is_call
from xrelay.passes.graph.cycles import nodes_on_cycles
from xrelay.passes.infra.verify import walk_ops


def calls_in(function: FuncOp, names: Mapping[str, object]) -> Counter[str]:
    """Returns the number of calls in `function` of each function in `names`."""
    found = (callee_name(op) for op in walk_ops(function) if is_call(op))
    return Counter(name for name in found if name in names)


def recursive_functions(callees: Mapping[str, Counter[str]]) -> set[str]:
    """Returns the functions on cycles of the call graph, and those on paths between such cycles."""
    return nodes_on_cycles(callees)


def call_components(callees: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Returns the strongly connected components of a call graph, without single functions that do not call themselves.

    The names in a component, and the components by their first names, are in the order of `callees`.
    """
    order = {name: number for number, name in enumerate(callees_first(callees))}
    callers: dict[str, list[str]] = {name: [] for name in callees}
    for name, names in callees.items():
        for callee in names:
            if callee in callers:
                callers[callee].append(name)
    # Kosaraju: the functions that reach `start` backwards, and are in no earlier group, are also called by it.
    position = {name: number for number, name in enumerate(callees)}
    left = set(callees)
    found: list[list[str]] = []
    for start in sorted(callees, key=lambda name: -order[name]):
        group: list[str] = []
        pending = [start]
        while pending:
            name = pending.pop()
            if name in left:
                left.discard(name)
                group.append(name)
                pending += callers[name]
        if len(group) > 1 or (group and group[0] in callees[group[0]]):
            found.append(sorted(group, key=position.__getitem__))
    return sorted(found, key=lambda group: position[group[0]])


def callees_first(callees: Mapping[str, Iterable[str]]) -> list[str]:
    """Returns the names with callees before their callers. In a cycle, the name that is reached first is last."""
    ordered: dict[str, None] = {}
    entered = set[str]()
    for start in callees:
        pending = [start]
        while pending:
            name = pending[-1]
            if name in entered:
                ordered.setdefault(pending.pop())
                continue
            entered.add(name)
            pending += (callee for callee in callees.get(name, ()) if callee not in entered)
    return list(ordered)
