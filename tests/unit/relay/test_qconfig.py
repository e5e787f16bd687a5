"""`relay.quantize.qconfig`: a context that validates, nests, and is local to a thread."""

from __future__ import annotations

from threading import Barrier, Thread
from typing import Any

import pytest

from xrelay import relay
from xrelay.errors import InputError

RELAYS_DEFAULTS = {
    "nbit_input": 8, "nbit_weight": 8, "nbit_activation": 32, "dtype_input": "int8", "dtype_weight": "int8",
    "dtype_activation": "int32", "calibrate_mode": "global_scale", "global_scale": 8.0, "weight_scale": "power2",
    "skip_dense_layer": True, "skip_conv_layers": (0,), "do_simulation": False, "round_for_shift": True,
    "debug_enabled_ops": None, "rounding": "UPWARD", "calibrate_chunk_by": -1, "partition_conversions": "disabled",
}  # fmt: skip


def test_defaults_are_relays() -> None:
    current = relay.quantize.current_qconfig()
    assert {name: getattr(current, name) for name in RELAYS_DEFAULTS} == RELAYS_DEFAULTS
    assert not current.per_channel


def test_contexts_nest_and_end() -> None:
    with relay.quantize.qconfig(global_scale=4.0) as outer:
        assert relay.quantize.current_qconfig() is outer
        with relay.quantize.qconfig(nbit_input=6):
            assert relay.quantize.current_qconfig().nbit_input == 6
            assert relay.quantize.current_qconfig().global_scale == 8.0
            with outer:
                assert relay.quantize.current_qconfig() is outer
        assert relay.quantize.current_qconfig() is outer
    assert relay.quantize.current_qconfig().global_scale == 8.0


def test_an_error_ends_the_context() -> None:
    with pytest.raises(ZeroDivisionError), relay.quantize.qconfig(global_scale=4.0):
        raise ZeroDivisionError
    assert relay.quantize.current_qconfig().global_scale == 8.0


def test_threads_have_contexts_of_their_own() -> None:
    shared = relay.quantize.qconfig(global_scale=2.0)
    barrier, seen = Barrier(2), list[float]()

    def enter(inside: bool) -> None:
        if inside:
            with shared:
                barrier.wait()
                seen.append(relay.quantize.current_qconfig().global_scale)
                barrier.wait()
        else:
            barrier.wait()
            seen.append(relay.quantize.current_qconfig().global_scale)
            barrier.wait()

    threads = [Thread(target=enter, args=(inside,)) for inside in (True, False)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == [2.0, 8.0]


def test_fields_cannot_be_set() -> None:
    config: Any = relay.quantize.qconfig()
    with pytest.raises(AttributeError):
        config.global_scale = 1.0


def test_unknown_names_have_a_hint() -> None:
    with pytest.raises(InputError, match="option 'skip_dense_layers'; help: did you mean 'skip_dense_layer'"):
        relay.quantize.qconfig(skip_dense_layers=False)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nbit_input", 1), ("nbit_input", 9), ("nbit_input", 8.0), ("nbit_input", True), ("nbit_weight", 0),
        ("nbit_activation", 16), ("dtype_input", "int16"), ("dtype_weight", "uint8"), ("dtype_activation", "int8"),
        ("calibrate_mode", "mean"), ("global_scale", 0), ("global_scale", float("nan")), ("global_scale", "8"),
        ("weight_scale", "min"), ("skip_dense_layer", 1), ("skip_conv_layers", 0), ("skip_conv_layers", ["a"]),
        ("do_simulation", None), ("round_for_shift", "yes"), ("debug_enabled_ops", "nn.conv2d"),
        ("debug_enabled_ops", ["nn.conv2"]), ("rounding", "DOWN"), ("calibrate_chunk_by", 0),
        ("partition_conversions", True), ("per_channel", "no"),
    ],
)  # fmt: skip
def test_values_are_checked(name: str, value: object) -> None:
    with pytest.raises(InputError, match=name):
        relay.quantize.qconfig(**{name: value})


def test_values_may_be_lists() -> None:
    config = relay.quantize.qconfig(skip_conv_layers=[1, -1], debug_enabled_ops=["nn.conv2d", "nn.relu"])
    assert config.skip_conv_layers == (1, -1)
    assert config.debug_enabled_ops == ("nn.conv2d", "nn.relu")


def test_kinds() -> None:
    kinds = relay.quantize.QAnnotateKind
    config = relay.quantize.qconfig(nbit_weight=5, dtype_input="uint8")
    assert [relay.quantize.kind2str(kind) for kind in range(4)] == ["identity", "input", "weight", "activation"]
    assert (config.get_nbit_by_kind(kinds.WEIGHT), config.get_dtype_by_kind(kinds.INPUT)) == (5, "uint8")
    for kind in (kinds.IDENTITY, 4, "input"):
        with pytest.raises(InputError):
            config.get_nbit_by_kind(kind)
