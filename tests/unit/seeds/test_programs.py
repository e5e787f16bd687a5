"""The Python programs of the articles run, with the results stated there."""

from __future__ import annotations

import numpy as np
import pytest
from support.seed_programs import PASS_INFRASTRUCTURE, SIMPLENET, TOPI_RESIZE, SeedProgram, digest

import xrelay
from xrelay import relay
from xrelay.interpreters.relay import run_relay
from xrelay.passes.layout import layout_hooks

PROGRAMS = [SIMPLENET, PASS_INFRASTRUCTURE, TOPI_RESIZE]


@pytest.fixture(autouse=True)
def _own_registries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restores the registries after a test."""
    monkeypatch.setattr(layout_hooks, "_HOOKS", dict(layout_hooks._HOOKS))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_the_program_is_the_articles_but_for_the_lines_listed(program: SeedProgram) -> None:
    assert digest(program.original()) == program.digest
    text = program.path.read_text()
    assert all(line in text for line in [*program.changes.values(), *program.restored])
    assert all("import" in line or "np." in line for line in program.changes)


def test_simplenet_is_built_and_run(capsys: pytest.CaptureFixture[str]) -> None:
    found = SIMPLENET.run()
    text = capsys.readouterr().out
    assert text == f"{found['func']}\n"
    assert text.startswith('func.func @main(%data: tensor<1x3x224x224xf32> {relay.name = "data"}, %graph_conv_weight:')
    inputs = [found["np_data"].astype(np.float32), *found["params"].values()]
    typed = relay.transform.InferType()(relay.IRModule.from_expr(found["func"]))
    (expected,) = run_relay(typed, [np.asarray(value) for value in inputs])
    assert np.isnan(expected).any(), "a variance drawn from -1 to 1 has no root"
    np.testing.assert_allclose(found["tvm_output"].numpy(), expected, rtol=1e-3, atol=1e-4)


def test_passes_do_what_the_article_says(capsys: pytest.CaptureFixture[str]) -> None:
    found = PASS_INFRASTRUCTURE.run()
    additions = {name: str(found[name]).count("relay.add(") for name in ("mod1", "mod2", "mod4", "mod5")}
    assert additions == {"mod1": 4, "mod2": 3, "mod4": 3, "mod5": 5}
    assert all(isinstance(found[name], xrelay.IRModule) for name in additions)
    assert str(found["mod5"]).count('data_layout = "NCHW16c"') == 1
    assert str(found["mod5"]).count("relay.layout_transform") == 4
    assert "kernel_layout" not in str(found["mod5"]), "the hook of the program, not the CPU's own, chose"
    # Each of the two constants is multiplied once; c is used four times.
    custom = str(found["mod3"])
    assert custom.count("relay.multiply") == 3
    assert custom.count("relay.constant dense<3.000000e+00>") == 1
    printed = capsys.readouterr()
    assert "Running pass: {} " in printed.out
    assert printed.out.endswith("done\n")
    assert printed.err.startswith("// -----// IR PrintIR //----- //")


def test_the_disabled_pass_leaves_both_additions() -> None:
    seen: list[str] = []
    PASS_INFRASTRUCTURE.run(print=lambda *items: seen.append(" ".join(map(str, items))))
    modules = [text for text in seen if text.startswith("builtin.module")]
    # Folded, without common subexpressions, one group each, then Sequential at 2, at 3, with the pass disabled.
    assert [text.count("relay.add(") for text in modules[:6]] == [4, 3, 3, 4, 3, 4]


def test_what_the_passes_make_computes_the_same() -> None:
    found = PASS_INFRASTRUCTURE.run()
    rng = np.random.default_rng(1)
    inputs = [rng.standard_normal(shape).astype(np.float32) for shape in ((1, 64, 56, 56), (64, 64, 3, 3))]
    model = xrelay.compile(relay.IRModule.from_expr(found["f"]), cache=False)
    (expected,) = model.run(inputs)
    (actual,) = xrelay.compile(found["mod5"], cache=False).run(inputs)
    np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-3)
