"""PyTorch, untyped: xrelay is installed and type-checked without it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

torch: Any = import_module("torch")
