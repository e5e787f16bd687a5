"""Every pass is a plain xDSL pass: `xdsl-opt` runs it as in its lit test, and its options print and parse."""

from __future__ import annotations

import re
import shlex
from functools import cache
from itertools import takewhile
from pathlib import Path
from tempfile import NamedTemporaryFile
from unittest.mock import patch

import pytest
from xdsl.passes import ModulePass
from xdsl.transforms import get_all_passes
from xdsl.universe import Universe
from xdsl.xdsl_opt_main import xDSLOptMain

from xrelay.lowering.pipelines import all_passes, compile_stages
from xrelay.lowering.registry import ALL_PASSES, load_pass, pass_thunks
from xrelay.passes.catalogue.relay_names import relay_pass
from xrelay.passes.infra.pipeline_text import parse_passes
from xrelay.tools.opt.pass_flags import own_names

LIT = Path(__file__).parents[2] / "lit"
RUN = re.compile(r"^// RUN: xrelay-opt %s (.*) \|", re.MULTILINE)
TABLE = {**get_all_passes(), **pass_thunks()}
SCALARS = """
func.func @f(%x: f32, %i: index) {
  %y = arith.mulf %x, %x : f32
  %j = arith.addi %i, %i : index
  func.return
}
"""
GRAPH = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.add(%a, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}
"""
INSTEAD = {
    "convert-arith-to-llvm": SCALARS,
    "convert-func-to-llvm": SCALARS,
    "relay-fuse-ops": GRAPH,
    "vector-expand-dot-products": SCALARS,
}
"""Programs for passes whose lit tests use forms that xDSL's own `func`, `arith` and `vector` cannot parse."""
RECORDS = "loop-assign-records"
"""Its lit test writes the file that it reads."""
get_multiverse = cache(Universe.get_multiverse)
KNOWN_FLAGS = {"--split-input-file", "--allow-unregistered-dialect", "-p"}


@cache
def examples() -> dict[str, tuple[Path, str]]:
    """For each pass, a lit file and the pipeline that it runs there."""
    found: dict[str, tuple[Path, str]] = {}
    folders = ("passes", "compat", "lowering")
    for path in [path for folder in folders for path in sorted((LIT / folder).rglob("*.mlir"))]:
        for line in RUN.findall(path.read_text()):
            words = list(takewhile(lambda word: word != "|", shlex.split(line)))
            flags = {word for word in words if word.startswith("-")}
            pipeline = own_names(words[words.index("-p") + 1]) if "-p" in words else ""
            if not flags <= KNOWN_FLAGS or not pipeline or "stage-" in pipeline or pipeline == "compile":
                continue
            for current in parse_passes(pipeline, TABLE):
                found.setdefault(current.name, (path, pipeline))
    return found


def texts() -> list[str]:
    pipelines = [pipeline for _, pipeline in examples().values()]
    return [*dict.fromkeys(pipelines), ",".join(all_passes(compile_stages(schedule_target="cpu -mcpu=generic")))]


@cache
def printed(path: Path, pipeline: str) -> str:
    """What xdsl-opt prints; the passes of one pipeline share a run."""
    flags = ["--split-input-file"] if "\n// -----\n" in path.read_text() else []
    # Without the cache, each run would read a file of every installed package.
    with NamedTemporaryFile("r") as output, patch.object(Universe, "get_multiverse", get_multiverse):
        xDSLOptMain(args=[str(path), "-p", pipeline, "-o", output.name, "--allow-unregistered-dialect", *flags]).run()
        return output.read()


@pytest.mark.parametrize("name", [name for name in ALL_PASSES if name != RECORDS])
def test_xdsl_opt_runs_it(name: str, tmp_path: Path) -> None:
    path, pipeline = examples()[name]
    if name in INSTEAD:
        path = tmp_path / "in.mlir"
        path.write_text(INSTEAD[name])
    assert printed(path, pipeline)


def test_xdsl_opt_runs_a_pass_that_reads_a_file(tmp_path: Path) -> None:
    path, records = tmp_path / "in.mlir", tmp_path / "records.jsonl"
    path.write_text(SCALARS)
    records.touch()
    assert printed(path, f'{RECORDS}{{file="{records}"}}')


def round_trip(passes: list[ModulePass]) -> list[ModulePass]:
    return parse_passes(",".join(map(str, passes)), TABLE)


def test_options_survive_as_text() -> None:
    pipelines = [parse_passes(text, TABLE) for text in texts()]
    defaults = [[found()] for found in map(load_pass, ALL_PASSES) if not found.required_fields()]
    for passes in (*pipelines, *defaults):
        assert round_trip(passes) == passes


def test_relays_names_keep_what_makes_them_relays() -> None:
    row = relay_pass("BackwardFoldScaleAxis")
    assert row is not None
    passes = parse_passes(own_names("BackwardFoldScaleAxis,FuseOps{max-depth=4}"), TABLE)
    texts = [str(current) for current in passes]
    assert texts == [
        'relay-fold-scale-axis{direction="backward" weights="any"}',
        "relay-fuse-ops{max_depth=4}",
    ]
