"""Interpreter of the loop level on numpy arrays: kernels, and the graph that calls them."""

from __future__ import annotations

from xrelay.interpreters.loop.kernel import run_kernel
from xrelay.interpreters.loop.module import run_loop_module

__all__ = ["run_kernel", "run_loop_module"]
