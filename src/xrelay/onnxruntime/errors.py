"""The exceptions of onnxruntime by name, as classes of `xrelay.errors`.

`translate` returns the exception of this module for an error of xrelay.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from xrelay.errors import (
    ExecutionError,
    InputError,
    LoweringError,
    ModelImportError,
    OutOfMemoryError,
    XRelayError,
)


class Fail(XRelayError):
    """A session or a run failed for a reason that has no class of its own."""


class InvalidArgument(InputError, ValueError):
    """An input or an option is invalid: its name, type, rank or extents are wrong, or the input is missing.

    It is a `ValueError` because onnxruntime raises `ValueError` for a missing input.
    """


class NoSuchFile(ModelImportError, FileNotFoundError):
    """The file of a model does not exist."""


class InvalidProtobuf(ModelImportError):
    """The bytes of a model are not protobuf, or are truncated."""


class InvalidGraph(ModelImportError):
    """A model violates the ONNX standard."""


class NotSupported(LoweringError):
    """A valid model or a function of onnxruntime that xrelay does not support; the message has the alternative.

    onnxruntime's name for it is `NotImplemented`, which is a constant of Python.
    """


class RuntimeException(ExecutionError):
    """A run failed in native code."""


def translate(error: XRelayError, otherwise: type[XRelayError] = Fail) -> XRelayError:
    """Returns an error of a class of this module, `otherwise` if none corresponds; errors of memory are unchanged."""
    if isinstance(error, OutOfMemoryError):
        return error
    kind = otherwise
    if isinstance(error, InputError):
        kind = InvalidArgument
    elif isinstance(error, ExecutionError):
        kind = RuntimeException
    return kind(error.message, location=error.location, help=error.help)


class Refused:
    """A method of onnxruntime that is not supported: its call raises `NotSupported` with the alternative."""

    def __init__(self, help: str):
        """`help` describes the alternative."""
        self._help, self._name = help, ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"{owner.__name__}.{name}"

    def __get__(self, instance: object, owner: type) -> Callable[..., NoReturn]:
        def refuse(*args: object, **kwargs: object) -> NoReturn:
            raise NotSupported(f"{self._name} is not supported", help=self._help)

        return refuse
