"""`TempOpAttr`: sets an attribute of an operator within a `with` block."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from xrelay.dialects.relay.core.operator_value import LEVEL
from xrelay.relay.op import get


class TempOpAttr:
    """Sets an attribute of an operator within a `with` block, and restores it at the end."""

    def __init__(self, op_name: str, attr_key: str, attr_value: Any):
        self._op, self._key, self._value = get(op_name), attr_key, attr_value
        self._before: Any = None

    def __enter__(self) -> Self:
        self._before = self._op.get_attr(self._key)
        self._op.reset_attr(self._key)
        self._op.set_attr(self._key, self._value)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._op.reset_attr(self._key)
        if self._before is not None:
            self._op.set_attr(self._key, self._before, LEVEL)
