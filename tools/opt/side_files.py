"""Weights of a text: they lie in a side file that the module names, are brought when it is read, kept when written."""

from __future__ import annotations

import sys
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from xrelay.errors import InputError
from xrelay.tools.opt.chunks import Chunk

ATTRIBUTE = "relay.weights"
"""As `xrelay.dialects.relay.weights` names it; written out so that other texts do not import that dialect."""


def bring_weights(module: ModuleOp, chunk: Chunk) -> None:
    """Resolve the weights of a module that names a side file.

    Without the file the module stays as it is, with a note: most passes do not look inside weights, and one that does
    says so.
    """
    if ATTRIBUTE not in module.attributes:
        return
    from xrelay.dialects.relay.weights import UnresolvedWeightError, resolve_side_file

    try:
        resolve_side_file(module, Path(chunk.name).parent)
    except UnresolvedWeightError as error:
        sys.stderr.write(f"{chunk.name}: note: {error.message}; weights stay unresolved\n")


def keep_weights(module: ModuleOp, output: Path) -> None:
    """Write the side file of a module that named one beside its new text, where all weights are here."""
    if ATTRIBUTE not in module.attributes:
        return
    from xrelay.dialects.relay.weights import save_side_file, weights_of

    if all(weight.is_resolved for weight in weights_of(module)):
        try:
            save_side_file(module, output.with_suffix(".safetensors"))
        except OSError as error:
            raise InputError(f"cannot write the weights: {error.strerror}", location=str(output.parent)) from error
