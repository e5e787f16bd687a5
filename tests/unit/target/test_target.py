"""Targets as text, and operations for a machine of another kind: export, but not run."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.aarch64 import IS_THERE, NOT_THERE, build_and_run
from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay import Target, relay
from xrelay.errors import ArtifactError, InputError, LoweringError
from xrelay.runtime import llvm
from xrelay.runtime.object_code.llvm_compiler import compile_ir
from xrelay.target.cpus import BASELINES, CPUS, FEATURES
from xrelay.target.host import HostFacts, host_facts

ELF_MACHINE = slice(18, 20)
EM_AARCH64 = 183


def module() -> ModuleOp:
    data, weight = relay.var("data", shape=(3, 40)), relay.var("weight", shape=(24, 40))
    return relay.Module.from_expr(relay.nn.softmax(relay.tanh(relay.nn.dense(data, weight))))


# --- text


@pytest.mark.parametrize("text", ["cpu", "llvm"])
def test_a_kind_without_options_is_this_machine(text: str):
    assert Target(text) == Target.parse(text) == Target.host()
    x = np.ones(3, np.float32)
    doubled = relay.Module.from_expr(relay.add(*[relay.var("x", shape=(3,))] * 2))
    for chosen in (text, Target(text)):
        assert (xrelay.compile(doubled, target=chosen)(x)[0] == 2).all()
        assert (xrelay.build(doubled, chosen)(x)[0] == 2).all()


def test_both_kinds_take_options():
    assert Target("llvm -mcpu=haswell") == Target("cpu -mcpu=haswell")
    assert Target("llvm -mcpu=haswell", threads=3) == replace(Target("cpu -mcpu=haswell"), threads=3)


@pytest.mark.parametrize("name", CPUS)
def test_the_text_of_a_target_reads_back(name: str):
    target = Target(f"cpu -mcpu={name} -num-threads=2 -vector-bits=128")
    assert Target(str(target)) == target


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cpu -mattr=+avx512x", r"'avx512x' of x86_64; help: did you mean 'avx512"),
        ("cpu -mcpu=neoverse-n1 -mattr=+avx2", "'avx2' of aarch64"),
        ("cpu -mcpu=haswell -mattr=avx2", "-mattr has 'avx2', .*; help:"),
        ("cpu -mcpu=haswell -mattr=+avx,", r"neither.*feature"),
        ("cpu -mcpu=haswell -mattr=-sse2", r"code for x86_64 .* sse2"),
        ("cpu -mcpu=haswell -mcpu=znver4", "has the option -mcpu twice"),
        ("cpu -mcpu=haswel", "'haswel'; help: did you mean 'haswell'"),
        ("cuda", "is of kind 'cuda'"),
        ("llvm -mtriple=arm-linux-gnu", r"is for 'arm'; help: .* aarch64 and x86_64"),
        ("llvm -mtriple=x86_64-apple-darwin", "Linux"),
        ("llvm -mtriple=aarch64-linux-gnu -mcpu=haswell", "is for aarch64, and haswell is a CPU of x86_64"),
        ("llvm -mcpu -mattr=+avx2", "option '-mcpu' of target .* is not of the form -name=value"),
        ("llvm -num-cores", "option '-num-cores' of target .* is not of the form"),
        ("", "is of kind ''"),
    ],
)
def test_what_no_target_is(text: str, message: str):
    with pytest.raises(InputError, match=message):
        Target(text)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("llvm -mtriple=x86_64-linux-gnu -mcpu=core-avx2", "cpu -mcpu=haswell"),
        ("llvm -device=arm_cpu -mtriple=aarch64-linux-gnu", "cpu -mcpu=cortex-a72"),
        ("llvm -mtriple=arm64-linux-gnu -mcpu=apple-m1 -model=m1", "cpu -mcpu=apple-m1"),
        ("llvm -keys=x86,cpu -mcpu=skx -num-cores 4", "cpu -mcpu=skylake-avx512 -num-cores=4"),
        ("llvm --mcpu=haswell --num-cores=4 -libs=cblas", "cpu -mcpu=haswell -num-cores=4"),
    ],
)
def test_a_target_as_relay_writes_it(text: str, same: str):
    assert Target(text) == Target(same)


def test_a_target_as_a_dictionary():
    given = {"kind": "llvm", "mcpu": "haswell", "mattr": ["+avx512f", "-fma"], "num-cores": 4, "keys": ["cpu"]}
    assert Target(given) == Target("cpu -mcpu=haswell -mattr=+avx512f,-fma -num-cores=4")
    with pytest.raises(InputError, match="a target of mcpu has no kind"):
        Target({"mcpu": "haswell"})


def test_what_no_fact_is():
    with pytest.raises(InputError, match="mcp"):
        Target(**{"mcp": "haswell"})


def test_registers_follow_features():
    assert Target("cpu -mcpu=haswell -mattr=+avx512f").vector_bits == 512
    assert Target("cpu -mcpu=znver4 -mattr=-avx512f").vector_bits == 256
    assert Target("cpu -mcpu=znver4 -mattr=-avx").vector_bits == 128


def test_a_hidden_feature_is_turned_off(monkeypatch: pytest.MonkeyPatch):
    facts = HostFacts("x86_64", "znver4", frozenset({"avx2", "fma"}), frozenset({"avx512f"}), 2, {})
    monkeypatch.setattr("xrelay.target.target.host_facts", lambda: facts)
    host = Target.host()
    assert host.vector_bits == 256
    assert host.code_features() == ("+avx2", "+fma", "-avx512f")
    assert replace(host, features=("-fma", "+bmi")).code_features() == ("+avx2", "-avx512f", "-fma", "+bmi")
    assert host.runs_here()
    assert not replace(host, features=("+avx512f",)).runs_here()
    assert not Target("cpu -mcpu=cascadelake").runs_here()


def test_tiles_need_both_features():
    assert Target("cpu -mcpu=znver4").tile_products == ()
    assert Target("cpu -mcpu=znver4 -mattr=+amx-int8,+amx-bf16").tile_products == ()
    target = Target("cpu -mcpu=znver4 -mattr=+amx-tile,+amx-int8")
    assert [product.name for product in target.tile_products] == ["tdpbusd"]
    assert target.tile_product("f32") is None
    assert Target("cpu -mcpu=neoverse-v1").tile_products == ()


def test_tiles_of_bf16():
    product = Target("cpu -mcpu=znver4 -mattr=+amx-tile,+amx-bf16").tile_product("f32")
    assert product is not None
    assert (product.name, product.terms) == ("tdpbf16ps", 2)


@pytest.mark.parametrize("threads", [0, -1, 10**30])
def test_answers_about_threads_speak_of_threads(threads: int):
    with pytest.raises(InputError, match=rf"^threads is {threads}; help: "):
        xrelay.compile(module(), threads=threads)


# --- LLVM's side

SWEEP = """
import sys
from xrelay.runtime.object_code.llvm_compiler import compile_ir
for cpu, feature in (line.split() for line in sys.stdin):
    triple = 'target triple = "aarch64-unknown-linux-gnu"' if cpu == "cortex-a72" else ""
    compile_ir(triple + '''
    define <8 x float> @f(<8 x float> %x, double %y, ptr %p) {
      %r = fdiv <8 x float> %x, splat (float 3.0)
      %h = fptrunc double %y to float
      store float %h, ptr %p
      ret <8 x float> %r
    }''', cpu=cpu, features=feature)
"""


@pytest.mark.parametrize(("arch", "cpu"), [("x86_64", "haswell"), ("aarch64", "cortex-a72")])
def test_llvm_takes_every_feature_on_and_off(arch: str, cpu: str):
    """In a separate process, as LLVM aborts the process on unsupported features."""
    switches = [f"+{name}" for name in sorted(FEATURES[arch])]
    switches += [f"-{name}" for name in sorted(FEATURES[arch] - BASELINES[arch])]
    lines = "".join(f"{cpu} {switch}\n" for switch in switches)
    done = subprocess.run([sys.executable, "-c", SWEEP], input=lines, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "not a recognized" not in done.stderr


def test_every_feature_that_llvm_reports_has_a_name_here():
    if host_facts().arch in FEATURES:
        assert host_facts().features <= FEATURES[host_facts().arch]


def test_an_architecture_that_llvm_was_not_built_for(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(LoweringError, match=f"LLVM {llvm.version()} .* vax-"):
        compile_ir('target triple = "vax-unknown-linux-gnu"\n', cpu="", features="")


# --- another machine


def another_kind() -> str:
    return "cpu -mcpu=neoverse-n1" if host_facts().arch == "x86_64" else "cpu -mcpu=haswell"


def test_code_for_another_architecture_does_not_run():
    model = xrelay.compile(module(), target=another_kind())
    with pytest.raises(ArtifactError, match="has ABI 6-linux-"):
        model.run([np.zeros((3, 40), np.float32), np.zeros((24, 40), np.float32)])


def test_code_for_features_that_this_machine_lacks_does_not_run(tmp_path: Path):
    lacking = sorted(FEATURES[host_facts().arch] - host_facts().features)[0]
    model = xrelay.compile(module(), target=f"cpu -mattr=+{lacking}")
    with pytest.raises(ArtifactError, match=f"lacks {lacking}"):
        model.run([np.zeros((3, 40), np.float32), np.zeros((24, 40), np.float32)])
    model.export(tmp_path / "m.o", header=tmp_path / "m.h")


def test_what_this_machine_cannot_run_is_not_looked_for_among_cached_models(monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object) -> None:
        raise AssertionError("the model cache was used")

    monkeypatch.setattr("xrelay.api.versions.recipe.model_key", fail)
    xrelay.compile(module(), target=another_kind())


MAIN = """
#include "m.h"
int main(void) {
  static float data[120], weight[960], y[72];
  void *arena = m_new_arena();
  for (int i = 0; i < 120; i++) data[i] = (i % 7) / 8.0f - 0.25f;
  for (int i = 0; i < 960; i++) weight[i] = (i % 5) / 4.0f - 0.5f;
  int status = m_run(data, weight, y, 0, arena, 1);
  for (int i = 0; i < 72; i++) printf("%.9g\\n", y[i]);
  return status;
}
"""


def test_an_object_for_aarch64(tmp_path: Path):
    model = xrelay.compile(module(), target="cpu -mcpu=neoverse-n1")
    code, header = tmp_path / "m.o", tmp_path / "m.h"
    model.export(code, header=header)
    assert code.read_bytes()[:4] == b"\x7fELF"
    assert int.from_bytes(code.read_bytes()[ELF_MACHINE], "little") == EM_AARCH64
    if not IS_THERE:
        pytest.skip(NOT_THERE)
    (tmp_path / "main.c").write_text(MAIN)
    printed = build_and_run(tmp_path, "neoverse-n1")
    data = (np.arange(120, dtype=np.float32) % 7 / 8 - 0.25).reshape(3, 40)
    weight = (np.arange(960, dtype=np.float32) % 5 / 4 - 0.5).reshape(24, 40)
    (expected,) = xrelay.compile(module()).run([data, weight])
    np.testing.assert_allclose(np.array(printed.split(), np.float32), expected.ravel(), rtol=1e-5)


def test_a_target_of_a_target_is_the_same() -> None:
    target = Target("cpu -mcpu=haswell -num-threads=2")
    assert Target(target) == target


def test_the_kind_is_llvm_by_either_name():
    for text in ("llvm", "cpu -mcpu=znver4"):
        assert Target(text).kind.name == "llvm"
        assert str(Target(text).kind) == "llvm"
