"""The stamp of the compiling code: after a change of plugins, dependencies or registrations no old model is reused."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.tool_server.served import served

import xrelay
from xrelay import registrations
from xrelay.api.model_key import CodeStamp, code_stamp, content_digest, model_key
from xrelay.passes.layout.layout_hooks import layout_hook_scope

MODEL = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  func.return %x : tensor<4xf32>\n}\n"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def install(
    site: Path,
    name: str,
    *,
    version: str = "1.0",
    requires: str = "",
    entries: str = "",
    files: dict[str, str] | None = None,
) -> None:
    """Lays out a package as pip would, replacing another version."""
    for old in site.glob(f"{name}-*.dist-info"):
        shutil.rmtree(old)
    info = site / f"{name}-{version}.dist-info"
    requirement = f"Requires-Dist: {requires}\n" if requires else ""
    write(info / "METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requirement}")
    if entries:
        write(info / "entry_points.txt", entries)
    for file, text in (files or {}).items():
        write(site / file, text)
    record = "".join(f"{file},,\n" for file in (*(files or {}), f"{info.name}/METADATA", f"{info.name}/RECORD"))
    write(info / "RECORD", record)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages with a plugin that imports a constant and a helper package, and requires another plugin."""
    site = tmp_path / "site"
    install(
        site,
        "plugin_pack",
        requires='Plugin.Base (>=1); python_version > "3"',
        entries="[xrelay.plugins]\nconverters = plugin_pack.deep.converters\n[console_scripts]\nx = y:z\n",
        files={
            "plugin_pack/__init__.py": "",
            "plugin_pack/deep/__init__.py": "",
            "plugin_pack/deep/converters.py": "",
            "plugin_pack/numbers.py": "FACTOR = 2",
            "plugin_helpers.py": "ANSWER = 42",
        },
    )
    install(site, "plugin_base", requires="plugin_deepest")
    install(site, "plugin_deepest")
    install(site, "bystander", files={"bystander.py": ""})
    monkeypatch.syspath_prepend(str(site))
    return site


def stamp() -> CodeStamp:
    return code_stamp.__wrapped__()


def append(path: Path) -> None:
    write(path, path.read_text() + " # changed")


def test_equal_code_has_equal_stamps(site: Path) -> None:
    assert stamp() == stamp()


@pytest.mark.parametrize(
    "change",
    [
        lambda site: append(site / "plugin_pack/numbers.py"),
        lambda site: append(site / "plugin_pack/deep/__init__.py"),
        lambda site: append(site / "plugin_helpers.py"),
        lambda site: write(site / "plugin_pack/data/table.json", "{}"),
        lambda site: os.utime(site / "plugin_pack/numbers.py", ns=(1, 1)),
        lambda site: (site / "plugin_pack/numbers.py").unlink(),
        lambda site: (site / "plugin_base-1.0.dist-info").rename(site / "plugin_base.gone"),
        lambda site: install(site, "plugin_base", version="2.0", requires="plugin_deepest"),
        lambda site: install(site, "plugin_deepest", version="2.0"),
    ],
)
def test_a_change_in_a_plugin_or_what_it_stands_on_is_seen(site: Path, change: Callable[[Path], object]) -> None:
    before = stamp().text
    change(site)
    assert stamp().text != before


def test_other_packages_do_not_matter(site: Path) -> None:
    before = stamp().text
    append(site / "bystander.py")
    install(site, "bystander", version="2.0")
    assert stamp().text == before


def test_an_editable_plugin_is_seen_whole(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "project" / "src"
    write(source / "edited" / "plugin.py", "")
    constants = write(source / "edited_constants" / "numbers.py", "FACTOR = 2")
    write(source / "edited" / ".venv" / "hidden.py", "")
    environment = write(source / "environment" / "lib.py", "")
    write(source / "environment" / "pyvenv.cfg", "")
    entries = "[xrelay.plugins]\nconverters = edited.plugin\n"
    install(site, "edited", entries=entries, files={"_edited.pth": f"import sys\n{source}\n"})
    monkeypatch.syspath_prepend(str(source))
    before = stamp()
    assert str(constants) in before.plugin_files
    assert not any("hidden" in file or str(environment) == file for file in before.plugin_files)
    append(constants)
    assert stamp().text != before.text


def test_a_plugin_without_files_or_modules_does_no_harm(site: Path) -> None:
    install(
        site, "empty", entries="[xrelay.plugins]\nconverters = nowhere.at_all\n[xdsl.universe]\nx = also.nowhere:X\n"
    )
    (site / "empty-1.0.dist-info" / "RECORD").unlink()
    assert stamp().text == stamp().text


def test_what_a_program_registers_is_compiled_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "m.mlir", MODEL)
    host = xrelay.Target.host()
    monkeypatch.setattr(registrations, "_modules", set[str]())
    assert model_key(content_digest(path), host, 3, None) is not None

    def hook(*arguments: object) -> None:
        """A hook that changes nothing."""

    with layout_hook_scope({"nn.conv2d": hook}):
        assert model_key(content_digest(path), host, 3, None) is None
    assert model_key(content_digest(path), host, 3, None) is not None
    registrations.note_registration(hook)
    assert model_key(content_digest(path), host, 3, None) is None


def test_a_plugin_that_is_edited_while_it_may_be_loaded_is_compiled_anew(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registrations, "_modules", set[str]())
    constants = site / "plugin_pack/numbers.py"
    monkeypatch.setattr(registrations, "BEGAN_NANOSECONDS", constants.stat().st_mtime_ns + 10**9)
    assert stamp().covers_all()
    os.utime(constants, ns=(0, constants.stat().st_mtime_ns + 2 * 10**9))
    assert not stamp().covers_all()


def test_an_editable_requirement_is_seen_whole(site: Path, tmp_path: Path) -> None:
    helper = write(tmp_path / "base_project" / "plugin_base.py", "FACTOR = 2")
    install(site, "plugin_base", files={"_base.pth": f"{helper.parent}\n"})
    write(site / "plugin_base-1.0.dist-info/direct_url.json", '{"dir_info": {"editable": true}, "url": "file:///p"}')
    before = stamp().text
    append(helper)
    assert stamp().text != before


REGISTER = """
from xrelay import registrations
from xrelay.dialects.loop.schedule import register_primitive
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.frontend.onnx import converts
from xrelay.interpreters.relay.registry import evaluates
from xrelay.lowering.emit_llvm.functions import writes
from xrelay.lowering.relay_to_topi.registry import implements
from xrelay.lowering.topi_to_loop.schedules.choose_family import register_family
from xrelay.passes.layout.layout_hooks import alters_layout
from xrelay.passes.loop.primitives.rewrites import rewrites
from xrelay.target.cpus import CPUS, register_cpu
from xrelay.relay.op import register_alter_op_layout, register_injective_schedule, register_legalize

class Primitive:
    primitive = "mine"

class Mine(RelayOp):
    name = "contrib.mine"

def mine(*arguments):
    pass

registrars = [
    lambda: register_primitive(Primitive),
    lambda: register_relay_op(Mine),
    lambda: converts("Mine")(mine),
    lambda: evaluates(Mine)(mine),
    lambda: writes(Mine)(mine),
    lambda: implements(Mine, "mine.generic")(mine),
    lambda: register_family("mine", mine),
    lambda: alters_layout("nn.conv2d", target="cpu")(mine),
    lambda: rewrites(Primitive)(mine),
    lambda: register_alter_op_layout("nn.dense")(mine),
    lambda: register_legalize("nn.dense")(mine),
    lambda: register_injective_schedule("nn.relu"),
    lambda: register_cpu("mine", CPUS["znver4"]),
]
assert not registrations.registering_modules()
for number, register in enumerate(registrars):
    register()
    assert registrations.registering_modules() == {"__main__"}, number
    registrations._modules.clear()
"""


def test_every_registration_is_noted_but_those_of_xrelay() -> None:
    with served(os.environ) as environment:
        command = ["python", "-c", REGISTER]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_a_plugin_registers_is_covered_by_its_files(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registrations, "_modules", set[str]())
    import plugin_helpers  # pyright: ignore[reportMissingImports]

    registrations.note_registration(type("Op", (), {"__module__": plugin_helpers.__name__}))
    monkeypatch.setattr(registrations, "BEGAN_NANOSECONDS", time.time_ns() + 10**9)
    assert stamp().covers_all()
    registrations.note_registration(type("Op", (), {"__module__": "bystander"}))
    assert not stamp().covers_all()


RUN = """
import sys
import onnx
from onnx import TensorProto, helper
import numpy as np
import xrelay

ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy"]
graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "g", ends[:1], ends[1:])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
steps = []
compiled = xrelay.compile(model, progress=lambda done, total, step: steps.append(step))
print(float(compiled(np.ones(4, np.float32))[0][0]), len(steps) > 0)
"""
CONVERTERS = """
from xrelay.frontend.onnx import converts
from plugin_pack.numbers import FACTOR

@converts("Neg", since=1)
def convert(node):
    value = node.input(0)
    for _ in range(FACTOR):
        value = node.emit("add", value, node.input(0))
    return value
"""


def test_a_changed_constant_that_a_plugin_imports_is_not_stale(site: Path, tmp_path: Path) -> None:
    write(site / "plugin_pack/deep/converters.py", CONVERTERS)
    variables = {**os.environ, "PYTHONPATH": str(site), "XRELAY_CACHE_DIR": str(tmp_path / "cache")}
    with served(variables) as environment:

        def run() -> list[str]:
            done = subprocess.run(["python", "-c", RUN], env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            return done.stdout.split()

        assert run() == ["3.0", "True"]
        assert run() == ["3.0", "False"]
        write(site / "plugin_pack/numbers.py", "FACTOR = 3")
        os.utime(site / "plugin_pack/numbers.py", (1, 1))
        assert run() == ["4.0", "True"]
