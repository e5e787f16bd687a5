"""Levels of a program as text, with the nodes of the model that each line was made from."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from io import StringIO

from xdsl.dialects.builtin import ArrayAttr, FileLineColLoc, FusedLoc, ModuleOp, StringAttr
from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Operation

from xrelay.dialects.shared.locations import source_names
from xrelay.passes.infra.printing import TextPrinter, bracket_function_results
from xrelay.passes.infra.verify import walk_ops


@dataclass(frozen=True)
class Span:
    """The lines of a function, first and last, and the nodes that it computes."""

    first: int
    last: int
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Level:
    """The text of a program at a level. Lines are counted from 0."""

    name: str
    title: str
    text: str
    spans: tuple[Span, ...] = ()
    """The functions that compute nodes, in order."""
    nodes: Mapping[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])
    """The nodes of single lines."""


class _NotingPrinter(TextPrinter):
    """A printer that notes where the text of each op starts."""

    def __init__(self, stream: StringIO):
        super().__init__(stream, generic=False, debuginfo=False)
        self.starts: list[tuple[int, Operation]] = []

    def print_op(self, op: Operation) -> None:
        """Prints an op."""
        self.starts.append((self.text.tell(), op))
        super().print_op(op)


def linked_text(module: ModuleOp, name: str, title: str, computed: Mapping[str, Sequence[str]]) -> Level:
    """Returns the text of a module. Lines are linked by the locations of ops, and by the nodes of their function."""
    bracket_function_results(module)
    printer = _NotingPrinter(StringIO())
    printer.print_op(module)
    text = printer.text.getvalue()
    newlines = [at for at, character in enumerate(text) if character == "\n"]
    lines = [(bisect_right(newlines, start - 1), op) for start, op in printer.starts]
    nodes: defaultdict[int, dict[str, None]] = defaultdict(dict)
    for line, op in lines:
        nodes[line].update(dict.fromkeys(nodes_of_op(op)))
    found = {line: tuple(names) for line, names in nodes.items() if names}
    return Level(name, title, text, tuple(_spans(lines, len(newlines), computed)), found)


def nodes_of_op(op: Operation) -> Sequence[str]:
    """Returns the nodes of an op: those of its location, and the function that it calls as `@name`."""
    return [*names_of(op.location), *([f"@{op.callee.string_value()}"] if isinstance(op, CallOp) else [])]


@lru_cache(maxsize=4096)
def names_of(location: Attribute) -> tuple[str, ...]:
    """Returns the nodes in a location; `line N` is a node of a text."""
    names = source_names(location)
    if not names:
        fused = location.locations if isinstance(location, FusedLoc) else None
        parts = fused.data if isinstance(fused, ArrayAttr) else (location,)
        names = [f"line {part.line.data}" for part in parts if isinstance(part, FileLineColLoc)]
    return tuple(dict.fromkeys(names))


def nodes_of_functions(module: ModuleOp) -> dict[str, tuple[str, ...]]:
    """Returns the nodes that each called function of a module computes: those of its calls."""
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for op in walk_ops(module):
        if isinstance(op, CallOp):
            found[op.callee.string_value()].update(dict.fromkeys(nodes_of_op(op)))
    return {name: tuple(nodes) for name, nodes in found.items()}


def nodes_of_equal_calls(module: ModuleOp) -> dict[str, tuple[str, ...]]:
    """Returns for each node of a called kernel those at its position in all calls of the kernel.

    The calls of a kernel compute equal ops, and the ops of the kernel have the locations of one call only.
    """
    calls: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
    for op in walk_ops(module):
        if isinstance(op, CallOp):
            calls[op.callee.string_value()].append(names_of(op.location))
    columns = (column for rows in calls.values() if len({*map(len, rows)}) == 1 for column in zip(*rows, strict=True))
    found: dict[str, tuple[str, ...]] = {}
    for column in columns:
        for name in column:
            found[name] = tuple(dict.fromkeys((*found.get(name, ()), *column)))
    return found


def with_equal_calls(level: Level, equal: Mapping[str, Sequence[str]]) -> Level:
    """Returns a level whose lines in kernels have the nodes of all calls of the kernel."""
    firsts, nodes = [span.first for span in level.spans], dict(level.nodes)
    for line, names in level.nodes.items():
        at = bisect_right(firsts, line) - 1
        if at >= 0 and line <= level.spans[at].last:
            nodes[line] = tuple(dict.fromkeys(each for name in names for each in equal.get(name, (name,))))
    return replace(level, nodes=nodes)


def _spans(lines: Sequence[tuple[int, Operation]], end: int, computed: Mapping[str, Sequence[str]]) -> Iterator[Span]:
    """Yields the spans of the functions that compute nodes."""
    starts = [(line, op) for line, op in lines if isinstance(op.parent_op(), ModuleOp)]
    for (line, op), (following, _) in zip(starts, [*starts[1:], (end, None)], strict=True):
        name = op.get_attr_or_prop("sym_name")
        nodes = nodes_of(name.data, computed) if isinstance(name, StringAttr) else ()
        if nodes:
            yield Span(line, following - 1, nodes)


def nodes_of(function: str, computed: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Returns the nodes of a function, or of the kernel that it is a part of, whose name is a prefix of its own."""
    name = function
    while name:
        if name in computed:
            return tuple(computed[name])
        name = name.rpartition("_")[0]
    return ()
