"""Emission of LLVM IR text from the llvm dialect, in linear time: `emit_llvm_ir(module)`.

xDSL's own translator uses llvmlite's object model, silently drops function attributes and loop metadata, has no bf16
and cannot be extended. This one writes text directly. Each op class has a writer in a registry; other packages register
writers with `writes`. An op without a writer is an error that names the op and its location.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import IO, Final

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, LocationAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation

from xrelay.dialects.shared.locations import describe_location
from xrelay.errors import LoweringError
from xrelay.lowering.emit_llvm import instructions
from xrelay.lowering.emit_llvm.functions import FunctionText, ModuleText, quoted, symbol, writes

__all__ = ["FunctionText", "ModuleText", "emit_llvm_ir", "emit_to_stream", "instructions", "writes"]

ARGUMENT_FLAGS = ("noalias", "nonnull", "noundef", "readonly", "writeonly", "nocapture", "nofree", "signext", "zeroext")
"""Attributes `llvm.X` of an argument that are written unchanged."""
ARGUMENT_NUMBERS = ("align", "dereferenceable", "dereferenceable_or_null")
"""Attributes `llvm.X = n` of an argument."""
FUNCTION_FLAGS = {"no_inline": "noinline", "no_unwind": "nounwind", "always_inline": "alwaysinline"}
"""Attribute of a function → its LLVM spelling."""
_ATTRIBUTE: Final = re.compile(r"[a-z_]+(\([a-z0-9_:, ]*\))?")


def emit_llvm_ir(
    module: ModuleOp,
    *,
    target_triple: str | None = None,
    target_cpu: str | None = None,
    target_features: str | None = None,
    prefer_vector_width: int | None = None,
    locations: dict[int, LocationAttr] | None = None,
) -> str:
    """Returns the LLVM IR text of a module in the llvm dialect.

    `target_cpu`, `target_features` (as `"+avx512f,-sse4a"`) and `prefer_vector_width` (bits) become attributes of every
    function with a body that does not set them itself. The source location of each instruction is added to `locations`
    by its line in the text, counted from 0. Raises `LoweringError`, with the source location, for an op
    without a writer, a type that LLVM does not have, or a constant that cannot be written.
    """
    strings = {
        "target-cpu": target_cpu,
        "target-features": target_features,
        "prefer-vector-width": None if prefer_vector_width is None else str(prefer_vector_width),
    }
    defaults = {name: value for name, value in strings.items() if value is not None}
    shared = ModuleText()
    parts = [] if target_triple is None else [f'target triple = "{target_triple}"\n']
    line = sum(part.count("\n") + 1 for part in parts)
    for op in module.ops:
        shared.first_line = line + 1
        parts.append(_top_level(op, shared, defaults))
        line += parts[-1].count("\n") + 1  # an empty line separates parts
    if locations is not None:
        locations |= shared.locations
    parts.append("".join(shared.declarations.values()))
    parts.append(shared.metadata.text())
    return "\n".join(part for part in parts if part)


def emit_to_stream(module: ModuleOp, stream: IO[str]) -> None:
    """Writes the LLVM IR text of `module`, without a target, to `stream`."""
    stream.write(emit_llvm_ir(module))


def _top_level(op: Operation, shared: ModuleText, defaults: Mapping[str, str]) -> str:
    if isinstance(op, llvm.FuncOp):
        return _function(op, shared, defaults)
    if isinstance(op, llvm.GlobalOp):
        return _global(op, shared)
    raise LoweringError(
        f"{op.name} cannot be in a module that is translated to LLVM IR",
        location=describe_location(op),
        help="only llvm.func and llvm.mlir.global can be; convert it first",
    )


def _function(op: llvm.FuncOp, shared: ModuleText, defaults: Mapping[str, str]) -> str:
    type_ = op.function_type
    name, result = symbol(op.sym_name.data), shared.types(type_.output)
    flags = [_argument_flags(op, index) for index in range(len(type_.inputs))]
    if not op.body.blocks:
        types = [f"{shared.types(argument)}{flag}" for argument, flag in zip(type_.inputs, flags, strict=True)]
        return f"declare {result} {name}({', '.join([*types, '...'] if type_.is_variadic else types)})\n"
    text = FunctionText(shared, op)
    entry = op.body.first_block
    assert entry is not None, "there are blocks"
    arguments = ", ".join(
        f"{shared.types(arg.type)}{flag} {text.name(arg)}" for arg, flag in zip(entry.args, flags, strict=True)
    )
    words = ["define", *_linkage(op), result, f"{name}({arguments})", *_function_attributes(op, defaults)]
    return f"{' '.join(words)} {{\n{text.body()}\n}}\n"


def _linkage(op: llvm.FuncOp) -> list[str]:
    words = [] if op.linkage.linkage.data == "external" else [op.linkage.linkage.data]
    words += [{1: "hidden", 2: "protected"}[op.visibility_.value.data]] if op.visibility_.value.data else []
    return words + ([] if op.CConv.cconv_name == "ccc" else [op.CConv.cconv_name])


def _argument_flags(op: llvm.FuncOp, index: int) -> str:
    """Returns the attributes of an argument, each after a space."""
    if op.arg_attrs is None or index >= len(op.arg_attrs.data):
        return ""
    attributes = op.arg_attrs.data[index].data
    words = [flag for flag in ARGUMENT_FLAGS if f"llvm.{flag}" in attributes]
    for name in ARGUMENT_NUMBERS:
        number = attributes.get(f"llvm.{name}")
        if isinstance(number, IntegerAttr):
            words.append(f"align {number.value.data}" if name == "align" else f"{name}({number.value.data})")
    return "".join(f" {word}" for word in words)


def _function_attributes(op: llvm.FuncOp, defaults: Mapping[str, str]) -> list[str]:
    words = [word for name, word in FUNCTION_FLAGS.items() if op.get_attr_or_prop(name) is not None]
    strings = dict(defaults)
    for name, attribute in (("target-cpu", "target_cpu"), ("tune-cpu", "tune_cpu")):
        if isinstance(value := op.get_attr_or_prop(attribute), StringAttr):
            strings[name] = value.data
    if isinstance(features := op.get_attr_or_prop("target_features"), llvm.TargetFeaturesAttr):
        strings["target-features"] = ",".join(feature.data for feature in features.features)
    for item in _passthrough(op):
        if isinstance(item, StringAttr):
            words.append(_checked_word(item.data, op))
        elif isinstance(item, ArrayAttr):
            key, value = (part.data for part in item if isinstance(part, StringAttr))
            strings[key] = value
    return words + [f"{quoted(name)}={quoted(value)}" for name, value in strings.items()]


def _checked_word(word: str, op: llvm.FuncOp) -> str:
    """Returns a function attribute without a value; raises `LoweringError` if it is not a valid one."""
    if _ATTRIBUTE.fullmatch(word):
        return word
    raise LoweringError(f"{word!r} is no attribute of a function in LLVM IR", location=describe_location(op))


def _passthrough(op: llvm.FuncOp) -> tuple[Attribute, ...]:
    listed = op.get_attr_or_prop("passthrough")
    return listed.data if isinstance(listed, ArrayAttr) else ()


def _global(op: llvm.GlobalOp, shared: ModuleText) -> str:
    linkage = op.linkage.linkage.data
    kind = "constant" if op.constant is not None else "global"
    if op.value is None and not op.body.blocks:
        value = "" if linkage == "external" else " zeroinitializer"
    elif op.value is not None:
        value = " " + shared.constants(op.value, op.global_type)
    else:
        raise LoweringError("a global with an initializer region cannot be written", location=describe_location(op))
    words = [linkage] if linkage != "external" or op.value is None else []
    address = {1: "local_unnamed_addr", 2: "unnamed_addr"}
    if op.unnamed_addr is not None and op.unnamed_addr.value.data in address:
        words.append(address[op.unnamed_addr.value.data])
    align = f", align {op.alignment.value.data}" if op.alignment is not None else ""
    return f"{symbol(op.sym_name.data)} = {' '.join([*words, kind])} {shared.types(op.global_type)}{value}{align}\n"
