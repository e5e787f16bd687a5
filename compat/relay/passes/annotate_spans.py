"""`relay-annotate-spans`: sets the location of each op to its position in the text of the module.

Prints the module, parses the text, and sets the location of each op to its line and column in a file called
`GeneratedSource`. Locations keep the names of source nodes. Programs made in Python have no source text, so messages
about them have no position without this pass.

Before:

    %y = relay.exp(%x) loc(unknown)
    %z = relay.tanh(%y) loc("conv1"(unknown))

After:

    %y = relay.exp(%x) loc("GeneratedSource":3:5)
    %z = relay.tanh(%y) loc("conv1"("GeneratedSource":4:5))

Positions in other texts are replaced. Nothing else of the program changes.

Refuses (`PassError`): a module with too long a text. A small type that shares parts can print as millions of parts.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp, NameLoc, StringAttr, UnknownLoc

from xrelay.dialects.shared.locations import fuse_locations, location_of, source_names
from xrelay.errors import PassError
from xrelay.passes.infra.printing import print_module
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.relay.passes.attribute_folds import AttributeFold, count

SOURCE = "GeneratedSource"
"""The file name of the text, as in Relay."""


MAX_PARTS = 1_000_000
"""The maximum number of parts in the types and attributes of an op."""


@dataclass(frozen=True)
class RelayAnnotateSpansPass(XRelayPass):
    """Sets the location of each op to its position in the text of the module; see the module's docstring. Exact."""

    name = "relay-annotate-spans"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replaces the locations in place."""
        _check_text(op)
        parsed = parse_module(full_context(), print_module(op), SOURCE)
        for each, placed in zip(walk_ops(op), walk_ops(parsed), strict=True):
            each.location = _with_names(placed.location, source_names(each.location))


def _check_text(module: ModuleOp) -> None:
    """Raises `PassError` if the printed types and attributes of an op have more than `MAX_PARTS` parts."""
    parts = AttributeFold(count)
    for op in walk_ops(module):
        written = (*op.properties.values(), *op.attributes.values(), *op.result_types)
        if sum(map(parts.of, written)) > MAX_PARTS:
            raise PassError(
                f"relay-annotate-spans: the types and attributes of {op.name} have more than {MAX_PARTS} parts",
                location=location_of(op),
                help="do not annotate spans: the text of this module is too long to parse",
            )


def _with_names(place: LocationAttr, names: list[str]) -> LocationAttr:
    """Returns the location `place`, with the names of the source nodes."""
    if len(names) == 1:
        return NameLoc(StringAttr(names[0]), place)
    return fuse_locations([*(NameLoc(StringAttr(name), UnknownLoc()) for name in names), place])
