"""`transform.LayoutConfig` excludes single convolutions from `ConvertLayout`."""

from __future__ import annotations

from xrelay import relay, transform

X = relay.var("x", shape=(1, 4, 8, 8))
WEIGHTS = [relay.var(f"w{number}", shape=(4, 4, 3, 3)) for number in range(3)]


def converted(*skipped: int, **options: object) -> list[bool]:
    """Whether each of three consecutive convolutions has layout NHWC."""
    y = X
    for weight in WEIGHTS:
        y = relay.nn.relu(relay.nn.conv2d(y, weight, padding=1))
    module = relay.IRModule.from_expr(relay.Function([X, *WEIGHTS], y))
    with transform.LayoutConfig(skip_layers=list(skipped)):
        text = str(transform.ConvertLayout({"nn.conv2d": ["NHWC", "default"]}, **options)(module))
    return ["NHWC" in line for line in text.splitlines() if "relay.nn.conv2d" in line]


def test_numbers_count_in_the_order_of_the_program() -> None:
    assert converted() == [True, True, True]
    assert converted(0) == [False, True, True]
    assert converted(0, 2) == [False, True, False]


def test_the_option_goes_before_the_context() -> None:
    assert converted(0, skip_layers=[1]) == [True, False, True]


def test_the_innermost_counts_and_ends() -> None:
    with transform.LayoutConfig(skip_layers=[0]) as outer:
        assert converted(1) == [True, False, True]
        assert outer.skip_counter == 0
    assert transform.LayoutConfig.innermost() is None


def test_a_config_counts_on_until_it_is_reset() -> None:
    config = transform.LayoutConfig(skip_layers=[1])
    assert [config.check_skip() for _ in range(3)] == [False, True, False]
    assert config.skip_counter == 3
    config.reset()
    assert (config.skip_counter, config.skip_layers) == (0, [])


def test_offsets_of_a_deformable_convolution_follow_from_data_and_weight() -> None:
    x, weight = relay.var("x", shape=(1, 7, 6, 3)), relay.var("w", shape=(3, 3, 3, 8))
    y = relay.nn.deformable_conv2d(x, relay.var("o"), weight, data_layout="NHWC", kernel_layout="HWIO")
    module = relay.IRModule.from_expr(relay.Function(relay.analysis.free_vars(y), y))
    text = str(transform.ConvertLayout({"nn.deformable_conv2d": ["NCHW", "default"]})(module))
    assert "%o: tensor<1x5x4x18xf32>" in text
    assert text.count("relay.layout_transform") == 4
