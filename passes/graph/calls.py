"""The call graph of a module, its cycles, and an order in which callees come first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from xdsl.dialects.func import FuncOp

from xrelay.dialects.relay.structure.call import callee_name, is_call
from xrelay.passes.infra.verify import walk_ops


def calls_in(function: FuncOp, names: Mapping[str, object]) -> Counter[str]:
    """How often `function` calls each function of `names`."""
    found = (callee_name(op) for op in walk_ops(function) if is_call(op))
    return Counter(name for name in found if name in names)


def call_cycle(callees: Mapping[str, Iterable[str]]) -> list[str] | None:
    """The names along a cycle of calls, the first one again at the end; `None` where no function calls itself."""
    done = set[str]()
    for start in callees:
        path: dict[str, Iterator[str]] = {}
        current: str | None = start
        while current is not None:
            if current in path:
                names = list(path)
                return [*names[names.index(current) :], current]
            if current not in done:
                path[current] = iter(callees.get(current, ()))
            current = _next_on(path, done)
    return None


def recursive_functions(callees: Mapping[str, Counter[str]]) -> set[str]:
    """The functions that may call themselves, and those that lie between two such."""
    callers: dict[str, list[str]] = {name: [] for name in callees}
    for name, names in callees.items():
        for callee in names:
            callers[callee].append(name)
    left = _without_ends(callees, callers, set(callees))
    return _without_ends(callers, callees, left)


def _without_ends(
    onward: Mapping[str, Collection[str]], backward: Mapping[str, Collection[str]], nodes: set[str]
) -> set[str]:
    """`nodes` without those from which no way along `onward` leads to a cycle."""
    waiting = {name: sum(other in nodes for other in onward[name]) for name in nodes}
    ends = [name for name, count in waiting.items() if not count]
    left = set(nodes)
    while ends:
        name = ends.pop()
        left.discard(name)
        for other in backward[name]:
            if other in left:
                waiting[other] -= 1
                if not waiting[other]:
                    ends.append(other)
    return left


def callees_first(callees: Mapping[str, Iterable[str]]) -> list[str]:
    """Each name behind those that it calls; of a cycle, the one that is met first comes last."""
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


def _next_on(path: dict[str, Iterator[str]], done: set[str]) -> str | None:
    """The next function to look at behind the last of `path`, from which what has no more callees goes."""
    while path:
        last = next(reversed(path))
        following = next(path[last], None)
        if following is not None:
            return following
        del path[last]
        done.add(last)
    return None
