"""`torch.compile(model, backend="xrelay")` matches PyTorch, natively or with a message that states the reason."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import xrelay
from xrelay import relay
from xrelay.errors import InputError

REASON = "PyTorch and onnxscript are not installed: the extra `torch` brings them"
torch: Any = pytest.importorskip("torch", reason=REASON)
pytest.importorskip("onnxscript", reason=REASON)
backend: Any = pytest.importorskip("xrelay.torch_backend")

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def fresh(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    torch.manual_seed(0)
    torch._dynamo.reset()
    with caplog.at_level(logging.WARNING, "xrelay.torch_backend"), torch.no_grad():
        yield


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "xrelay.torch_backend"]


def check(found: Any, expected: Any) -> None:
    assert type(found) is type(expected)
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            check(one, other)
    elif isinstance(expected, torch.Tensor):
        torch.testing.assert_close(found, expected)
    else:
        assert found == expected


def network() -> Any:
    nn = torch.nn
    layers = [
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.LazyLinear(5),
    ]
    model = nn.Sequential(*layers).eval()
    model(torch.zeros(2, 3, 8, 8))
    return model


def test_a_network_with_open_batches_whose_weights_change(caplog: pytest.LogCaptureFixture) -> None:
    model = network()
    compiled = torch.compile(model, backend="xrelay", dynamic=True, options={"opt_level": 2, "cache": False})
    for batch in (2, 3, 5):
        x = torch.randn(batch, 3, 8, 8).to(memory_format=torch.channels_last)
        check(compiled(x), model(x))
    model[0].weight.mul_(2)
    check(compiled(x), model(x))
    model[5].bias = torch.nn.Parameter(torch.ones(5))
    check(compiled(x), model(x))
    assert not said(caplog)


def several(x: Any, scale: float) -> Any:
    y = x * scale
    return y, x, y.sum(), x.shape[0], None, (y.to(torch.bfloat16) + 1, y > 0), y.T, y


def test_several_outputs_of_all_kinds(caplog: pytest.LogCaptureFixture) -> None:
    compiled = torch.compile(several, backend=backend.compile_graph, dynamic=True)
    for rows, scale in ((3, 2.5), (4, 2.5), (4, 3.5)):
        x = torch.randn(rows, 4)
        found = compiled(x, scale)
        check(found, several(x, scale))
        assert found[1] is x
    assert not said(caplog)


def in_place(x: Any) -> Any:
    x.add_(1)
    return x * 2


def decomposed(x: Any) -> Any:
    return torch.linalg.svd(x)[1]


@pytest.mark.parametrize("function", [in_place, decomposed])
def test_what_is_refused_runs_in_pytorch(function: Callable[[Any], Any], caplog: pytest.LogCaptureFixture) -> None:
    compiled = torch.compile(function, backend="xrelay")
    x, y = torch.ones(3, 3), torch.ones(3, 3)
    for _ in range(2):
        check(compiled(x), function(y))
    check(x, y)
    (line,) = said(caplog)
    assert line.startswith("a graph of ")
    assert " runs in PyTorch: " in line
    assert "\n" not in line


def test_graphs_that_train_run_in_pytorch(caplog: pytest.LogCaptureFixture) -> None:
    model = torch.nn.Linear(4, 3)
    compiled = torch.compile(model, backend="xrelay")
    with torch.enable_grad():
        compiled(torch.ones(2, 4)).sum().backward()
    assert model.weight.grad is not None
    assert ["torch.no_grad()" in line for line in said(caplog)] == [True]


def test_an_unknown_option() -> None:
    with pytest.raises(InputError, match="option 'opt_levl'; help: did you mean 'opt_level'"):
        backend.compile_graph(None, [], options={"opt_levl": 1})


def test_tensors_are_inputs_of_models_and_outputs_are_tensors() -> None:
    x = relay.var("x", shape=(2, 3))
    model = xrelay.compile(relay.Module.from_expr(relay.Function([x], x + x)))
    tensor = torch.arange(6.0).reshape(3, 2).T
    (found,) = model(tensor)
    check(torch.from_dlpack(found), tensor + tensor)
    for wrong in (tensor.double(), tensor.to(torch.bfloat16), tensor.to("meta")):
        with pytest.raises(InputError, match="input 'x': expected float32") as caught:
            model(wrong)
        assert "\n" not in str(caught.value)
