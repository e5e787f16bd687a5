"""Names of Relay that xrelay does not have, with their alternatives: programs use tensors, tuples and functions."""

from __future__ import annotations

from xrelay.relay.calls import NoOperatorError

_DATA_TYPES = "there are no algebraic data types", "use tuples, and relay.while_loop for lists"
_REFERENCES = (
    "there are no references to write through",
    "return the changed value, or carry it through relay.while_loop",
)
_TEXT = "Relay's text format is not supported", "xrelay.parse reads the text of str(module)"

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
        raise NoOperatorError(f"relay.{name} does not exist: {reason}", help=hint)
