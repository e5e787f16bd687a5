"""Reads the weights of a text from the side file that its module names, and writes them beside a new text."""

from __future__ import annotations

from pathlib import Path

from xdsl.dialects.builtin import ModuleOp, StringAttr

from xrelay.dialects.attribute_names import WEIGHTS_FILE
from xrelay.errors import ArtifactError, InputError
from xrelay.tools.opt.chunks import Chunk
from xrelay.tools.opt.diagnostics import Diagnostic, warning_diagnostic


def bring_weights(module: ModuleOp, chunk: Chunk) -> list[Diagnostic]:
    """Resolve the weights of a module that names a side file.

    Without the file the module stays as it is, with a note: most passes do not look inside weights, and one that does
    says so.
    """
    if WEIGHTS_FILE not in module.attributes:
        return []
    from xrelay.dialects.relay.structure.weights import UnresolvedWeightError, resolve_side_file

    try:
        resolve_side_file(module, Path(chunk.name).parent)
    except UnresolvedWeightError as error:
        return [warning_diagnostic(f"{error.message}; weights stay unresolved", chunk.name)]
    return []


def keep_weights(module: ModuleOp, output: Path) -> None:
    """Write the side file of a module that named one beside its new text, where all weights are here.

    A side file of that name beside the output that holds them all is left as it is.
    """
    name = module.attributes.get(WEIGHTS_FILE)
    if not isinstance(name, StringAttr):
        return
    from xrelay.dialects.relay.structure.weights import save_side_file, weights_of
    from xrelay.runtime.files import beside

    weights = weights_of(module)
    known = _keys(output.parent / name.data)
    if all(weight.key in known for weight in weights) or not all(weight.is_resolved for weight in weights):
        return
    try:
        save_side_file(module, beside(output, ".safetensors"))
    except OSError as error:
        raise InputError(f"cannot write the weights: {error.strerror}", location=str(output.parent)) from error


def _keys(path: Path) -> frozenset[str]:
    """The tensors in a side file; none where there is no such file."""
    from xrelay.runtime.safetensors_file import read_safetensors

    try:
        return frozenset(read_safetensors(path).tensors)
    except ArtifactError:
        return frozenset()
