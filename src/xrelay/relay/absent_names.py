"""Names of Relay that xrelay does not have, with their alternatives: programs use tensors, tuples and functions."""

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
"""Name → (the reason why it does not exist, the alternative)."""


def refuse_absent(name: str) -> None:
    """Raises `NoOperatorError` if `name` is a name of Relay that xrelay does not have."""
    if name in _ABSENT:
        reason, hint = _ABSENT[name]
        raise NoOperatorError(f"relay.{name} is not here: {reason}", help=hint)
