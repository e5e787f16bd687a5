"""Modules exported by both of PyTorch's exporters: the interpreter and native code agree with PyTorch.

Dynamic sizes are those that PyTorch traces as dynamic; the older exporter writes them as chains of Shape, Gather and
Concat.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

from xrelay.api.compile import compile
from xrelay.frontend.onnx import import_onnx
from xrelay.interpreters.relay import run_relay

torch: Any = pytest.importorskip("torch", reason="torch, whose exporters are tried, is not installed")
pytest.importorskip("onnxscript", reason="onnxscript, which torch's newer exporter needs, is not installed")
nn, functional = torch.nn, torch.nn.functional

Axes = Mapping[int, str]
Example = tuple[Any, Sequence[Axes], Sequence[Sequence[Any]]]
"""A module, the dynamic axes of its arguments, and arguments of several sizes."""


class Pixels(nn.Module):
    """Depthwise convolutions with a channel gate, shuffled channels, and two ways of upsampling."""

    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.Hardswish())
        self.deep = nn.Sequential(nn.Conv2d(4, 4, 3, 1, 1, groups=4), nn.BatchNorm2d(4), nn.SiLU())
        self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(8, 8, 1), nn.Hardsigmoid())
        self.larger, self.last = nn.ConvTranspose2d(8, 8, 2, 2), nn.Conv2d(8, 4, 3, padding=1)

    def forward(self, image: Any) -> Any:
        features = self.stem(image)
        kept, changed = features.chunk(2, 1)
        both = torch.cat([kept, self.deep(changed)], 1)
        batch, width, rows, columns = both.shape
        both = both.view(batch, 2, width // 2, rows, columns).transpose(1, 2).reshape(batch, width, rows, columns)
        risen = self.larger(both * self.gate(both))
        risen = functional.interpolate(risen, size=image.shape[2:], mode="bilinear", align_corners=False)
        return (functional.pixel_shuffle(torch.tanh(self.last(functional.pad(risen, (1, 0, 1, 0)))), 2),)


class Windows(nn.Module):
    """Attention in shifted windows of an image, and the mean of its result."""

    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.patches, self.norm = nn.Conv2d(3, 16, 4, 4), nn.LayerNorm(16)
        self.product, self.wide, self.last = nn.Linear(16, 48), nn.Linear(16, 32), nn.Linear(32, 10)

    def forward(self, image: Any) -> Any:
        hidden = self.norm(self.patches(image).permute(0, 2, 3, 1))
        rolled = torch.roll(hidden, (-2, -2), (1, 2))
        batch, rows, columns, width = rolled.shape
        windows = rolled.view(batch, rows // 4, 4, columns // 4, 4, width).permute(0, 1, 3, 2, 4, 5)
        query, key, values = self.product(windows.reshape(-1, 16, width)).chunk(3, -1)
        mixed = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(width), -1) @ values
        back = mixed.view(batch, rows // 4, columns // 4, 4, 4, width).permute(0, 1, 3, 2, 4, 5)
        hidden = hidden + torch.roll(back.reshape(batch, rows, columns, width), (2, 2), (1, 2))
        return (self.last(functional.gelu(self.wide(self.norm(hidden[:, ::2, 1::2])))).mean((1, 2)),)


class Decoder(nn.Module):
    """A layer of causal attention with rotary embeddings over cached and new positions."""

    def __init__(self) -> None:
        nn.Module.__init__(self)
        self.words, self.norm = nn.Embedding(30, 16), nn.LayerNorm(16)
        self.product, self.out = nn.Linear(16, 32), nn.Linear(16, 30)

    def forward(self, ids: Any, keys: Any, values: Any) -> Any:
        hidden = self.words(ids)
        places = torch.arange(keys.shape[2], keys.shape[2] + ids.shape[1])
        angles = places[:, None].float() * torch.exp(-torch.arange(4).float())[None]
        turn = torch.cat([angles, angles], -1)
        query, new = self.product(self.norm(hidden)).split([16, 16], -1)
        query = query.view(ids.shape[0], -1, 2, 8).transpose(1, 2)
        key, value = new.view(ids.shape[0], -1, 2, 1, 8).transpose(1, 3).unbind(2)
        key = key * torch.cos(turn) + torch.cat([-key[..., 4:], key[..., :4]], -1) * torch.sin(turn)
        keys, values = torch.cat([keys, key], 2), torch.cat([values, value], 2)
        seen = torch.arange(keys.shape[2])[None] <= places[:, None]
        wide = (each.expand(-1, 2, -1, -1) for each in (keys, values))
        mixed = functional.scaled_dot_product_attention(query, *wide, attn_mask=seen)
        return self.out(hidden + mixed.transpose(1, 2).flatten(2)), keys, values


class Sequences(nn.Module):
    """Words through a bidirectional recurrent layer, and its last state."""

    def __init__(self, layer: Callable[..., Any]) -> None:
        nn.Module.__init__(self)
        self.words, self.layer = nn.Embedding(30, 8), layer(8, 6, batch_first=True, bidirectional=True)
        self.last = nn.Linear(12, 10)

    def forward(self, ids: Any) -> Any:
        hidden, _ = self.layer(self.words(ids))
        return functional.log_softmax(self.last(hidden), -1), hidden[:, -1]


def _pixels() -> Example:
    return (
        Pixels(),
        [{0: "batch", 2: "height", 3: "width"}],
        [[torch.randn(*s)] for s in ((2, 3, 16, 16), (1, 3, 21, 10))],
    )


def _windows() -> Example:
    return Windows(), [{0: "batch"}], [[torch.randn(batch, 3, 32, 32)] for batch in (2, 5)]


def _decoder() -> Example:
    def arguments(batch: int, length: int, past: int) -> list[Any]:
        return [torch.randint(0, 30, (batch, length)), *(torch.randn(batch, 1, past, 8) for _ in range(2))]

    cache = {0: "batch", 2: "past"}
    return Decoder(), [{0: "batch", 1: "length"}, cache, cache], [arguments(2, 3, 4), arguments(3, 2, 9)]


def _lstm() -> Example:
    return Sequences(nn.LSTM), [{0: "batch", 1: "length"}], [[torch.randint(0, 30, s)] for s in ((2, 7), (3, 4))]


def _gru() -> Example:
    return Sequences(nn.GRU), [{0: "batch", 1: "length"}], [[torch.randint(0, 30, s)] for s in ((2, 7), (3, 4))]


def exported(module: Any, arguments: Sequence[Any], axes: Sequence[Axes] | None, *, dynamo: bool) -> onnx.ModelProto:
    file, names = io.BytesIO(), [f"input_{index}" for index in range(len(arguments))]
    if dynamo:
        open_axes = None if axes is None else tuple(dict.fromkeys(each, torch.export.Dim.DYNAMIC) for each in axes)
        torch.onnx.export(
            module, tuple(arguments), file, input_names=names, dynamo=True, dynamic_shapes=open_axes, verbose=False
        )
    else:
        named = None if axes is None else dict(zip(names, map(dict, axes), strict=True))
        torch.onnx.export(
            module, tuple(arguments), file, input_names=names, dynamo=False, dynamic_axes=named, opset_version=17
        )
    return onnx.load_from_string(file.getvalue())


@pytest.mark.grid(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dynamo", [False, True], ids=["torchscript", "dynamo"])
@pytest.mark.parametrize("is_open", [False, True], ids=["known", "open"])
@pytest.mark.parametrize("example", [_pixels, _windows, _decoder, _lstm, _gru], ids=lambda make: make.__name__[1:])
def test_what_is_exported_equals_pytorch(example: Callable[[], Example], is_open: bool, dynamo: bool) -> None:
    torch.manual_seed(0)
    module, axes, sizes = example()
    module.eval()
    proto = exported(module, sizes[0], axes if is_open else None, dynamo=dynamo)
    imported, native = import_onnx(proto), compile(proto, cache=False)
    for arguments in sizes if is_open else sizes[:1]:
        inputs = [argument.numpy() for argument in arguments]
        with torch.no_grad():
            found: Any = module(*arguments)
        expected: list[NDArray[Any]] = [value.numpy() for value in found]
        for outputs in (run_relay(imported, inputs), native.run(inputs)):
            for ours, theirs in zip(outputs, expected, strict=True):
                atol = 1e-4 * float(np.abs(theirs).max())
                np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-3, atol=atol, strict=True)
