"""Reads and writes programs: ONNX files, text files with side files, modules in memory."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xrelay.arguments import checked_path
from xrelay.errors import InputError, did_you_mean, with_article
from xrelay.passes.infra.module_level import is_native_code, module_level
from xrelay.passes.infra.printing import print_module
from xrelay.passes.infra.source import full_context, read_module, write_text
from xrelay.passes.infra.verify import verify_module
from xrelay.runtime.artifact import check_trust
from xrelay.runtime.files import sibling

if TYPE_CHECKING:
    import onnx

Source: TypeAlias = "str | PathLike[str] | bytes | onnx.ModelProto | ModuleOp"
"""A path of an `.onnx` or `.mlir` file, an ONNX model in memory, its bytes, or a module."""

Shapes: TypeAlias = Mapping[str, Sequence[int | str]]
"""Shapes of inputs by name, with a name for a dynamic dimension; for a name its size, or minimum, maximum and typical.
"""

_SUFFIX_HELP = "rename the file by its content; xrelay.load reads compiled models"
_COMPILED_HELP = "pass its source; xrelay.load and xrelay run, bench, profile and inspect read compiled models"


def load_source(source: Source, *, shapes: Shapes | None = None, trust: bool = True) -> ModuleOp:
    """Returns the verified relay module of `source`; a module is cloned and stays unchanged.

    Unless `trust`, native code in a file that other users may write is an `ArtifactError` (`runtime/trust.py`).

    Raises `ParseError` and `VerificationError` with `file:line:col` for text, `ModelImportError` for ONNX models, and
    `InputError` for a file of another kind, or for input shapes if the source is not an ONNX model.
    """
    path = checked_path("the model", source) if isinstance(source, str | PathLike) else None
    if isinstance(source, ModuleOp):
        module = source.clone()
    elif path is not None and path.suffix != ".onnx":
        module = _load_text(path, trust=trust)
    else:
        if not isinstance(source, str | PathLike | bytes) and not hasattr(source, "graph"):
            kind = type(source).__name__
            raise InputError(
                f"{with_article(kind)} is not a model",
                help="pass a path, an ONNX model or a module, e.g. from relay.Module.from_expr",
            )
        from xrelay.frontend.onnx import import_onnx

        return import_onnx(source, shapes=shapes)
    verify_module(module)
    if shapes:
        _add_sizes(module, shapes)
        _fix_known_sizes(module, shapes)
    return module


def _add_sizes(module: ModuleOp, sizes: Shapes) -> None:
    """Sets the sizes of the named dimensions of `@main`. Raises `InputError` for unknown names."""
    from xrelay.dialects.relay.core.size_hints import add_size_hints

    main, names = main_with_names(module)
    for name in sizes:
        if name not in names:
            raise InputError(
                f"shapes= sets inputs of ONNX models and named dimensions, and @main has no dimension {name!r}",
                help=did_you_mean(name, names, "write the shapes into the module's types"),
            )
    if main is not None:
        add_size_hints(main, sizes)


def _fix_known_sizes(module: ModuleOp, shapes: Shapes) -> None:
    """Replaces the named dimensions of `@main` for which `shapes` has one size, if the module is at the relay level."""
    from xrelay.dialects.relay.core.size_hints import size_hints

    main, _ = main_with_names(module)
    hints = {} if main is None else size_hints(main)
    fixed = {name: hint.least for name, hint in hints.items() if name in shapes and hint.is_fixed}
    if fixed and module_level(module) == "relay":
        fix_sizes(module, fixed)


def fix_sizes(module: ModuleOp, sizes: Mapping[str, int]) -> None:
    """Replaces the named dimensions of `@main`, and those that inference names, by sizes.

    Raises `InputError` for a name that `@main` does not have, for a size out of the range in `relay.sizes`, and for a
    module below the relay level; and the errors of type inference.
    """
    from xrelay.dialects.relay.core.size_hints import remove_size_hints, size_hints
    from xrelay.passes.graph.dim_substitution import DimSubstitution
    from xrelay.passes.types.infer_type import RelayInferTypePass

    if module_level(module) != "relay":
        raise InputError("sizes of a module below the relay level cannot be replaced", help="compile the relay module")
    main, names = main_with_names(module)
    if not {*names} >= sizes.keys():
        RelayInferTypePass().apply(full_context(), module)  # names unnamed dimensions
        main, names = main_with_names(module)
    if main is None or not {*names} >= sizes.keys():
        raise InputError(f"@main has the dimensions {', '.join(names)}, not {', '.join(sizes)}")
    for name, hint in size_hints(main).items():
        if name in sizes and not hint.least <= sizes[name] <= hint.greatest:
            raise InputError(f"the dimension {name} is {sizes[name]}, the range is {hint.least} to {hint.greatest}")
    DimSubstitution(sizes).apply([main])
    remove_size_hints(main, sizes)


def with_known_sizes(module: ModuleOp, sizes: Shapes | None) -> ModuleOp:
    """Returns the module, or a copy whose `@main` declares the sizes of those names in `sizes` that it has."""
    _, names = main_with_names(module)
    known = {name: numbers for name, numbers in (sizes or {}).items() if name in names}
    if known:
        module = module.clone()
        _add_sizes(module, known)
    return module


def main_with_names(module: ModuleOp) -> tuple[FuncOp | None, list[str]]:
    """Returns `@main` and the names of its dimensions."""
    from xrelay.dialects.relay.structure.call import names_in

    main = next((op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main"), None)
    return main, [] if main is None else list(names_in(main.function_type.inputs))


def save_module(module: ModuleOp, path: Path, *, debuginfo: bool = False) -> None:
    """Writes a module's text to `path`, and its weights to a side file next to it, which the text names.

    Raises `InputError` if a file cannot be written, and `UnresolvedWeightError` if the data of a weight is missing.
    """
    from xrelay.dialects.relay.structure.weights import save_side_file

    try:
        save_side_file(module, sibling(path, ".safetensors"))
    except OSError as error:
        raise InputError(f"cannot write the weights: {error.strerror}", location=str(path.parent)) from error
    write_text(path, print_module(module, debuginfo=debuginfo) + "\n")


def _load_text(path: Path, *, trust: bool) -> ModuleOp:
    """Returns the module in a text file, with the weights of the side file that it names."""
    from xrelay.dialects.relay.structure.weights import resolve_side_file

    if "\n" in str(path):
        raise InputError("a string is not a model", help="pass a path, or a module from parse_module")
    if os.path.isdir(path):
        raise InputError(f"{str(path)!r} is a folder", help="pass an .onnx or .mlir file")
    if path.suffix == ".xrelay":
        raise InputError(f"{str(path)!r} is a compiled model", help=_COMPILED_HELP)
    if path.suffix != ".mlir":
        raise InputError(f"{str(path)!r} is neither an .onnx nor an .mlir file", help=_SUFFIX_HELP)

    def check(module: ModuleOp, status: os.stat_result) -> None:
        if not trust and is_native_code(module):
            check_trust(path, status)

    module = read_module(full_context(), path, check)
    resolve_side_file(module, path.parent)
    return module
