"""Blocks of elements as channels: each element is read at one index of the data."""

from __future__ import annotations
