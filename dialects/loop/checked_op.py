"""Ops whose verifiers are registered by another module: `verify.py` depends on several kinds of ops."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from typing import Any, TypeVar

from typing_extensions import override
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation

Check = Callable[[Any], None]
"""Raises `VerifyException` if an op violates a constraint."""

CheckT = TypeVar("CheckT", bound=Check)

_CHECKS: dict[type[Operation], Check] = {}


class CheckedOp(IRDLOperation, ABC):
    """An op of the loop level that is verified by the check registered for its class."""

    @override
    def verify_(self) -> None:
        _CHECKS[type(self)](self)


def checks(*classes: type[CheckedOp]) -> Callable[[CheckT], CheckT]:
    """Decorator that registers a function as the verifier of ops of these classes."""

    def register(check: CheckT) -> CheckT:
        _CHECKS.update((each, check) for each in classes)
        return check

    return register
