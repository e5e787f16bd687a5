"""What a CPU is to the compiler: vectors, registers, caches, cores. Facts only; what follows from them is elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from xrelay.errors import InputError, did_you_mean
from xrelay.target.host import KIB, HostFacts, host_facts


@dataclass(frozen=True)
class Target:
    """The CPU that code is made for.

    `mcpu` and `features` are LLVM's names; `vector_bits` is the width of a vector register, `vector_registers` how many
    there are; caches are in bytes, `l1` and `l2` of one core, `l3` shared; `threads` is how many threads a model may
    use.
    """

    arch: str = "x86_64"
    mcpu: str = "x86-64-v3"
    features: tuple[str, ...] = ()
    vector_bits: int = 256
    vector_registers: int = 16
    l1: int = 32 * KIB
    l2: int = 512 * KIB
    l3: int = 8192 * KIB
    cores: int = 1
    threads: int = 1

    def lanes(self, bits: int = 32) -> int:
        """How many elements of `bits` bits a vector register holds."""
        return max(1, self.vector_bits // bits)

    @staticmethod
    def host() -> Target:
        """The machine this runs on, with as many threads as cores may be used."""
        return _of_facts(host_facts())

    @staticmethod
    def parse(text: str) -> Target:
        """The target that `text` describes: `cpu -mcpu=znver4 -num-threads=2`.

        Options: `-mcpu` (LLVM's name; without it this machine), `-mattr` (`+avx512f,…`), `-num-threads`, `-num-cores`,
        `-l1`, `-l2`, `-l3` (bytes), `-vector-bits`. Raises `InputError` for another kind of device, an unknown option
        or CPU, or a number that is none.
        """
        kind, *options = text.split() or [""]
        if kind != "cpu":
            raise InputError(
                f"target {text!r} is of kind {kind!r}", help="write 'cpu' with options such as -mcpu=znver4"
            )
        given = dict(_option(option, text) for option in options)
        mcpu = given.pop("mcpu", None)
        target = Target.host() if mcpu is None else cpu(mcpu)
        return _with_options(target, given, text)

    def __str__(self) -> str:
        """The text that `parse` reads back as this target."""
        words = ["cpu", f"-mcpu={self.mcpu}"]
        if self.features:
            words.append(f"-mattr={','.join(self.features)}")
        plain = cpu(self.mcpu) if self.mcpu in CPUS else Target()
        for option, name in _NUMBERS.items():
            if getattr(self, name) != getattr(plain, name):
                words.append(f"-{option}={getattr(self, name)}")
        return " ".join(words)


_NUMBERS = {
    "vector-bits": "vector_bits",
    "l1": "l1",
    "l2": "l2",
    "l3": "l3",
    "num-cores": "cores",
    "num-threads": "threads",
}
"""Option in text → field, for those that are numbers."""

_SSE = Target(vector_bits=128, vector_registers=16)
_AVX2 = Target(vector_bits=256, vector_registers=16)
_AVX512 = Target(vector_bits=512, vector_registers=32, l2=1024 * KIB)
_NEON = Target(arch="aarch64", vector_bits=128, vector_registers=32, l1=64 * KIB)

CPUS: Mapping[str, Target] = {
    "x86-64": _SSE,
    "x86-64-v2": _SSE,
    "x86-64-v3": _AVX2,
    "x86-64-v4": _AVX512,
    "haswell": _AVX2,
    "broadwell": _AVX2,
    "skylake": _AVX2,
    "alderlake": _AVX2,
    "raptorlake": _AVX2,
    "skylake-avx512": _AVX512,
    "cascadelake": _AVX512,
    "icelake-client": _AVX512,
    "icelake-server": _AVX512,
    "rocketlake": _AVX512,
    "tigerlake": _AVX512,
    "emeraldrapids": replace(_AVX512, l1=48 * KIB, l2=2048 * KIB),
    "sapphirerapids": replace(_AVX512, l1=48 * KIB, l2=2048 * KIB),
    "graniterapids": replace(_AVX512, l1=48 * KIB, l2=2048 * KIB),
    "znver1": _AVX2,
    "znver2": _AVX2,
    "znver3": _AVX2,
    "znver4": _AVX512,
    "znver5": replace(_AVX512, l1=48 * KIB),
    "cortex-a72": _NEON,
    "neoverse-n1": _NEON,
    "neoverse-v1": _NEON,
    "neoverse-v2": _NEON,
    "apple-m1": _NEON,
    "apple-m2": _NEON,
    "apple-m3": _NEON,
}
"""What is known of CPUs by LLVM's name; sizes of caches are typical ones."""


def cpu(name: str) -> Target:
    """The CPU with LLVM's name `name`; raises `InputError` with the closest known name."""
    known = CPUS.get(name)
    if known is None and (host := Target.host()).mcpu == name:
        return host
    if known is None:
        hint = did_you_mean(name, CPUS, f"known are {', '.join(CPUS)}")
        raise InputError(f"no CPU is called {name!r}", help=hint)
    return replace(known, mcpu=name)


def _of_facts(facts: HostFacts) -> Target:
    """The target that a machine is; width and registers follow from the features found, not from the CPU's name."""
    base = CPUS.get(facts.cpu, Target(arch=facts.arch))
    base = replace(base, mcpu=facts.cpu, cores=facts.cores, threads=facts.cores, **facts.caches)
    if base.arch != "x86_64":
        return base
    wide = "+avx512f" if "avx512f" in facts.features else "-avx512f"
    base = with_features(replace(base, vector_bits=256 if "avx2" in facts.features else 128), (wide,))
    return replace(base, features=())


def with_features(target: Target, features: tuple[str, ...]) -> Target:
    """`target` with LLVM features `+name` or `-name`; those that make registers wider or narrower do so."""
    enabled = {feature[1:] for feature in features if feature.startswith("+")}
    disabled = {feature[1:] for feature in features if feature.startswith("-")}
    bits, registers = target.vector_bits, target.vector_registers
    if "avx512f" in enabled:
        bits, registers = 512, 32
    elif "avx512f" in disabled and bits == 512:
        bits, registers = 256, 16
    elif enabled & {"avx", "avx2"} and bits < 256:
        bits = 256
    return replace(target, features=features, vector_bits=bits, vector_registers=registers)


def _option(option: str, text: str) -> tuple[str, str]:
    name, separator, value = option.removeprefix("-").partition("=")
    if not option.startswith("-") or not separator or not value:
        raise InputError(f"option {option!r} of target {text!r} is not of the form -name=value")
    return name, value


def _with_options(target: Target, given: Mapping[str, str], text: str) -> Target:
    numbers: dict[str, int] = {}
    for option, value in given.items():
        if option == "mattr":
            target = with_features(target, tuple(value.split(",")))
        elif option in _NUMBERS:
            numbers[_NUMBERS[option]] = _number(option, value, text)
        else:
            known = [f"-{name}" for name in ("mcpu", "mattr", *_NUMBERS)]
            hint = did_you_mean(f"-{option}", known, f"known are {', '.join(known)}")
            raise InputError(f"target {text!r} has an unknown option -{option}", help=hint)
    return replace(target, **numbers)


def _number(option: str, value: str, text: str) -> int:
    if not value.isdecimal() or int(value) < 1:
        raise InputError(f"option -{option} of target {text!r} is {value!r}, not a positive number")
    return int(value)
