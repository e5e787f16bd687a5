"""The names of `onnxruntime_pybind11_state`, under a private name of onnxruntime that packages import."""

from __future__ import annotations

from xrelay.onnxruntime.capi import onnxruntime_pybind11_state


def __getattr__(name: str) -> object:
    return getattr(onnxruntime_pybind11_state, name)
