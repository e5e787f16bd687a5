"""`relay-annotate-spans`: gives each op its place in the text of the module.

What: the module is printed and the text parsed, and each op gets the line and column at which it stands there, in a
file called `GeneratedSource`. Names of source nodes stay beside the place. Why: programs made in Python have no text,
so that messages about them name no place; with places and the text that printing the module gives, they do.

Before:

    %y = relay.exp(%x) loc(unknown)
    %z = relay.tanh(%y) loc("conv1"(unknown))

After:

    %y = relay.exp(%x) loc("GeneratedSource":3:5)
    %z = relay.tanh(%y) loc("conv1"("GeneratedSource":4:5))

Places in other texts, which the ops had before, are replaced. Nothing else of the program changes.

Refuses (`PassError`) a module whose text would be beyond measure: a few types that share parts may stand for millions.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp, NameLoc, StringAttr, UnknownLoc
from xdsl.passes import ModulePass

from xrelay.dialects.shared.locations import fuse_locations, location_of, source_names
from xrelay.errors import PassError
from xrelay.passes.graph.attribute_parts import AttributeFold, count
from xrelay.passes.infra.printing import print_module
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.infra.verify import walk_ops

SOURCE = "GeneratedSource"
"""The name of the text, as Relay calls it."""
MOST_PARTS = 1_000_000
"""As many parts the types and attributes of one op may have."""


@dataclass(frozen=True)
class RelayAnnotateSpansPass(ModulePass):
    """Give each op its place in the text of the module; see the module's docstring. Exact."""

    name = "relay-annotate-spans"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replace locations in place."""
        annotate_spans(op)


def annotate_spans(module: ModuleOp) -> str:
    """Give each op of `module` its place in the text of it; returns the text."""
    _check_text(module)
    text = print_module(module)
    parsed = parse_module(full_context(), text, SOURCE)
    for op, placed in zip(walk_ops(module), walk_ops(parsed), strict=True):
        op.location = _with_names(placed.location, source_names(op.location))
    return text


def _check_text(module: ModuleOp) -> None:
    """`PassError` where types and attributes of one op have more than `MOST_PARTS` parts when they are written out."""
    parts = AttributeFold(count)
    for op in walk_ops(module):
        written = (*op.properties.values(), *op.attributes.values(), *op.result_types)
        if sum(map(parts.of, written)) > MOST_PARTS:
            raise PassError(
                f"relay-annotate-spans: the types and attributes of {op.name} have more than {MOST_PARTS} parts",
                location=location_of(op),
                help="do without places: the text of such a module is too long to be read",
            )


def _with_names(place: LocationAttr, names: list[str]) -> LocationAttr:
    """The place of an op that is from the source nodes of these names."""
    if len(names) == 1:
        return NameLoc(StringAttr(names[0]), place)
    return fuse_locations([*(NameLoc(StringAttr(name), UnknownLoc()) for name in names), place])
