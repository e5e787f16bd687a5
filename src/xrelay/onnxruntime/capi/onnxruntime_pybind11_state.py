"""The errors of sessions and runs, at onnxruntime's place."""

from __future__ import annotations

from xrelay.onnxruntime.errors import (
    Fail,
    InvalidArgument,
    InvalidGraph,
    InvalidProtobuf,
    NoSuchFile,
    RuntimeException,
)
from xrelay.onnxruntime.errors import NotSupported as NotImplemented

__all__ = [
    "Fail",
    "InvalidArgument",
    "InvalidGraph",
    "InvalidProtobuf",
    "NoSuchFile",
    "NotImplemented",
    "RuntimeException",
]
