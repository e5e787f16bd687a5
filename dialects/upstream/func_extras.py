"""The func dialect with `func.constant`, which xDSL lacks: a function as a value, for the thread pool."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, SymbolRefAttr
from xdsl.dialects.func import Func, FuncOp
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, result_def, traits_def
from xdsl.traits import Pure, SymbolTable, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.upstream.replacing import replace_ops


class _SymbolUser(SymbolUserOpInterface):
    def verify(self, op: Operation) -> None:
        assert isinstance(op, ConstantOp)
        found = SymbolTable.lookup_symbol(op, op.value)
        if not isinstance(found, FuncOp):
            raise VerifyException(f"[func.constant C1] {op.value} is not the name of a func.func")
        if found.function_type != op.result.type:
            raise VerifyException(
                f"[func.constant C2] {op.value} is of type {found.function_type}, not {op.result.type}"
            )


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """The function `value` as an SSA value.

    C1: `value` names a `func.func` of the module. C2: the result has that function's type.

    ```mlir
    func.func private @body(index)
    %f = func.constant @body : (index) -> ()
    ```
    """

    name = "func.constant"

    value = prop_def(SymbolRefAttr)
    result = result_def(FunctionType)

    traits = traits_def(Pure(), _SymbolUser())

    assembly_format = "attr-dict $value `:` type($result)"

    def __init__(self, value: str | SymbolRefAttr, type_: FunctionType):
        symbol = SymbolRefAttr(value) if isinstance(value, str) else value
        super().__init__(properties={"value": symbol}, result_types=[type_])


FUNC = replace_ops(Func, [ConstantOp])
"""The func dialect with `func.constant`."""
