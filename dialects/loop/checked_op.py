"""Ops whose verifier stands apart: `verify.py` looks at several kinds of ops at once, so it is above all of them."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from typing import Any, TypeVar

from typing_extensions import override
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation

Check = Callable[[Any], None]
"""Raises `VerifyException` for an op that breaks a constraint."""

CheckT = TypeVar("CheckT", bound=Check)

_CHECKS: dict[type[Operation], Check] = {}


class CheckedOp(IRDLOperation, ABC):
    """An op of the loop level, verified by the check that is registered for its class."""

    @override
    def verify_(self) -> None:
        _CHECKS[type(self)](self)


def checks(*classes: type[CheckedOp]) -> Callable[[CheckT], CheckT]:
    """Function decorator: the function verifies ops of these classes."""

    def register(check: CheckT) -> CheckT:
        _CHECKS.update((each, check) for each in classes)
        return check

    return register
