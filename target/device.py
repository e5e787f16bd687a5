"""Kinds of devices: the first word of a target's text."""

from __future__ import annotations

from dataclasses import dataclass

CPU = "cpu"
"""The kind of device that there is."""


def device_kind(text: str) -> str:
    """The first word of a target's text, `cpu` where it is `llvm`: Relay's name for the CPU."""
    kind = text.partition(" ")[0]
    return CPU if kind == "llvm" else kind


@dataclass(frozen=True)
class TargetKind:
    """The kind of a target, `target.kind.name` in Relay: `llvm`, whichever of its names the target was written with."""

    name: str = "llvm"

    def __str__(self) -> str:
        return self.name
