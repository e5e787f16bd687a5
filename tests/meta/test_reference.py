"""The generated pages of docs/reference match the definitions, and the pictures the compiler."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

import xrelay
from xrelay.dialects.loop.schedule import PRIMITIVES
from xrelay.dialects.relay.core.registry import relay_ops
from xrelay.frontend.onnx.op_reference import onnx_reference, onnx_version
from xrelay.frontend.onnx.registry import registered_converters
from xrelay.lowering.registry import ALL_PASSES
from xrelay.tools.commands import all_commands
from xrelay.tools.reference.pages import FOLDER, GENERATED_FOLDERS, ONNX_OPS, PICTURES, pages

ROOT = Path(__file__).resolve().parents[2]
HELP = "run make reference"

texts = cache(pages)


def headings(*folders: Path) -> set[str]:
    """Returns the headings that are names in code, in the generated pages of folders."""
    found = (text for path, text in texts().items() if path.parent in folders)
    return {heading for text in found for heading in re.findall(r"^## `(.+)`$", text, re.MULTILINE)}


def test_the_pages_are_true() -> None:
    differing = [path for path, text in texts().items() if path != ONNX_OPS and text != (ROOT / path).read_text()]
    assert differing == [], HELP


def test_every_page_in_a_generated_folder_is_generated() -> None:
    found = {path.relative_to(ROOT) for folder in GENERATED_FOLDERS for path in (ROOT / folder).iterdir()}
    assert found <= texts().keys(), HELP


def test_every_operator_of_relay_has_an_entry() -> None:
    own = {op.name for op in relay_ops().values() if op.__module__.startswith("xrelay.")}
    assert own <= headings(FOLDER / "ops")


def test_every_pass_has_an_entry() -> None:
    of_primitives = {f"loop-{name.replace('_', '-')}" for name in PRIMITIVES}
    assert ALL_PASSES.keys() - of_primitives == headings(FOLDER / "passes")


def test_every_command_and_primitive_has_an_entry() -> None:
    commands = {"xrelay-opt", *(f"xrelay {command.name}" for command in all_commands())}
    primitives = {name for name, cls in PRIMITIVES.items() if cls.__module__.startswith("xrelay.")}
    assert commands | primitives <= headings(FOLDER)


def test_every_picture_is_valid_and_in_a_page() -> None:
    shown = {
        name for page in (ROOT / "docs").glob("*.md") for name in re.findall(r"\]\(pictures/(.+?)\)", page.read_text())
    }
    pictures = {path.name: text for path, text in texts().items() if path.parent == PICTURES}
    assert shown == pictures.keys()
    for text in pictures.values():
        assert ElementTree.fromstring(text).tag.endswith("svg")


def test_an_option_shows_its_value() -> None:
    commands = texts()[FOLDER / "commands.md"]
    assert "| `-O {0,1,2,3}` | optimisation level (3) |" in commands
    assert "| `MODEL …` |" in commands


def test_every_public_name_is_in_the_page_of_the_python_api() -> None:
    names = {name for name in xrelay.__all__ if not isinstance(getattr(xrelay, name), ModuleType | str)}
    headings = re.findall(r"^### `xrelay\.(\w+)`$", texts()[FOLDER / "api.md"], re.MULTILINE)
    assert names - set(headings) == set()


def test_the_entry_of_a_class_has_its_methods_and_links_to_its_base() -> None:
    page = texts()[FOLDER / "extend.md"]
    entry = page.split("### `ScheduleDraft`")[1].split("\n### ")[0]
    assert "def do(self, *steps: SchedulePrimitive) -> list[str]\n" in entry
    assert "Also has the members of [`KernelView`](#kernelview)." in entry
    assert "def _named_blocks" not in entry
    assert page.count("def lanes(self, block: BlockOp) -> int\n") == 1


def test_the_entry_of_a_class_has_inherited_methods_of_classes_without_an_entry() -> None:
    entry = texts()[FOLDER / "api.md"].split("### `Profile`")[1].split("\n### ")[0]
    assert "def as_data(self)" in entry


def test_the_page_of_onnx_operators_is_true() -> None:
    text = (ROOT / ONNX_OPS).read_text(encoding="utf-8")
    written = re.search(r"operators of onnx (\d+(?:\.\d+)*)", text)
    assert written is not None
    if written[1] != onnx_version():
        pytest.skip(f"the page is for onnx {written[1]}, and onnx {onnx_version()} is installed")
    assert text == onnx_reference(), HELP


def test_every_converter_has_a_row() -> None:
    rows = onnx_reference().splitlines()
    for converter in registered_converters():
        if converter.is_ours:
            assert any(row.startswith(f"| {converter.op_type} | {converter.since}–") for row in rows), converter.op_type
