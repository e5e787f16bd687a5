"""The registry of converters, by domain, op type and opset range.

    @converts("Relu", since=1)
    def relu(node: NodeView) -> SSAValue: ...

A node is converted by the converter whose range contains the model's opset. Ranges of one op must not overlap, except
that a converter of another package takes precedence over one of xrelay. Xrelay's converters are imported when a node
needs them, which `CONVERTER_MODULES` makes possible. `attributes` names every attribute that the
converter reads; a node with another attribute is unsupported. `supports` may return the reason why a node cannot be
converted, before any conversion, so that all such nodes are reported at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from xdsl.ir import SSAValue

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx.converter_modules import CONVERTER_MODULES
from xrelay.plugins import load_plugins
from xrelay.registrations import import_modules, import_registrations, importing_module, note_registration

if TYPE_CHECKING:
    from xrelay.frontend.onnx.node import NodeView

ConvertFunction: TypeAlias = "Callable[[NodeView], SSAValue | Sequence[SSAValue | None]]"
"""Emits the ops of a node; `None` in the list is an output that nothing reads."""
ConvertT = TypeVar("ConvertT", bound="ConvertFunction")
SupportCheck: TypeAlias = "Callable[[NodeView], str | None]"
MICROSOFT = "com.microsoft"
"""The domain of onnxruntime's contributed operators."""
TRADITIONAL = "ai.onnx.ml"
"""The domain of ONNX's operators for classical machine learning."""


@dataclass(frozen=True)
class Converter:
    """A registered converter for opsets `since` to `until` (inclusive; `None` is unbounded)."""

    op_type: str
    domain: str
    since: int
    until: int | None
    attributes: frozenset[str]
    convert: ConvertFunction
    supports: SupportCheck | None
    limits: str
    """The forms of the op that are refused, for the table in the documentation; empty if all are supported."""
    module: str
    """The module that registers the converter when it is imported."""

    @property
    def is_ours(self) -> bool:
        """Whether the converter is xrelay's, not another package's."""
        return self.convert.__module__.partition(".")[0] == "xrelay"

    def covers(self, opset: int) -> bool:
        """Returns whether the range contains `opset`."""
        return self.since <= opset and (self.until is None or opset <= self.until)


_PACKAGE = "xrelay.frontend.onnx.converters"
"""The package whose modules register xrelay's converters."""

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
) -> Callable[[ConvertT], ConvertT]:
    """Decorator that registers a converter; `limits` describes in the documentation which forms of the op are refused.

    Raises `ModelImportError` if the range overlaps a registered one, unless only one of both is xrelay's.
    """

    def register(function: ConvertT) -> ConvertT:
        known = _CONVERTERS.setdefault((domain, op_type), [])
        names, module = frozenset(attributes), importing_module()
        new = Converter(op_type, domain, since, until, names, function, supports, limits, module)
        for old in known:
            overlap = old.covers(since) or new.covers(old.since)
            if overlap and new.is_ours == old.is_ours:
                raise ModelImportError(f"two converters of {op_type} overlap: from opset {old.since} and from {since}")
        known.insert(len(known) if new.is_ours else 0, new)
        note_registration(function)
        return function

    return register


def find_converter(op_type: str, domain: str, opset: int) -> Converter | None:
    """Returns the converter for a node; `None` if its op and opset have no converter."""
    _load_converters_of(op_type, domain)
    return next((c for c in _CONVERTERS.get((domain, op_type), []) if c.covers(opset)), None)


def known_ranges(op_type: str, domain: str) -> str:
    """Returns the opset ranges of an op for messages; empty for an unknown op."""
    _load_converters_of(op_type, domain)
    ranges = sorted(_CONVERTERS.get((domain, op_type), []), key=lambda converter: converter.since)
    return ", ".join(f"{c.since}–{c.until}" if c.until is not None else f"{c.since} and later" for c in ranges)


def registered_converters() -> list[Converter]:
    """Returns all converters, sorted by domain, op type and first opset."""
    _load_all_converters()
    found = [converter for converters in _CONVERTERS.values() for converter in converters]
    return sorted(found, key=lambda converter: (converter.domain, converter.op_type, converter.since))


def registered_ops() -> list[str]:
    """Returns the sorted op types that have a converter, with their domain unless it is ONNX's own."""
    _load_all_converters()
    return [_full_name(op_type, domain) for domain, op_type in sorted(_CONVERTERS)]


@cache
def _load_converters_of(op_type: str, domain: str) -> None:
    """Imports the converters of one op. For an op that is not in the table, all converters are imported."""
    module = CONVERTER_MODULES.get(_full_name(op_type, domain))
    if module is None:
        _load_all_converters()
        return
    import_registrations([f"{_PACKAGE}.{module}"])
    load_plugins("converters")


def _load_all_converters() -> None:
    import_modules(_PACKAGE)
    load_plugins("converters")


def _full_name(op_type: str, domain: str) -> str:
    return f"{domain}::{op_type}" if domain else op_type
