"""Describes the CPU that code is compiled for: its vectors, registers, caches, cores and features.

In a target's text, `-name=value`, `--name=value` and `-name value` are equivalent. Relay's options that choose
schedules, libraries or code loading (`-keys`, `-device`, `-model`, `-libs`, `-jit`, `-host`) have no meaning here and
are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Final, Self, TypedDict, Unpack, cast

from xrelay.errors import InputError, did_you_mean
from xrelay.plugins import load_plugins
from xrelay.target.cpus import (
    CPUS,
    L3_BYTES_PER_CYCLE,
    MEMORY_BYTES_PER_CYCLE,
    Cpu,
    parse_features,
)
from xrelay.target.host import KIB, HostFacts, host_facts, usable_cores
from xrelay.target.instructions import DOT_PRODUCTS, TILE_PRODUCTS, TileProduct

_PASSED_OVER: Final = ("keys", "device", "model", "libs", "jit", "host")
"""Options of Relay that do not describe the CPU."""
_ALIASES: Final = {
    "core-avx2": "haswell",
    "skx": "skylake-avx512",
}
"""Aliases of CPUs in LLVM."""
_ARCHITECTURES: Final = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}
"""Maps the first part of a triple to an architecture."""
_OTHER_SYSTEMS: Final = ("android", "darwin", "ios", "macos", "wasm", "windows")
_PLAIN_CPUS: Final = {"x86_64": "x86-64", "aarch64": "cortex-a72"}
"""Maps an architecture to the CPU of a triple without `-mcpu`, unless it is the architecture of this machine."""
_ENTERED: ContextVar[tuple[Target, ...]] = ContextVar("entered targets", default=())
CPU = "cpu"
"""The only device kind."""


def device_kind(text: str) -> str:
    """Returns the first word of a target's text, with `llvm`, Relay's name of the CPU, replaced by `cpu`."""
    kind = text.partition(" ")[0]
    return CPU if kind == "llvm" else kind


@dataclass(frozen=True)
class TargetKind:
    """The kind of a target, Relay's `target.kind.name`: always `llvm`."""

    name: str = "llvm"

    def __str__(self) -> str:
        return self.name


class Facts(TypedDict, total=False):
    """The fields of a target by name."""

    arch: str
    mcpu: str
    features: tuple[str, ...]
    vector_bits: int
    vector_registers: int
    l1: int
    l2: int
    l3: int
    cores: int
    threads: int


@dataclass(frozen=True, init=False)
class Target:
    """The CPU that code is compiled for: `Target("cpu")` and `Target("llvm")` are this machine.

    `mcpu` and `features` are LLVM's names. `vector_bits` is the width of a vector register, and `vector_registers`
    their number. Caches are in bytes, `l1` and `l2` per core, `l3` shared. `threads` is the maximum number of threads
    of a model.
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

    def __init__(self, text: str | Target | Mapping[str, object] | None = None, **facts: Unpack[Facts]):
        """Creates the target that `parse` reads from `text`, or a plain CPU; `facts` override its fields.

        A dictionary has the options by name, and the first word as `kind`: `{"kind": "llvm", "mcpu": "znver4"}`.

        Raises the errors of `parse`, and `InputError` for an unknown fact.
        """
        if unknown := facts.keys() - Facts.__annotations__.keys():
            hint = f"it has {', '.join(Facts.__annotations__)}"
            raise InputError(f"unknown fields of a target: {', '.join(sorted(unknown))}", help=hint)
        if text is not None:
            words = _text_of(text) if isinstance(text, Mapping) else str(text)
            self.__dict__.update(vars(Target.parse(words)))
        self.__dict__.update(facts)

    @staticmethod
    def current() -> Target | None:
        """Returns the target of the innermost `with target:` that this thread has entered, or `None`."""
        entered = _ENTERED.get()
        return entered[-1] if entered else None

    def __enter__(self) -> Self:
        _ENTERED.set((*_ENTERED.get(), self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _ENTERED.set(_ENTERED.get()[:-1])

    @property
    def kind(self) -> TargetKind:
        """Relay's kind of the target, for programs that check it."""
        return TargetKind()

    def lanes(self, bits: int = 32) -> int:
        """Returns the number of elements of `bits` bits in a vector register."""
        return max(1, self.vector_bits // bits)

    def bytes_per_cycle(self, size: float) -> float:
        """Returns the bytes that a core reads in a cycle from the smallest cache that holds `size` bytes."""
        vector = self.vector_bits // 8
        if size <= self.l1:
            return 2.0 * vector
        if size <= self.l2:
            return float(vector)
        return L3_BYTES_PER_CYCLE if size <= self.l3 else MEMORY_BYTES_PER_CYCLE

    @property
    def triple(self) -> str | None:
        """LLVM's triple for code of another architecture; `None` for the architecture of this machine."""
        return None if self.arch == host_facts().arch else f"{self.arch}-unknown-linux-gnu"

    @property
    def converts_f16(self) -> bool:
        """Whether there are instructions that convert between f16 and f32: F16C on x86, always on aarch64."""
        features = self.code_features()
        has_f16c = not {"+f16c", "+avx512f"}.isdisjoint(features) and "-f16c" not in features
        return self.arch == "aarch64" or has_f16c

    @property
    def dot_products(self) -> tuple[str, int] | None:
        """The instruction that adds products of bytes, and the bits of its widest vectors.

        On x86-64 it is `vpdpbusd` of AVX-512 VNNI or AVX VNNI, else `pmaddwd`, which multiplies 16-bit integers. On
        aarch64 it is `usdot` of I8MM, else `sdot` of DotProd, which multiplies signed bytes only. `None` if the target
        has none of them.
        """
        for instruction in DOT_PRODUCTS.get(self.arch, ()):
            if self._has(*instruction.features):
                return instruction.name, instruction.bits
        return None

    @property
    def tile_products(self) -> tuple[TileProduct, ...]:
        """The instructions that multiply tiles: `tdpbusd` and `tdpbf16ps` of AMX on x86-64."""
        return tuple(each for each in TILE_PRODUCTS.get(self.arch, ()) if self._has(*each.features))

    def tile_product(self, sum_type: str) -> TileProduct | None:
        """Returns the instruction that multiplies tiles of factors for sums of this type, or `None`.

        The factors are bytes for `i32`, and bf16 for `f32`.
        """
        return next((each for each in self.tile_products if each.sum_type == sum_type), None)

    @property
    def scalef(self) -> bool:
        """Whether instructions of AVX-512 multiply floats by powers of two, and compute their fractions.

        They are `vscalefps` and `vreduceps`.
        """
        return self.arch == "x86_64" and self._has("avx512f", "avx512dq")

    @property
    def fma(self) -> bool:
        """Whether an instruction multiplies and adds floats with one rounding."""
        return self.arch == "aarch64" or self._has("fma")

    @property
    def masks(self) -> bool:
        """Whether an instruction loads or stores the lanes of a vector that a mask selects, for elements of any size.

        Otherwise LLVM writes a branch for each lane, except for 32 and 64 bits with AVX.
        """
        return self.arch == "x86_64" and self._has("avx512bw", "avx512vl")

    def _has(self, *features: str) -> bool:
        """Whether code for the target may use all of these features."""
        own = set(self.code_features())
        return all(f"+{feature}" in own and f"-{feature}" not in own for feature in features)

    def runs_here(self) -> bool:
        """Whether this machine has the architecture and every feature that code for the target may use."""
        wanted = {feature[1:] for feature in self.code_features() if feature.startswith("+")}
        return self.triple is None and wanted <= host_facts().features

    def code_features(self) -> tuple[str, ...]:
        """Returns all features to generate code with, `+name` or `-name`: the CPU's, then those of the target.

        For this machine these are the features that LLVM reports, including disabled ones: a hypervisor may hide
        features that the CPU's name implies. A machine that lacks one of the `+name` features cannot run the code.
        """
        facts = host_facts()
        if self.mcpu == facts.cpu:
            own = facts.code_features
        else:
            own = tuple(f"+{name}" for name in sorted(CPUS[self.mcpu].features)) if self.mcpu in CPUS else ()
        given = {feature[1:] for feature in self.features}
        return (*[feature for feature in own if feature[1:] not in given], *self.features)

    @staticmethod
    def host() -> Target:
        """Returns this machine, with as many threads as available cores."""
        return _of_facts(host_facts())

    @staticmethod
    def parse(text: str) -> Target:
        """Parses a target such as `cpu -mcpu=znver4 -num-threads=2`; `llvm` is an alias of `cpu`.

        Options: `-mcpu` (LLVM's name, default this machine), `-mattr` (`+avx512f,…`), `-mtriple` (of Linux on x86-64 or
        aarch64), `-num-threads`, `-num-cores`, `-l1`, `-l2`, `-l3` (bytes), `-vector-bits`. Raises `InputError` for
        another device kind, an unknown option, CPU or feature, a triple that does not match the CPU, a repeated option,
        or an invalid number.
        """
        kind, *options = text.split() or [""]
        if device_kind(kind) != CPU:
            raise InputError(f"target {text!r} is of kind {kind!r}", help="use 'cpu' with options such as -mcpu=znver4")
        given = _options_in(options, text)
        return _with_options(_chosen_cpu(given.pop("mcpu", None), given.pop("mtriple", None), text), given, text)

    def __str__(self) -> str:
        """Returns a text that `parse` reads back as this target."""
        words = [CPU, f"-mcpu={self.mcpu}"]
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
"""Maps the numeric options in text to fields."""


def _chosen_cpu(mcpu: str | None, triple: str | None, text: str) -> Target:
    """Returns the CPU that a target's text names, directly or by a triple; by default this machine."""
    target = Target.host() if mcpu is None else cpu(mcpu)
    arch = target.arch if triple is None else _architecture_of(triple, text)
    if arch != target.arch and mcpu is not None:
        raise InputError(f"target {text!r} is for {arch}, and {mcpu} is a CPU of {target.arch}")
    return target if arch == target.arch else cpu(_PLAIN_CPUS[arch])


def cpu(name: str) -> Target:
    """Returns the CPU with LLVM's name `name` or an alias.

    Raises an `InputError` that suggests the closest known name.
    """
    load_plugins("targets")
    name = _ALIASES.get(name, name)
    known = CPUS.get(name)
    if known is None and (host := Target.host()).mcpu == name:
        return host
    if known is None:
        hint = did_you_mean(name, CPUS, f"known are {', '.join(CPUS)}")
        raise InputError(f"unknown CPU {name!r}", help=hint)
    return _of_cpu(name, known)


def _of_cpu(name: str, known: Cpu) -> Target:
    return Target(
        arch=known.arch,
        mcpu=name,
        vector_bits=known.vector_bits,
        vector_registers=known.vector_registers,
        l1=known.l1,
        l2=known.l2,
        l3=known.l3,
    )


def _of_facts(facts: HostFacts) -> Target:
    """Returns the target for a machine.

    Vector width and registers follow from its features, not from its CPU's name.
    """
    known = CPUS.get(facts.cpu)
    base = _of_cpu(facts.cpu, known) if known is not None else Target(arch=facts.arch, mcpu=facts.cpu)
    base = replace(base, cores=facts.cores, threads=usable_cores(), **facts.caches)
    if base.arch != "x86_64":
        return base
    wide = "+avx512f" if "avx512f" in facts.features else "-avx512f"
    base = with_features(replace(base, vector_bits=256 if "avx2" in facts.features else 128), (wide,))
    return replace(base, features=())


def with_features(target: Target, features: tuple[str, ...]) -> Target:
    """Returns `target` with LLVM features `+name` or `-name`, and vector width and registers adjusted to them."""
    enabled = {feature[1:] for feature in features if feature.startswith("+")}
    disabled = {feature[1:] for feature in features if feature.startswith("-")}
    bits, registers = target.vector_bits, target.vector_registers
    if "avx512f" in enabled:
        bits, registers = 512, 32
    elif disabled & {"avx512f", "avx2", "avx"} and bits == 512:
        bits, registers = 256, 16
    elif enabled & {"avx", "avx2"} and bits < 256:
        bits = 256
    if "avx" in disabled:
        bits = min(bits, 128)
    return replace(target, features=features, vector_bits=bits, vector_registers=registers)


def _with_options(target: Target, given: Mapping[str, str], text: str) -> Target:
    numbers: dict[str, Any] = {}
    for option, value in given.items():
        if option == "mattr":
            target = with_features(target, parse_features(value, target.arch))
        elif option in _NUMBERS:
            numbers[_NUMBERS[option]] = _number(option, value, text)
        else:
            known = [f"-{name}" for name in ("mcpu", "mattr", "mtriple", *_NUMBERS)]
            hint = did_you_mean(f"-{option}", known, f"known are {', '.join(known)}")
            raise InputError(f"target {text!r} has an unknown option -{option}", help=hint)
    return replace(target, **numbers)


def _number(option: str, value: str, text: str) -> int:
    if not value.isdecimal() or int(value) < 1:
        raise InputError(f"option -{option} of target {text!r} is {value!r}, not a positive number")
    return int(value)


def _options_in(words: Sequence[str], text: str) -> dict[str, str]:
    """Returns options by name. Raises `InputError` for a malformed word, a missing value, or a repeated option."""
    given: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        name, separator, value = word.lstrip("-").partition("=")
        if word.startswith("-") and not separator:
            value = next(rest, "")
            value = "" if value.startswith("-") else value  # the next option
        if not word.startswith("-") or not name or not value:
            raise InputError(f"option {word!r} of target {text!r} is not of the form -name=value")
        if name in given:
            raise InputError(f"target {text!r} has the option -{name} twice")
        given[name] = value
    return {name: value for name, value in given.items() if name not in _PASSED_OVER}


def _text_of(fields: Mapping[str, object]) -> str:
    """Returns the text of a target passed as a dictionary, such as `{"kind": "llvm", "num-cores": 4}`.

    Values that are lists are joined by commas. Raises `InputError` without a kind.
    """
    if "kind" not in fields:
        raise InputError(f"a target of {', '.join(map(str, fields))} has no kind", help='add "kind": "llvm"')
    options = {name: value for name, value in fields.items() if name not in ("kind", "tag", *_PASSED_OVER)}
    words = [f"-{name}={','.join(map(str, _parts(value)))}" for name, value in options.items()]
    return " ".join([str(fields["kind"]), *words])


def _parts(value: object) -> Iterable[object]:
    return cast("Iterable[object]", value) if isinstance(value, list | tuple) else [value]


def _architecture_of(triple: str, text: str) -> str:
    """Returns the architecture of a triple. Raises `InputError` for another one, and for systems other than Linux."""
    first, *others = triple.split("-")
    found = _ARCHITECTURES.get(first)
    if found is None:
        known = " and ".join(sorted(set(_ARCHITECTURES.values())))
        raise InputError(f"target {text!r} is for {first!r}", help=f"supported are {known}")
    if any(word in other for other in others for word in _OTHER_SYSTEMS):
        hint = "use a triple such as aarch64-linux-gnu"
        raise InputError(f"target {text!r} is not for Linux", help=hint)
    return found
