"""Random graphs compute the same after they are partitioned into regions for two external compilers."""

from __future__ import annotations

from random import Random

from support.examples import examples
from support.pass_checks import Before, apply, check_exact
from xdsl.dialects.builtin import ModuleOp

import xrelay

T = "tensor<2xf32>"
UNARY, BINARY = ("exp", "tanh", "negative"), ("add", "multiply", "maximum", "subtract")


def random_graph(random: Random) -> ModuleOp:
    """A graph whose ops use recent values, so that many paths lead around each region."""
    values, lines = ["%x"], list[str]()
    for number in range(random.randrange(6, 30)):
        name = random.choice(UNARY + BINARY)
        operands = random.choices(values[-6:], k=1 if name in UNARY else 2)
        types = ", ".join([T] * len(operands))
        lines.append(f"%v{number} = relay.{name}({', '.join(operands)}) : ({types}) -> {T}")
        values.append(f"%v{number}")
    results = random.sample(values[-5:], random.randrange(1, 5))
    types = ", ".join([T] * len(results))
    body = "\n".join([*lines, f"func.return {', '.join(results)} : {types}"])
    return xrelay.parse(f"func.func @main(%x: {T}) -> ({types}) {{\n{body}\n}}")


def test_regions_of_random_graphs_change_no_bit() -> None:
    found = 0
    for seed in range(examples(15, more=80)):
        random = Random(seed)
        before = Before.of(random_graph(random))
        taken = [f'"{random.choice("ab")}:{name}"' for name in UNARY + BINARY if random.random() < 0.7]
        marked = f"relay-annotate-target{{targets=a,b ops={','.join(taken)}}}" if taken else "relay-annotate-target"
        for passes in ("", ",relay-merge-compiler-regions"):
            made = apply(before.module, f"{marked}{passes},relay-partition-graph")
            check_exact(before, before.after(made))
            found += str(made).count("Compiler = ")
    assert found > 25
