from __future__ import annotations

import pytest

from xrelay.errors import InputError
from xrelay.target import Target


def test_the_host_is_described_and_read_back() -> None:
    host = Target.host()
    assert host.threads >= 1
    assert host.vector_bits in (128, 256, 512)
    assert Target.parse(str(host)) == host
    assert Target.parse("cpu") == host


@pytest.mark.parametrize(
    ("text", "bits", "registers", "threads"),
    [
        ("cpu -mcpu=znver4 -num-threads=2", 512, 32, 2),
        ("cpu -mcpu=haswell", 256, 16, 1),
        ("cpu -mcpu=x86-64", 128, 16, 1),
        ("cpu -mcpu=neoverse-n1", 128, 32, 1),
        ("cpu -mcpu=x86-64-v3 -mattr=+avx512f", 512, 32, 1),
        ("cpu -mcpu=znver4 -mattr=-avx512f", 256, 16, 1),
    ],
)
def test_parse(text: str, bits: int, registers: int, threads: int) -> None:
    target = Target.parse(text)
    assert (target.vector_bits, target.vector_registers, target.threads) == (bits, registers, threads)
    assert Target.parse(str(target)) == target


def test_lanes() -> None:
    target = Target.parse("cpu -mcpu=znver4")
    assert (target.lanes(), target.lanes(64), target.lanes(8)) == (16, 8, 64)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gpu", "target 'gpu' is of kind 'gpu'"),
        ("", "is of kind ''"),
        ("cpu -mcpu=znver9", r"'znver9'.*did you mean 'znver5'"),
        ("cpu -num-thread=2", "unknown option -num-thread.*did you mean '-num-threads'"),
        ("cpu -num-threads=0", "option -num-threads .* is '0', not a positive number"),
        ("cpu -num-threads=two", "is 'two', not a positive number"),
        ("cpu znver4", "option 'znver4' .* is not of the form -name=value"),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Target.parse(text)
