"""A function as LLVM IR text: names for values and blocks, phis for block arguments, a writer for each op."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, TypeAlias, TypeVar

from xdsl.dialects import llvm
from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xrelay.dialects.shared.locations import describe_location
from xrelay.dialects.shared.op_lists import ops_at
from xrelay.dialects.upstream.llvm_extras import LoopAnnotationAttr, PoisonOp, ZeroOp
from xrelay.errors import LoweringError
from xrelay.lowering.emit_llvm.texts import ConstantTexts, Metadata, TypeTexts
from xrelay.registrations import note_registration

OpT = TypeVar("OpT", bound=Operation)
Writer: TypeAlias = "Callable[[Any, FunctionText], None]"

WRITERS: dict[type[Operation], Writer] = {}
"""Op class → its writer. Other packages register writers with `writes`."""

MAX_NAME = 200
"""The maximum length of a value's or block's name; longer names are cut, and numbered to keep them unique."""


def writes(*op_types: type[Operation]) -> Callable[[Writer], Writer]:
    """Registers the decorated function as the writer of these classes of ops, and of classes derived from them.

    ```
    @writes(MyFenceOp)
    def write_fence(op: MyFenceOp, text: FunctionText) -> None:
        text.line("fence seq_cst")
    ```
    """

    def register(writer: Writer) -> Writer:
        for op_type in op_types:
            WRITERS[op_type] = writer
        _writer_of.cache_clear()
        note_registration(writer)
        return writer

    return register


class ModuleText:
    """State that the functions of a module share: type texts, metadata, declarations of intrinsics."""

    def __init__(self):
        self.types = TypeTexts()
        self.constants = ConstantTexts(self.types)
        self.metadata = Metadata()
        self.declarations: dict[str, str] = {}
        self.locations: dict[int, LocationAttr] = {}
        """The source location of each instruction by its line, counted from 0."""
        self.first_line = 0
        """The line of the first instruction of the function that is written."""

    def declare(self, name: str, result: str, arguments: Iterable[str]) -> None:
        """Declares an intrinsic, once."""
        if name not in self.declarations:
            self.declarations[name] = f"declare {result} @{name}({', '.join(arguments)})\n"


_PLAIN_NAME = re.compile(r"[-a-zA-Z$._][-a-zA-Z$._0-9]*")


def symbol(name: str) -> str:
    """Returns a global's name as `@name`, quoted if necessary."""
    return f"@{name}" if _PLAIN_NAME.fullmatch(name) else f"@{quoted(name)}"


def quoted(text: str) -> str:
    """Returns a string of LLVM IR, with unusual characters escaped."""
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in text.encode()) + '"'


class FunctionText:
    """The body of one function under construction. Writers call `line`, `result`, `typed`, `name` and `type_of`."""

    module: ModuleText

    def __init__(self, module: ModuleText, op: llvm.FuncOp):
        self.module = module
        self.lines: list[str] = []
        self._names: dict[int, str] = {}
        """Keyed by identity, which is cheaper than hashing a value."""
        self._contents = [(block, ops_at(block)) for block in op.body.blocks]
        self._taken: dict[str, int] = {}
        self._unnamed = 0
        self._blocks: dict[Block, str] = {}
        self._incoming: dict[Block, list[tuple[str, tuple[SSAValue, ...]]]] = {}
        self._name_all()

    def type_of(self, type_: Attribute) -> str:
        """Returns the text of a type."""
        return self.module.types(type_)

    def name(self, value: SSAValue) -> str:
        """Returns an operand without its type: a local name, or the text of a constant."""
        return self._names[id(value)]

    def typed(self, value: SSAValue) -> str:
        """Returns an operand with its type, as `float %x`."""
        return f"{self.type_of(value.type)} {self.name(value)}"

    def label(self, block: Block) -> str:
        """Returns a block as the target of a branch, as `label %body`."""
        return f"label %{self._blocks[block]}"

    def line(self, text: str) -> None:
        """Writes an instruction without a result."""
        self.lines.append(f"  {text}")

    def result(self, op: Operation, text: str) -> None:
        """Writes an instruction whose result is that of `op`."""
        self.lines.append(f"  {self._names[id(op.results[0])]} = {text}")

    def call(self, op: Operation, name: str, operands: Iterable[SSAValue], flags: str = "") -> None:
        """Writes a call of the intrinsic `name`, with the result of `op` if it has one; declares the intrinsic once."""
        values = list(operands)
        result = self.type_of(op.results[0].type) if op.results else "void"
        self.module.declare(name, result, (self.type_of(value.type) for value in values))
        text = f"call {flags}{result} @{name}({', '.join(map(self.typed, values))})"
        if op.results:
            self.result(op, text)
        else:
            self.line(text)

    def loop_metadata(self, op: Operation) -> str:
        """Returns `, !llvm.loop !3` for a branch with a loop annotation, else an empty string."""
        annotation = op.get_attr_or_prop("loop_annotation")
        if annotation is None:
            return ""
        if not isinstance(annotation, LoopAnnotationAttr):
            raise LoweringError(f"loop_annotation is {annotation}", location=describe_location(op))
        return f", !llvm.loop {self.module.metadata.loop(annotation)}"

    def body(self) -> str:
        """Returns the text of all blocks."""
        for number, (block, inside) in enumerate(self._contents):
            self.lines.append(f"{self._blocks[block]}:")
            if number:
                self._write_phis(block)
            for inner in inside:
                first = len(self.lines)
                self._write(inner)
                for line in range(first, len(self.lines)):
                    self.module.locations[self.module.first_line + line] = inner.location
        return "\n".join(self.lines)

    def _write(self, op: Operation) -> None:
        writer = _writer_of(type(op))
        if writer is None:
            raise LoweringError(
                f"{op.name} cannot be written as LLVM IR",
                location=describe_location(op),
                help="convert it to the llvm dialect first, or register a writer for it",
            )
        try:
            writer(op, self)
        except LoweringError as error:
            if error.location is not None:
                raise
            raise LoweringError(error.message, location=describe_location(op), help=error.help) from error

    def _write_phis(self, block: Block) -> None:
        incoming = self._incoming.get(block, [])
        for index, arg in enumerate(block.args):
            sources = ", ".join(f"[ {self.name(values[index])}, %{origin} ]" for origin, values in incoming)
            self.lines.append(f"  {self._names[id(arg)]} = phi {self.type_of(arg.type)} {sources}")

    def _name_all(self) -> None:
        """Assigns names to all blocks and values before writing, since phis refer to later ones."""
        for number, (block, _) in enumerate(self._contents):
            self._blocks[block] = self._fresh(block.name_hint or ("entry" if number == 0 else f"bb{number}"))
        for block, inside in self._contents:
            for arg in block.args:
                self._names[id(arg)] = "%" + self._fresh(arg.name_hint or f"arg{arg.index}")
            for inner in inside:
                if inner.results:
                    self._name_results(inner)
            if inside:
                self._note_branches(block, inside[-1])

    def _name_results(self, op: Operation) -> None:
        constant = _operand_of(type(op))
        for value in op.results:
            if constant is not None:
                self._names[id(value)] = constant(op, self)
                continue
            hint = value.name_hint
            if hint is None:
                self._unnamed += 1
                hint = f"t{self._unnamed}"
            self._names[id(value)] = "%" + self._fresh(hint)

    def _note_branches(self, block: Block, last: Operation) -> None:
        """Records the values that `last` passes to the arguments of its successors."""
        origin = self._blocks[block]
        if type(last) is llvm.BrOp:
            edges = [(last.successors[0], tuple(last.operands))]
        elif type(last) is llvm.CondBrOp:
            then, otherwise = last.successors
            values = tuple(last.operands)
            middle = 1 + len(then.args)  # operands: the condition, the arguments of `then`, those of `otherwise`
            edges = [(then, values[1:middle]), (otherwise, values[middle:])]
            if then is otherwise and edges[0][1] != edges[1][1]:
                raise LoweringError(
                    "llvm.cond_br passes different values to the same block twice", location=describe_location(last)
                )
        else:
            edges = []
        for target, values in edges:
            self._incoming.setdefault(target, []).append((origin, values))

    def _fresh(self, hint: str) -> str:
        """Returns an unused name: `hint`, else `hint_1`, `hint_2` and so on.

        LLVM cuts names off after 1024 characters, so longer names with equal beginnings would collide.
        """
        hint = hint[:MAX_NAME]
        if hint not in self._taken:
            self._taken[hint] = 0
            return hint
        while True:
            self._taken[hint] += 1
            name = f"{hint}_{self._taken[hint]}"
            if name not in self._taken:
                self._taken[name] = 0
                return name


def _constant_text(op: llvm.ConstantOp, text: FunctionText) -> str:
    return text.module.constants(op.value, op.results[0].type)


def _zero_text(op: Operation, _: FunctionText) -> str:
    return "null" if isinstance(op.results[0].type, llvm.LLVMPointerType) else "zeroinitializer"


_OPERANDS: Mapping[type[Operation], Callable[[Any, FunctionText], str]] = {
    llvm.ConstantOp: _constant_text,
    PoisonOp: lambda _, __: "poison",
    llvm.UndefOp: lambda _, __: "undef",
    llvm.AddressOfOp: lambda op, _: symbol(op.global_name.string_value()),
    ZeroOp: _zero_text,
    llvm.ZeroOp: _zero_text,
}
"""Class of an op that is an operand rather than an instruction → its text."""


@cache
def _operand_of(op_type: type[Operation]) -> Callable[[Any, FunctionText], str] | None:
    return next((_OPERANDS[known] for known in op_type.__mro__ if known in _OPERANDS), None)


@cache
def _writer_of(op_type: type[Operation]) -> Writer | None:
    """Returns the writer for a class of ops, or for its closest base class."""
    for known in op_type.__mro__:
        if known in WRITERS:
            return WRITERS[known]
    return None
