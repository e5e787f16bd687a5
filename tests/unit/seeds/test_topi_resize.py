"""An out-of-tree operator whose compute and schedule the article's program registers, from relay to native code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.seed_programs import TOPI_RESIZE
from support.tensor_expressions import value_of

from xrelay import te, topi
from xrelay.lowering.relay_to_topi import registry as strategies
from xrelay.lowering.topi_to_loop.schedules import choose_family
from xrelay.relay.op import implementations

TESTS = Path(__file__).parents[2]

FROM_RELAY = """
import numpy as np
import support.resize_op
from support.seed_programs import TOPI_RESIZE
import xrelay
from xrelay import relay, te, topi
from xrelay.transform import create_pass

TOPI_RESIZE.run()
x = relay.var("x", shape=(1, 4, 6, 16))
for method in ("nearest_neighbor", "bilinear", "bicubic"):
    y = relay.nn.relu(relay.image.resize(x, size=(8, 3), layout="NHWC", method=method))
    values = np.random.default_rng(2).standard_normal((1, 4, 6, 16)).astype(np.float32)
    (result,) = xrelay.compile(relay.IRModule.from_expr(y)).run([values])
    a = te.placeholder((1, 4, 6, 16), name="a")
    out = topi.image.resize(a, (8, 3), "NHWC", method)
    resize, expected = xrelay.build(te.create_schedule(out.op), [a, out]), np.empty((1, 8, 3, 16), np.float32)
    resize(values, expected)
    np.testing.assert_allclose(result, np.maximum(expected, 0), rtol=1e-5, atol=1e-6)
stages = "relay-infer-type,relay-fuse-ops,relay-outline-fused,convert-relay-to-topi,topi-inline-injective,"
module = relay.IRModule.from_expr(y)
for name in (stages + "convert-topi-to-loop,loop-assign-schedules").split(","):
    module = create_pass(name)(module)
print(str(module))
"""


def test_an_operator_from_outside_runs_by_the_registered_compute_and_schedule() -> None:
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    done = subprocess.run([sys.executable, "-c", FROM_RELAY], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert '"relay.image.resize: image.resize.te (priority 10; first choice)"' in done.stdout
    assert 'loop.schedule_reason = "relay.op:image.resize: registered for image.resize"' in done.stdout
    assert 'vectorize("' in done.stdout


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """The article's functions without their registrations: no operator of that name exists here."""
    from xrelay.relay import op as reg

    monkeypatch.setattr(reg, "register_compute", lambda name: lambda function: function)
    monkeypatch.setattr(reg, "register_injective_schedule", lambda name: None)
    assert all(op.name != "relay.image.resize" for op in strategies.STRATEGIES.ops())
    assert "relay.op:image.resize" not in choose_family.REGISTERED
    assert implementations.DEFAULT_LEVEL == 10
    return TOPI_RESIZE.run()


def test_the_articles_schedule_applies_to_what_it_is_given(program: dict[str, object]) -> None:
    schedule_injective = program["schedule_injective"]
    assert callable(schedule_injective)
    for shape in ((1, 3, 6, 10), (5, 8), (7,), (0, 4), ()):
        x = te.placeholder(shape, name="x")
        y = topi.nn.relu(topi.multiply(topi.exp(x), 2.0))
        s = schedule_injective([y])
        values = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        np.testing.assert_allclose(value_of(y, (x, values), schedule=s), np.exp(values) * 2, rtol=1e-5)
        assert [stage.op.name for stage in s.stages if stage.is_inlined] == ["T_exp", "T_multiply"]
    image = te.placeholder((2, 3, 5, 8), name="image")
    resized = topi.image.resize(image, (6, 4), "NHWC")
    text = str(te.lower(schedule_injective(resized), [image, resized]))
    assert 'split("i3", 4), vectorize("i3_i"), fuse("i0", "i1"), parallelize("i0_i1")' in text


def test_the_method_chooses_the_function(program: dict[str, object]) -> None:
    compute = program["compute_by_method"]
    assert callable(compute)
    functions = [lambda *i, value=value: te.const(value) for value in (1.0, 2.0, 3.0)]
    for number, method in enumerate(("nearest_neighbor", "bilinear", "bicubic")):
        made = compute(method, (2, 3), *functions)
        assert made.op.tag == "injective"
        np.testing.assert_array_equal(value_of(made), np.full((2, 3), number + 1))
    with pytest.raises(ValueError, match="x method is not supported"):
        compute("x", (2, 3), *functions)
