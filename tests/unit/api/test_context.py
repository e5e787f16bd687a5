"""A PassContext around compile and build: level, passes, config, instruments."""

from __future__ import annotations

import numpy as np
import pytest

import xrelay
from xrelay import instrument, relay, transform
from xrelay.lowering.pipelines import FUSE, KERNELS
from xrelay.relay.build_module import build


def net() -> relay.Function:
    data = relay.var("data", shape=(1, 8, 6, 6))
    weight = relay.const(np.ones((8, 8, 3, 3), np.float32))
    y = relay.nn.relu(relay.nn.conv2d(data, weight, channels=8, kernel_size=(3, 3)))
    return relay.Function([data], y)


@instrument.pass_instrument
class Names:
    """An instrument that records the names of the passes that run."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def run_before_pass(self, mod: object, info: transform.PassInfo) -> None:
        self.seen.append(info.name)


def passes_seen(**options: object) -> list[str]:
    names = Names()
    with transform.PassContext(instruments=[names], **options):  # pyright: ignore[reportArgumentType]
        build(net())
    return names.seen


def test_level_of_the_context_counts() -> None:
    assert "relay-alter-op-layout" in passes_seen(opt_level=3)
    assert "relay-alter-op-layout" not in passes_seen(opt_level=2)


def test_disabled_and_required_passes() -> None:
    assert "relay-alter-op-layout" not in passes_seen(opt_level=3, disabled_pass=["AlterOpLayout"])
    assert "relay-alter-op-layout" in passes_seen(opt_level=1, required_pass=["AlterOpLayout"])


def test_without_fusion_every_op_is_a_kernel() -> None:
    with transform.PassContext(opt_level=2, disabled_pass=["FuseOps"]):
        alone = build(net())
    assert len(alone.artifact.metadata.kernels) == 2
    assert len(build(net(), opt_level=2).artifact.metadata.kernels) == 1


def test_config_reaches_fusion() -> None:
    counts = {}
    for depth in (1, 256):
        with transform.PassContext(opt_level=3, config={"relay.FuseOps.max_depth": depth}):
            counts[depth] = len(build(net()).artifact.metadata.kernels)
    assert counts[1] > counts[256]


def test_explicit_level_wins() -> None:
    names = Names()
    with transform.PassContext(opt_level=0, instruments=[names]):
        build(net(), opt_level=3)
    assert "relay-alter-op-layout" in names.seen


def test_without_context_the_greatest_level() -> None:
    x = np.ones((1, 8, 6, 6), np.float32)
    (found,) = build(net()).run([x])
    np.testing.assert_allclose(found, np.full((1, 8, 4, 4), 72, np.float32))


def test_unknown_pass_is_refused() -> None:
    with pytest.raises(xrelay.errors.PassError, match="AlterOpLayout"):
        transform.PassContext(disabled_pass=["AlterOpLayuot"])


@instrument.pass_instrument
class Forbids:
    """An instrument that skips all passes, and records their names."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def should_run(self, mod: object, info: transform.PassInfo) -> bool:
        self.asked.append(info.name)
        return False


def test_instruments_forbid_passes_of_the_optimiser_alone() -> None:
    forbids, names = Forbids(), Names()
    with transform.PassContext(opt_level=3, instruments=[forbids, names], required_pass=["SimplifyInference"]):
        (found,) = build(net()).run([np.ones((1, 8, 6, 6), np.float32)])
    np.testing.assert_allclose(found, np.full((1, 8, 4, 4), 72, np.float32))
    assert "relay-alter-op-layout" in forbids.asked
    assert "convert-relay-to-topi" not in forbids.asked
    optimiser = [name for name in names.seen if name.startswith("relay-")]
    fusion = [*FUSE, "relay-outline-fused", *KERNELS]
    assert optimiser == ["relay-infer-type", "relay-simplify-inference", "relay-to-basic-block-normal-form", *fusion]


@instrument.pass_instrument
class Fails:
    """An instrument that raises."""

    def run_after_pass(self, mod: object, info: transform.PassInfo) -> None:
        raise KeyError("oh")


def test_an_instrument_that_fails_is_named() -> None:
    message = r"\[relay-infer-type\] Fails\.run_after_pass raised KeyError: 'oh'"
    with pytest.raises(xrelay.errors.PassError, match=message), transform.PassContext(instruments=[Fails()]):
        build(net())
