"""The registry of converters, by domain, op type and opset range.

    @converts("Relu", since=1)
    def relu(node: NodeView) -> SSAValue: ...

The range that holds the model's opset wins; ranges of one op may not overlap, but a converter of another package comes
before one of xrelay's: whoever writes an operator of their own wants it used. `attributes` names every attribute the
converter reads: one that it does not know is reported instead of ignored. `supports` may look at a node before any
conversion and give the reason why it cannot be converted, so that all such nodes are reported at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from xdsl.ir import SSAValue

from xrelay.errors import ModelImportError
from xrelay.registrations import note_registration

if TYPE_CHECKING:
    from xrelay.frontend.onnx.node import NodeView

ConvertFunction: TypeAlias = "Callable[[NodeView], SSAValue | Sequence[SSAValue | None]]"
"""Emits what a node computes; `None` in the list stands for an output that nothing reads."""
SupportCheck: TypeAlias = "Callable[[NodeView], str | None]"
MICROSOFT = "com.microsoft"
"""The domain of onnxruntime's own operators."""
TRADITIONAL = "ai.onnx.ml"
"""The domain of onnx's operators for models that are not neural networks."""


@dataclass(frozen=True)
class Converter:
    """One registered conversion, for opsets `since` to `until` (inclusive; `None` is open)."""

    op_type: str
    domain: str
    since: int
    until: int | None
    attributes: frozenset[str]
    convert: ConvertFunction
    supports: SupportCheck | None
    limits: str
    """The forms of the op that are refused, for the table in the documentation; empty where none is."""

    @property
    def is_ours(self) -> bool:
        """True for a converter of xrelay, false for one of another package."""
        return self.convert.__module__.partition(".")[0] == "xrelay"

    def covers(self, opset: int) -> bool:
        """True where the range holds `opset`."""
        return self.since <= opset and (self.until is None or opset <= self.until)


_CONVERTERS: dict[tuple[str, str], list[Converter]] = {}


def converts(
    op_type: str,
    *,
    since: int = 1,
    until: int | None = None,
    domain: str = "",
    attributes: Sequence[str] = (),
    supports: SupportCheck | None = None,
    limits: str = "",
) -> Callable[[ConvertFunction], ConvertFunction]:
    """Decorator: register a conversion; `limits` says for the documentation what of the op is refused.

    Raises `ModelImportError` where the range overlaps one that is registered, unless that is xrelay's and this is not.
    """

    def register(function: ConvertFunction) -> ConvertFunction:
        known = _CONVERTERS.setdefault((domain, op_type), [])
        new = Converter(op_type, domain, since, until, frozenset(attributes), function, supports, limits)
        for old in known:
            overlap = old.covers(since) or new.covers(old.since)
            if overlap and (new.is_ours or not old.is_ours):
                raise ModelImportError(f"two converters of {op_type} overlap: from opset {old.since} and from {since}")
        known.insert(len(known) if new.is_ours else 0, new)
        note_registration(function)
        return function

    return register


def find_converter(op_type: str, domain: str, opset: int) -> Converter | None:
    """The converter for a node; `None` where there is none for its opset."""
    return next((c for c in _CONVERTERS.get((domain, op_type), []) if c.covers(opset)), None)


def known_ranges(op_type: str, domain: str) -> str:
    """The opset ranges in which an op is known, for messages; empty for an unknown op."""
    ranges = sorted(_CONVERTERS.get((domain, op_type), []), key=lambda converter: converter.since)
    return ", ".join(f"{c.since}–{c.until}" if c.until is not None else f"{c.since} and later" for c in ranges)


def registered_converters() -> list[Converter]:
    """All converters, by domain, op type and first opset."""
    found = [converter for converters in _CONVERTERS.values() for converter in converters]
    return sorted(found, key=lambda converter: (converter.domain, converter.op_type, converter.since))


def registered_ops() -> list[str]:
    """The op types that have a converter, sorted; a domain other than the default is written in front."""
    return [f"{domain}::{op_type}" if domain else op_type for domain, op_type in sorted(_CONVERTERS)]
