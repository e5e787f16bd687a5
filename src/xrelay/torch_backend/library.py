"""PyTorch, which the project is installed, and its types are checked, without."""

from __future__ import annotations

from importlib import import_module
from typing import Any

torch: Any = import_module("torch")
