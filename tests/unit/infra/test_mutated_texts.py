"""Parsing, verification and printing of mutated texts; `tests/fuzz/mlir_texts.py` covers more."""

from __future__ import annotations

import random

import pytest
from fuzz.mlir_texts import Finding, check_text, corpus, mutate
from support.examples import examples

SEEDS = 40
BATCHES = examples(4, more=2)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_mutated_texts_are_read_or_refused(batch: int) -> None:
    texts = corpus()
    for seed in range(batch * SEEDS, (batch + 1) * SEEDS):
        rng = random.Random(seed)
        try:
            check_text(mutate(rng, rng.choice(texts)))
        except Finding as finding:
            raise AssertionError(f"seed {seed}: {finding}") from finding


def test_the_checker_reports_what_it_is_made_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.mlir_texts.parse_module", lambda *_: 1 / 0)
    with pytest.raises(Finding, match="read raises ZeroDivisionError"):
        check_text("func.func @f() { func.return }")


TROUBLE = [
    'func.func private @"Größe"() attributes {a = "Größe", b = #relay.weight<"Größe", "k">, "é" = @"ö"}',
    'func.func @f(%x: tensor<4xf32>) {\n%v = relay.let "Größe" = %x : tensor<4xf32>\nfunc.return }',
    '"test.op"() {a = #loop.schedule<[unroll("a\\22b"), fuse("a\\0A", "b\\\\", name = "\\7F")]>} : () -> ()',
    '"test.op"() {d = #relay.requirements<n == m "C2 Größe">} : () -> ()',
    "builtin.module {\nbuiltin.module @m { func.func private @f(tensor<?xf32, #relay.dims<n>>) }\n"
    'func.func @g(%x: tensor<?xf32, #relay.dims<n>>) {\n"relay.call"(%x) <{callee = @m::@f, bindings = '
    "#relay.dim_bindings<n = n>}> : (tensor<?xf32, #relay.dims<n>>) -> ()\nfunc.return }}",
]


@pytest.mark.parametrize("text", TROUBLE)
def test_names_of_any_characters_are_read_again(text: str) -> None:
    check_text(text)
