"""Interpreter of the topi level on numpy arrays over whole index spaces."""

from __future__ import annotations

from xrelay.interpreters.topi.compute import evaluate_compute
from xrelay.interpreters.topi.module import run_topi_module

__all__ = ["evaluate_compute", "run_topi_module"]
