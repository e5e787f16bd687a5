"""Contemporary network architectures in the styles of PyTorch's two exporters, with static and dynamic sizes.

Each is compiled once; at every size the interpreter and native code equal onnxruntime, or onnx's reference evaluator if
onnxruntime rejects the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import pytest
from fuzz.onnx_oracles import onnxruntime_outputs
from onnx.reference import ReferenceEvaluator
from support.onnx_networks.catalogue import NETWORKS
from support.onnx_networks.network import Array, Network, Sizes, Style

from xrelay.api.compile import compile
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay


@dataclass(frozen=True)
class Case:
    """A network in a style, with dynamic sizes or with the first of its `sizes`."""

    network: Network
    style: Style
    is_open: bool

    @property
    def id(self) -> str:
        return f"{self.network.id}-{self.style.value}-{'open' if self.is_open else 'known'}"

    def proto(self) -> onnx.ModelProto:
        return self.network.proto(self.style, None if self.is_open else self.network.sizes[0])

    @property
    def sizes(self) -> Sequence[Sizes]:
        return self.network.sizes if self.is_open else self.network.sizes[:1]


def cases() -> list[Case]:
    """Each network in both styles, with dynamic and static sizes; every fourth case covers each network once.

    `make test` runs the interpreter on one case of each network, and native code on every eighth network, with the
    styles in rotation.
    """
    kinds = [(style, is_open) for is_open in (True, False) for style in Style]
    turns = [kinds[number % 4 :] + kinds[: number % 4] for number in range(len(NETWORKS))]
    return [Case(network, *kind) for network, turn in zip(NETWORKS, turns, strict=True) for kind in turn]


def expected_outputs(proto: onnx.ModelProto, inputs: Mapping[str, Array]) -> list[Array]:
    found = onnxruntime_outputs(proto, inputs)
    if found is None:
        evaluator: Any = ReferenceEvaluator(proto)
        found = evaluator.run(None, dict(inputs))
    return found


def equal(found: Sequence[Array], expected: Sequence[Array]) -> None:
    for array, wanted in zip(found, expected, strict=True):
        atol = 1e-4 * float(np.abs(wanted).max(initial=0)) if wanted.dtype.kind == "f" else 0
        np.testing.assert_allclose(array, wanted, rtol=1e-3, atol=atol, strict=True)


def compare(case: Case, proto: onnx.ModelProto, run: Callable[[Mapping[str, Array]], Sequence[Array]]) -> None:
    for sizes in case.sizes:
        inputs = case.network.arrays(sizes)
        equal(run(inputs), expected_outputs(proto, inputs))


@pytest.mark.grid(4)
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_the_interpreter_equals_onnxruntime(case: Case) -> None:
    proto = case.proto()
    module = import_onnx(proto)
    compare(case, proto, lambda inputs: run_relay(module, list(inputs.values())))


@pytest.mark.grid(33)
@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_native_code_equals_onnxruntime(case: Case) -> None:
    proto = case.proto()
    compare(case, proto, compile(proto, cache=False).run)


@pytest.mark.grid(1)
@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.id)
def test_both_styles_are_equal_models_of_their_seed_whose_outputs_depend_on_the_inputs(network: Network) -> None:
    for style in Style:
        proto = network.proto(style, None)
        assert proto == network.proto(style, None)
        first, second = (expected_outputs(proto, network.arrays(sizes)) for sizes in network.sizes[:2])
        for one, other in zip(first, second, strict=True):
            assert np.isfinite(one).all()
            assert one.size == 0 or one.shape != other.shape or not np.allclose(one, other, rtol=1e-2)
