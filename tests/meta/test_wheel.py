"""`pip install` installs one import package with all its modules, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("dialects", "target", "interpreters", "passes", "lowering", "frontend", "runtime", "tools")


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    build = pytest.importorskip("hatchling.build")
    target = tmp_path_factory.mktemp("wheel")
    here = Path.cwd()
    os.chdir(ROOT)
    try:
        name = build.build_wheel(str(target))
    finally:
        os.chdir(here)
    with ZipFile(target / name) as archive:
        return archive.namelist()


def test_one_top_level_name(names: list[str]) -> None:
    top = {name.partition("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"xrelay"}


def test_every_source_file_is_in_and_nothing_twice(names: list[str]) -> None:
    assert len(names) == len(set(names))
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert f"xrelay/{path.relative_to(ROOT)}" in names
    for folder in ("api", "extend", "onnxruntime"):
        for path in (ROOT / "src" / "xrelay" / folder).rglob("*.py"):
            assert f"xrelay/{path.relative_to(ROOT / 'src' / 'xrelay')}" in names
    for path in (ROOT / "src" / "xrelay").glob("*.py"):
        assert f"xrelay/{path.name}" in names, "add it to only-include in pyproject.toml"


def test_types_and_entry_points_are_announced(names: list[str]) -> None:
    assert "xrelay/py.typed" in names
    assert any(name.endswith("entry_points.txt") for name in names)
    assert any("LICENSE" in name for name in names)
