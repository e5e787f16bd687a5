"""Reads the weights of a text from the side file that its module names, and writes them next to a new text."""

from __future__ import annotations

from pathlib import Path

from xdsl.dialects.builtin import ModuleOp, StringAttr

from xrelay.dialects.shared.attribute_names import WEIGHTS_FILE
from xrelay.errors import ArtifactError, InputError
from xrelay.tools.opt.diagnostics import Chunk, Diagnostic, warning_diagnostic


def load_weights(module: ModuleOp, chunk: Chunk) -> list[Diagnostic]:
    """Resolves the weights of a module that names a side file.

    If the file is missing, the module stays unresolved and a warning is returned: most passes do not read weights, and
    those that do raise an error.
    """
    if WEIGHTS_FILE not in module.attributes:
        return []
    from xrelay.dialects.relay.structure.weights import UnresolvedWeightError, resolve_side_file

    try:
        resolve_side_file(module, Path(chunk.name).parent)
    except UnresolvedWeightError as error:
        return [warning_diagnostic(f"{error.message}; its weights stay unresolved", chunk.name)]
    return []


def keep_weights(module: ModuleOp, output: Path) -> None:
    """Writes the side file of a module that named one next to its new text, if all weights are resolved.

    A side file of that name next to the output that already has all weights is kept.
    """
    name = module.attributes.get(WEIGHTS_FILE)
    if not isinstance(name, StringAttr):
        return
    from xrelay.dialects.relay.structure.weights import save_side_file, weights_of
    from xrelay.runtime.files import sibling

    weights = weights_of(module)
    known = _keys(output.parent / name.data)
    if all(weight.key in known for weight in weights) or not all(weight.is_resolved for weight in weights):
        return
    try:
        save_side_file(module, sibling(output, ".safetensors"))
    except OSError as error:
        raise InputError(f"cannot write the weights: {error.strerror}", location=str(output.parent)) from error


def _keys(path: Path) -> frozenset[str]:
    """Returns the names of the tensors in a side file; empty if it is absent or damaged."""
    from xrelay.runtime.files import open_regular
    from xrelay.runtime.safetensors_file import read_header

    try:
        with open_regular(path) as descriptor:
            return frozenset(read_header(path, descriptor).tensors)
    except (ArtifactError, OSError, EOFError):
        return frozenset()
