"""The classes of sessions, at onnxruntime's place."""

from __future__ import annotations

from xrelay.onnxruntime.binding import IOBinding
from xrelay.onnxruntime.session import InferenceSession
from xrelay.onnxruntime.values import OrtValue

__all__ = ["IOBinding", "InferenceSession", "OrtValue"]
