"""Names of Relay's that do not exist here, and what serves instead: programs are on tensors, tuples and functions."""

from __future__ import annotations

from xrelay.relay.calls import NoOperatorError

_DATA_TYPES = "there are no algebraic data types", "use tuples, and relay.while_loop to go through what is long"
_REFERENCES = (
    "there are no references to write through",
    "pass what changes on: as a result, or through relay.while_loop",
)
_TEXT = "the text of Relay is not read", "xrelay.parse reads the text that str(module) gives"

_ABSENT: dict[str, tuple[str, str]] = {
    **dict.fromkeys(
        ("Clause", "Constructor", "GlobalTypeVar", "Match", "Prelude", "TypeCall", "TypeData"), _DATA_TYPES
    ),
    **dict.fromkeys(
        ("PatternConstructor", "PatternTuple", "PatternVar", "PatternWildcard", "adt", "prelude"), _DATA_TYPES
    ),
    **dict.fromkeys(("RefCreate", "RefRead", "RefType", "RefWrite"), _REFERENCES),
    **dict.fromkeys(("fromtext", "parse", "parse_expr", "parser"), _TEXT),
}
"""Name → why it is not here, and what to do."""


def refuse_absent(name: str) -> None:
    """Raise `NoOperatorError` for a name of Relay's that does not exist here; others pass."""
    if name in _ABSENT:
        reason, hint = _ABSENT[name]
        raise NoOperatorError(f"relay.{name} is not here: {reason}", help=hint)
