"""Kinds of devices: the first word of a target's text."""

from __future__ import annotations

CPU = "cpu"
"""The kind of device that there is."""


def device_kind(text: str) -> str:
    """The first word of a target's text, `cpu` where it is `llvm`: Relay's name for the CPU."""
    kind = text.partition(" ")[0]
    return CPU if kind == "llvm" else kind
