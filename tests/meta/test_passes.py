"""A pass is found by its name: name = file = class = lit file, and all of it documented."""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path

import pytest
from xdsl.passes import ModulePass

from xrelay.lowering.registry import ALL_PASSES, load_pass
from xrelay.passes.catalogue.registry import FOLDERS

ROOT = Path(__file__).parents[2]


def snake(name: str) -> str:
    return name.replace("-", "_")


def camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("-"))


@pytest.mark.parametrize("name", ALL_PASSES)
def test_a_pass_has_a_documented_class_and_a_lit_file(name: str) -> None:
    check_names(name)
    check_class(load_pass(name))
    check_lit_file(name)


def check_names(name: str) -> None:
    module, _, class_name = ALL_PASSES[name].partition(":")
    assert class_name.lower() == camel(name).lower() + "pass"
    assert load_pass(name).name == name
    dialect, _, rest = name.partition("-")
    if module.startswith("xrelay.lowering."):
        assert module.rpartition(".")[2] in (snake(name), snake(rest))
    elif dialect == "test":
        assert module.rpartition(".")[2] == snake(name)
    else:
        assert module == f"xrelay.{FOLDERS[name].removeprefix('compat/').replace('/', '.')}.{snake(rest)}"


def check_class(found: type[ModulePass]) -> None:
    assert issubclass(found, ModulePass)
    assert dataclasses.is_dataclass(found)
    assert found.__dataclass_params__.frozen
    doc = inspect.getdoc(found) or ""
    assert doc != (inspect.getdoc(ModulePass) or "")
    assert not doc.startswith(found.__name__ + "("), "the docstring is the one dataclass() makes"
    assert len(doc) > 20
    assert inspect.getdoc(inspect.getmodule(found))
    for option in dataclasses.fields(found):
        assert option.metadata.get("help"), f"{option.name}: write field(metadata={{'help': …}})"


def check_lit_file(name: str) -> None:
    module = ALL_PASSES[name].partition(":")[0].split(".")
    stem = module[-1]
    place = ROOT / "tests" / "lit" / FOLDERS.get(name, "/".join(module[1:-1]))
    found = [*place.glob(f"{stem}.mlir"), *place.glob(f"{stem}_*.mlir"), *place.glob(f"{stem}/*.mlir")]
    assert found, f"no {place.relative_to(ROOT)}/{stem}.mlir"
    assert any(name in path.read_text() for path in found), f"none of {[p.name for p in found]} runs {name}"
