"""Device kinds: the first word of a target's text."""

from __future__ import annotations

from dataclasses import dataclass

CPU = "cpu"
"""The only device kind."""


def device_kind(text: str) -> str:
    """Returns the first word of a target's text, with `llvm`, Relay's name of the CPU, replaced by `cpu`."""
    kind = text.partition(" ")[0]
    return CPU if kind == "llvm" else kind


@dataclass(frozen=True)
class TargetKind:
    """The kind of a target, Relay's `target.kind.name`: always `llvm`."""

    name: str = "llvm"

    def __str__(self) -> str:
        return self.name
