"""All generated pages of `docs/reference`, and the pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from xrelay.frontend.onnx.op_reference import onnx_reference
from xrelay.tools.pictures.fusion import fusion_picture
from xrelay.tools.pictures.levels import levels_picture
from xrelay.tools.pictures.memory import memory_picture
from xrelay.tools.pictures.schedule import schedule_picture
from xrelay.tools.reference.api import api_reference
from xrelay.tools.reference.attributes import attributes_reference
from xrelay.tools.reference.commands import commands_reference
from xrelay.tools.reference.extensions import extensions_reference
from xrelay.tools.reference.operators import ops_reference
from xrelay.tools.reference.passes import passes_reference
from xrelay.tools.reference.schedule_primitives import primitives_reference

FOLDER: Final = Path("docs/reference")
ONNX_OPS: Final = FOLDER / "onnx_ops.md"
PICTURES: Final = Path("docs/pictures")
GENERATED_FOLDERS: Final = (FOLDER / "ops", FOLDER / "passes", PICTURES)
"""Folders in which all files are generated."""


def pages() -> dict[Path, str]:
    """Returns the text of each page by its path in the checkout."""
    ops = {FOLDER / "ops" / name: text for name, text in ops_reference().items()}
    passes = {FOLDER / "passes" / name: text for name, text in passes_reference().items()}
    return {
        **ops,
        **passes,
        ONNX_OPS: onnx_reference(),
        FOLDER / "commands.md": commands_reference(),
        FOLDER / "schedule_primitives.md": primitives_reference(),
        FOLDER / "attributes.md": attributes_reference(),
        FOLDER / "api.md": api_reference(),
        FOLDER / "extend.md": extensions_reference(),
        PICTURES / "levels.svg": levels_picture(),
        PICTURES / "fusion.svg": fusion_picture(),
        PICTURES / "schedule.svg": schedule_picture(),
        PICTURES / "memory.svg": memory_picture(),
    }
