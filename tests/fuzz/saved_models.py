"""Damaged .xrelay files: an error of one line, or bit-equal results."""

from __future__ import annotations

import random
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

import xrelay
from fuzz.finding import Finding, check_message
from xrelay import relay
from xrelay.errors import XRelayError

DATA = np.linspace(-1, 1, 2 * 3 * 8 * 8, dtype=np.float32).reshape(2, 3, 8, 8)


@cache
def saved_model() -> tuple[bytes, list[bytes]]:
    """A small saved model with weights and an arena, and its outputs on `DATA`."""
    x = relay.var("x", shape=DATA.shape)
    weight = relay.const(np.random.default_rng(0).standard_normal((4, 3, 3, 3)).astype(np.float32))
    y = relay.nn.relu(relay.nn.conv2d(x, weight, padding=(1, 1)))
    net = relay.Module.from_expr(relay.Function([x], relay.nn.softmax(relay.nn.batch_flatten(y))))
    model = xrelay.compile(net, threads=1, cache=False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.xrelay"
        model.save(path)
        return path.read_bytes(), [out.tobytes() for out in model(DATA)]


def run_case(seed: int) -> None:
    """Checks the saved model, damaged in several ways."""
    data, expected = saved_model()
    rng = random.Random(seed)
    for _ in range(10):
        broken = _damaged(data, rng)
        if broken != data:
            check(broken, expected)


def check(data: bytes, expected: list[bytes]) -> None:
    """Loads and runs `data`; raises `Finding`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.xrelay"
        path.write_bytes(data)
        try:
            found = [out.tobytes() for out in xrelay.load(path)(DATA)]
        except XRelayError as error:
            check_message(error, {"model.xrelay": data})
            return
        except Exception as error:
            raise Finding(f"{type(error).__name__} from a saved model", str(error), {"model.xrelay": data}) from error
    if found != expected:
        raise Finding("damaged saved model", "is loaded and gives other results", {"model.xrelay": data})


def _damaged(data: bytes, rng: random.Random) -> bytes:
    """Damages any bytes, or a byte of the header, in which each byte matters."""
    kind = rng.randrange(3)
    if kind == 0:
        result = bytearray(data)
        result[rng.randrange(len(result))] ^= 1 << rng.randrange(8)
        return bytes(result)
    if kind == 1:
        head = min(len(data), 4096)
        result = bytearray(data)
        result[rng.randrange(head)] = rng.randrange(256)
        return bytes(result)
    return _bytes_changed(data, rng)


def _bytes_changed(data: bytes, rng: random.Random) -> bytes:
    result = bytearray(data)
    place, length = rng.randrange(len(result)), rng.choice((1, 8, 64, 4096))
    if rng.random() < 0.5:
        del result[place : place + length]
    else:
        result[place:place] = rng.randbytes(length)
    return bytes(result)
