"""Memory does not grow over many runs with changing sizes: 250 runs in `make test`, 10,000 in `make test-all`.

The test counts the bytes of the C library's blocks in use, which hold dynamic buffers, arenas, frames, closures,
sequences and numpy's arrays. Each round runs at the same sizes in the same order, more sizes than a model caches plans
for, so the model's own state is the same after each round.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import cycle, islice, product

import numpy as np
import pytest
from support.examples import FACTOR
from support.heap import COUNTED, REASON, kept_bytes
from support.run_time_models import NETWORKS, RunTimeModel

from xrelay.api.compile import compile
from xrelay.errors import ExecutionError

RUNS = 50 if FACTOR <= 1 else 2_000
"""The number of runs in each of five rounds."""
ALLOWED = 8 * RUNS
"""Half of the smallest block for each run."""
SIZES = 11
"""Three more than the number of cached plans."""
IN_MAKE_TEST = {"decoding", "nonzero_rows"}

# A carried value grows, an escaping function captures it, a sequence holds it; the function is called.
ESCAPING = """
!row = tensor<?xf32, #relay.dims<n>>
func.func @main(%x: !row, %times: tensor<i64>) -> ((tensor<f32>) -> tensor<f32>, !relay.sequence<tensor<?xf32>>) {
  %none = relay.sequence_construct(%x) : (!row) -> !relay.sequence<tensor<?xf32>>
  %l = relay.loop(%i, %c : tensor<?xf32, #relay.dims<m>> = %x : !row, %s : !relay.sequence<tensor<?xf32>> = %none
      : !relay.sequence<tensor<?xf32>>) to %times : tensor<i64> -> !relay.incomplete {
    %two = relay.tuple(%c, %x) : (tensor<?xf32, #relay.dims<m>>, !row) -> !relay.incomplete
    %longer = relay.concatenate(%two) : (!relay.incomplete) -> !relay.incomplete
    %more = relay.sequence_insert(%s, %c) : (!relay.sequence<tensor<?xf32>>, tensor<?xf32, #relay.dims<m>>)
      -> !relay.sequence<tensor<?xf32>>
    %y = relay.tuple(%longer, %more) : (!relay.incomplete, !relay.sequence<tensor<?xf32>>) -> !relay.incomplete
    relay.yield %y : !relay.incomplete
  }
  %grown = relay.tuple_get_item(%l) {index = 0} : (!relay.incomplete) -> !relay.incomplete
  %all = relay.tuple_get_item(%l) {index = 1} : (!relay.incomplete) -> !relay.sequence<tensor<?xf32>>
  %f = relay.fn(%a : tensor<f32>) -> tensor<f32> {
    %p = relay.multiply(%grown, %a) : (!relay.incomplete, tensor<f32>) -> !relay.incomplete
    %r = relay.sum(%p) : (!relay.incomplete) -> tensor<f32>
    relay.yield %r : tensor<f32>
  }
  func.return %f, %all : (tensor<f32>) -> tensor<f32>, !relay.sequence<tensor<?xf32>>
}
"""

pytestmark = pytest.mark.skipif(not COUNTED, reason=REASON)


@pytest.mark.grid(len(NETWORKS), values=lambda network: IN_MAKE_TEST & {network.id})
@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.id)
def test_networks(network: RunTimeModel) -> None:
    native = compile(network.build(), cache=False, threads=1)
    mixed = dict.fromkeys([*network.sizes, *product(*zip(*network.sizes, strict=True))])
    inputs = [list(network.arrays(sizes).values()) for sizes in islice(mixed, SIZES)]

    def runs() -> None:
        for arrays in islice(cycle(inputs), RUNS):
            # With mixed sizes, the k of a TopK may be too large; a failing run must not leak memory either.
            with suppress(ExecutionError):
                native.run(arrays)

    assert kept_bytes(runs) < ALLOWED


def test_dynamic_buffers_sequences_and_functions(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("escaping") / "escaping.mlir"
    path.write_text(ESCAPING)
    native = compile(path, cache=False, threads=1)

    def runs() -> None:
        for number in range(RUNS):
            length, times = 1000 + number % SIZES, number % 5
            function, held = native.run([np.ones(length, np.float32), np.array(times)])
            assert [len(each) for each in held] == [length, *(length * (1 + step) for step in range(times))]
            assert function(np.float32(2))[0] == 2 * length * (1 + times)

    assert kept_bytes(runs) < ALLOWED
