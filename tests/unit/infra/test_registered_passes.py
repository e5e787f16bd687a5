"""Passes of other packages: in the compile pipeline, the tools, `create_pass` and `Sequential`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.seed_example import module as seed
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

import xrelay
from xrelay import instrument, relay, transform
from xrelay.dialects.relay.ops.tensor.arithmetic import MultiplyOp
from xrelay.errors import PassError
from xrelay.extend.passes import points, register_pass, unregister_pass
from xrelay.lowering.pipelines import Phase, compile_stages
from xrelay.lowering.registry import passes_of
from xrelay.passes.infra.xrelay_pass import EXACT, UNKNOWN, XRelayPass, is_per_function, numerics_of, quantises
from xrelay.tools.xrelay_opt import main
from xrelay.transform import PassContext, Sequential

NAME = "acme-mark"


@dataclass(frozen=True)
class AcmeNotePass(ModulePass):
    """Marks every function with a note."""

    name = NAME
    note: str = field(default="acme", metadata={"help": "what functions are marked with"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if isinstance(function, FuncOp):
                function.attributes["acme.note"] = StringAttr(self.note)


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    unregister_pass(NAME)


def stage_of(name: str, opt_level: int = 3) -> dict[Phase, tuple[str, ...]]:
    return {stage.phase: stage.passes for stage in compile_stages(opt_level=opt_level) if name in stage.passes}


@pytest.mark.parametrize(
    ("at", "phase", "neighbours"),
    [
        ("after relay-fold-constant", Phase.OPTIMIZED, ("relay-fold-constant", NAME, "relay-narrow-products")),
        ("before relay-fold-constant#2", Phase.OPTIMIZED, (NAME, "relay-fold-constant", "relay-dead-code-elimination")),
        ("after stage-typed", Phase.TYPED, ("relay-infer-type", NAME)),
        (
            "before stage-fused",
            Phase.FUSED,
            (NAME, "relay-to-basic-block-normal-form", "relay-fuse-ops{fuse-opt-level=3}"),
        ),
        ("after topi-inline-injective#2", Phase.LOOP, ("topi-inline-injective", NAME, "topi-add-versions")),
    ],
)
def test_a_pass_runs_at_its_point(at: str, phase: Phase, neighbours: tuple[str, ...]) -> None:
    register_pass(AcmeNotePass, at=at)
    found = stage_of(NAME)
    assert list(found) == [phase]
    assert ",".join(neighbours) in ",".join(found[phase])


def test_a_point_is_there_where_the_pass_beside_it_does_not_run() -> None:
    register_pass(AcmeNotePass, at="after relay-fold-constant", opt_level=1)
    assert "relay-fold-constant" not in stage_of(NAME, opt_level=1)[Phase.OPTIMIZED]
    assert stage_of(NAME, opt_level=0) == {}


def test_every_point_takes_a_pass() -> None:
    found = points()
    assert len(found) == len(set(found))
    for point in found:
        register_pass(AcmeNotePass, at=point)
        assert len(stage_of(NAME)) == 1, point


def test_compilations_share_only_the_passes_of_the_compiler() -> None:
    own, acme = ("relay-infer-type", "dce"), ("relay-infer-type", NAME)
    assert passes_of(own) is passes_of(own)
    register_pass(AcmeNotePass, at="after stage-typed")
    assert passes_of(acme) is not passes_of(acme)
    assert [type(each) for each in passes_of(acme)][1:] == [AcmeNotePass]


class Seen(instrument.PassInstrument):
    """The names of the passes that ran."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def run_before_pass(self, mod: ModuleOp, info: transform.PassInfo) -> None:
        self.names.append(info.name)


def program() -> ModuleOp:
    x = relay.var("x", shape=(4,))
    return relay.Module.from_expr(relay.Function([x], relay.add(x, x)))


def compiled(**context: Any) -> list[str]:
    seen = Seen()
    with PassContext(opt_level=3, instruments=[seen], **context):
        model = xrelay.compile(program())
    np.testing.assert_array_equal(model.run({"x": np.ones(4, np.float32)})[0], np.full(4, 2, np.float32))
    return seen.names


def test_the_compiler_runs_it_as_contexts_say() -> None:
    register_pass(AcmeNotePass, at="after stage-optimized", opt_level=2)
    names = compiled()
    assert names[names.index(NAME) + 1] == "relay-to-basic-block-normal-form"
    assert NAME not in compiled(disabled_pass=[NAME])


def test_a_model_of_the_cache_is_not_taken_for_one_with_the_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XRELAY_CACHE_DIR", str(tmp_path))
    xrelay.compile(program(), cache=True)
    ran: list[str] = []

    @dataclass(frozen=True)
    class Noting(AcmeNotePass):
        def apply(self, ctx: Context, op: ModuleOp) -> None:
            ran.append(self.name)

    register_pass(Noting, at="after stage-optimized")
    xrelay.compile(program(), cache=True)
    assert ran == [NAME]


def test_create_pass_and_sequential_know_it() -> None:
    register_pass(AcmeNotePass, opt_level=3)
    made = transform.create_pass(f"{NAME}{{note=mine}}")
    assert made.info == transform.PassInfo(3, NAME)
    sequential = Sequential([made])
    marked = "acme.note"
    assert marked not in str(sequential(seed()))
    with PassContext(opt_level=3):
        assert 'acme.note = "mine"' in str(sequential(seed()))
    with pytest.raises(PassError, match=f"did you mean '{NAME}'"):
        transform.create_pass("acme-mar")


def test_xrelay_opt_knows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    register_pass(AcmeNotePass, at="after relay-fold-constant", opt_level=2, per_function=True)
    net = tmp_path / "net.mlir"
    net.write_text(str(program()))
    assert main([str(net), "-p", f"func.func({NAME}{{note=tool}})"]) == 0
    assert 'acme.note = "tool"' in capsys.readouterr().out
    assert main([str(net), "--print-pipeline", "--opt-level", "2"]) == 0
    lines = [line.split()[:3] for line in capsys.readouterr().out.splitlines()[1:]]
    at = next(number for number, line in enumerate(lines) if line[2].startswith(NAME))
    assert (lines[at - 1], lines[at][:2]) == (["run", "2", "relay-fold-constant"], ["run", "2"])
    assert main(["--list-passes"]) == 0
    assert f"passes of other packages:\n  {NAME}  Marks every" in capsys.readouterr().out
    assert main(["--help-pass", NAME]) == 0
    assert "note: str = acme  what functions are marked with" in capsys.readouterr().out


def test_the_registration_declares_that_a_pass_is_exact() -> None:
    register_pass(AcmeNotePass)
    assert numerics_of(AcmeNotePass) == UNKNOWN
    assert not is_per_function(AcmeNotePass)
    register_pass(AcmeNotePass, exact=True, per_function=True)
    assert numerics_of(AcmeNotePass) == EXACT
    assert is_per_function(AcmeNotePass)
    assert transform.create_pass(NAME).info.numerics == EXACT


def test_the_class_declares_what_its_registration_does_not() -> None:
    @dataclass(frozen=True)
    class AcmeRoundPass(XRelayPass):
        name = NAME
        numerics = quantises("values become multiples of 1/16")
        per_function = True

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            """Does nothing."""

    register_pass(AcmeRoundPass)
    assert numerics_of(AcmeRoundPass) == AcmeRoundPass.numerics
    assert is_per_function(AcmeRoundPass)


@dataclass(frozen=True)
class Needing(ModulePass):
    """A pass with a required option, which the pipeline cannot set."""

    name = "acme-needing"
    depth: int

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Does nothing."""


@dataclass(frozen=True)
class Taken(AcmeNotePass):
    """A pass with the name of another one."""

    name = "relay-fuse-ops"


@pytest.mark.parametrize(
    ("pass_type", "arguments", "message"),
    [
        (AcmeNotePass, {"at": "after relay-fold-constan"}, "no point .*; help: did you mean 'after relay-fold-const"),
        (AcmeNotePass, {"opt_level": 4}, "opt_level must be between 0 and 3, found 4"),
        (AcmeNotePass, {"opt_level": "3"}, "opt_level must be an int, found '3'"),
        (Needing, {}, r"\[acme-needing\] the option 'depth' has no default"),
        (Taken, {}, "the name 'relay-fuse-ops'"),
        (MultiplyOp, {}, "takes a class derived from ModulePass"),
    ],
)
def test_what_cannot_be_registered(pass_type: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(PassError, match=message):
        register_pass(pass_type, **arguments)


def test_xdsl_tools_know_it_where_it_is_registered_before_they_look() -> None:
    code = (
        "from dataclasses import dataclass; from xdsl.passes import ModulePass; from xdsl.universe import Universe\n"
        "from xrelay.extend.passes import register_pass\n"
        "class AcmeLatePass(ModulePass):\n"
        "    name = 'acme-late'\n"
        "    def apply(self, ctx, op): pass\n"
        "register_pass(dataclass(frozen=True)(AcmeLatePass))\n"
        "print(Universe.get_multiverse().all_passes['acme-late']().__name__)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "AcmeLatePass\n"
