"""Types as LLVM IR text."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    Float80Type,
    Float128Type,
    IntAttr,
    IntegerType,
    VectorType,
)
from xdsl.dialects.llvm import LLVMArrayType, LLVMFunctionType, LLVMPointerType, LLVMStructType, LLVMVoidType
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xrelay.errors import LoweringError

FLOATS: dict[type[Attribute], str] = {
    Float16Type: "half",
    BFloat16Type: "bfloat",
    Float32Type: "float",
    Float64Type: "double",
    Float80Type: "x86_fp80",
    Float128Type: "fp128",
}


class TypeTexts:
    """Type → text, computed once for each object."""

    def __init__(self):
        self._known: dict[int, tuple[Attribute, str]] = {}
        """Keyed by identity, which is cheaper than hashing a type; the stored type keeps its identity unique."""

    def __call__(self, type_: Attribute) -> str:
        """Returns the text of `type_`; raises `LoweringError` for a type that LLVM does not have."""
        known = self._known.get(id(type_))
        if known is None:
            known = self._known[id(type_)] = type_, self._write(type_)
        return known[1]

    def _write(self, type_: Attribute) -> str:
        if type(type_) in FLOATS:
            return FLOATS[type(type_)]
        if isinstance(type_, IntegerType):
            return f"i{type_.width.data}"
        if isinstance(type_, LLVMPointerType):
            return f"ptr addrspace({type_.addr_space.data})" if isinstance(type_.addr_space, IntAttr) else "ptr"
        if isinstance(type_, LLVMVoidType):
            return "void"
        if isa(type_, VectorType) and type_.get_num_dims() == 1:
            count = f"{type_.get_shape()[0]} x {self(type_.element_type)}"
            return f"<vscale x {count}>" if type_.get_num_scalable_dims() else f"<{count}>"
        if isinstance(type_, LLVMArrayType):
            return f"[{type_.size.data} x {self(type_.type)}]"
        if isinstance(type_, LLVMStructType):
            return "{ " + ", ".join(self(member) for member in type_.types) + " }"
        if isinstance(type_, LLVMFunctionType):
            return f"{self(type_.output)} ({self.arguments(type_)})"
        raise LoweringError(f"{type_} is no type of LLVM", help="convert the ops that use it to the llvm dialect first")

    def arguments(self, type_: LLVMFunctionType) -> str:
        """Returns the argument types of a function, separated by commas."""
        texts = [self(argument) for argument in type_.inputs]
        return ", ".join([*texts, "..."] if type_.is_variadic else texts)
