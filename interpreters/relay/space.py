"""Blocks of elements as channels."""

from __future__ import annotations
