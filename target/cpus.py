"""CPUs by LLVM's name, with vector registers, caches and features, and the names of features as LLVM spells them.

Only instruction sets are listed. LLVM's `-mattr` also accepts tuning and code model switches, which may change the
calling convention or abort LLVM, and which no machine reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from xrelay.errors import InputError, did_you_mean
from xrelay.registrations import note_caller
from xrelay.target.host import KIB

MIN_PARALLEL_WORK: Final = 1 << 15
"""The minimum number of element operations in a parallel loop: below it, waking threads costs more than it saves.

Schedules compare it with static extents, kernels with dynamic ones.
"""

UNITS: Final = 2
"""The number of multiply-adds of vectors that start in a cycle; also the number of loads."""

MIN_POSITIONS: Final = 9
"""The least number of multiply-adds for each vector of weights at which the L2 cache is not the bottleneck."""

WINOGRAD_TRANSFORM: Final = 6.0
"""The cycles in which Winograd's algorithm transforms a vector of the data or of the products at a point."""

L3_BYTES_PER_CYCLE: Final = 24.0
"""The bytes that a core reads from the L3 cache in a cycle; from the L1 cache it reads two vectors, from L2 one."""

MEMORY_BYTES_PER_CYCLE: Final = 10.0
"""The bytes that a core reads from memory in a cycle."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


BASELINES: Mapping[str, frozenset[str]] = {
    "x86_64": _names("64bit cmov cx8 fxsr mmx sse sse2"),
    "aarch64": _names("fp-armv8 neon"),
}
"""Maps an architecture to the features that its calling convention requires."""

X86_V2 = BASELINES["x86_64"] | _names("crc32 cx16 popcnt sahf sse3 sse4.1 sse4.2 ssse3")
X86_V3 = X86_V2 | _names("avx avx2 bmi bmi2 f16c fma lzcnt movbe xsave")
X86_V4 = X86_V3 | _names("avx512bw avx512cd avx512dq avx512f avx512vl")

FEATURES: Mapping[str, frozenset[str]] = {
    "x86_64": X86_V4
    | _names(
        """adx aes amx-avx512 amx-bf16 amx-complex amx-fp16 amx-fp8 amx-int8 amx-movrs amx-tf32 amx-tile avx10.1 avx10.2
        avx512bf16 avx512bitalg avx512fp16 avx512ifma avx512vbmi avx512vbmi2 avx512vnni avx512vp2intersect
        avx512vpopcntdq avxifma avxneconvert avxvnni avxvnniint16 avxvnniint8 ccmp cf cldemote clflushopt clwb clzero
        cmpccxadd egpr enqcmd fma4 fsgsbase gfni hreset invpcid kl lwp movdir64b movdiri movrs mwaitx ndd nf pclmul
        pconfig pku ppx prefetchi prfchw ptwrite push2pop2 raoint rdpid rdpru rdrnd rdseed rtm serialize sgx sha sha512
        shstk sm3 sm4 sse4a tbm tsxldtrk uintr usermsr vaes vpclmulqdq waitpkg wbnoinvd widekl xop xsavec xsaveopt
        xsaves zu"""
    ),
    "aarch64": BASELINES["aarch64"]
    | _names(
        """aes bf16 bti complxnum crc cssc dotprod f32mm f64mm flagm fp16fml fp8 fptoint fullfp16 i8mm jsconv lse lse128
        lse2 mops mte pauth rand rcpc rcpc-immo rcpc3 rdm sb sha2 sha3 sm4 sme sme2 ssbs sve sve-b16b16 sve2 sve2-aes
        sve2-bitperm sve2-sha3 sve2-sm4 sve2p1 v8.1a v8.2a v8.3a v8.4a v8.5a v8.6a v8.7a v8.8a v8.9a v8a v9.1a v9.2a
        v9.3a v9.4a v9.5a v9a"""
    ),
}
"""Maps an architecture to the features that `-mattr` may name."""


def parse_features(text: str, arch: str) -> tuple[str, ...]:
    """Splits `+avx512f,-fma` into its parts.

    Raises `InputError` for a part without a sign, an unknown feature of `arch`, and for disabling a baseline feature.
    """
    features = tuple(text.split(","))
    known = FEATURES.get(arch, frozenset[str]())
    for feature in features:
        sign, name = feature[:1], feature[1:]
        if sign not in ("+", "-") or not name:
            raise InputError(
                f"-mattr has {feature!r}, which is neither +feature nor -feature", help="write +avx512f or -avx512f"
            )
        if name not in known:
            hint = did_you_mean(name, sorted(known), f"known are {', '.join(sorted(known))}")
            raise InputError(f"unknown feature {name!r} of {arch}", help=hint)
        if sign == "-" and name in BASELINES[arch]:
            raise InputError(f"code for {arch} requires {name}", help=f"remove {feature} from -mattr")
    return features


@dataclass(frozen=True)
class Cpu:
    """A CPU model: its vector registers, typical cache sizes, and the features that code for it may use.

    Only features that change LLVM's code for arithmetic are listed. A machine without one of them cannot run the code.
    """

    features: frozenset[str]
    vector_bits: int
    vector_registers: int = 16
    arch: str = "x86_64"
    l1: int = 32 * KIB
    l2: int = 512 * KIB
    l3: int = 8192 * KIB

    def having(self, features: str) -> Cpu:
        """Returns the CPU with more features, separated by spaces."""
        return replace(self, features=self.features | frozenset(features.split()))


_V1 = Cpu(BASELINES["x86_64"], vector_bits=128)
_V2 = replace(_V1, features=X86_V2)
_V3 = Cpu(X86_V3, vector_bits=256)
_V4 = Cpu(X86_V4, vector_bits=512, vector_registers=32, l2=1024 * KIB)
_CASCADE = _V4.having("avx512vnni")
_ICE = _CASCADE.having("avx512bitalg avx512ifma avx512vbmi avx512vbmi2 avx512vpopcntdq gfni")
_SAPPHIRE = replace(_ICE, l1=48 * KIB, l2=2048 * KIB).having("avx512bf16 avx512fp16 avxvnni")
_ALDER = _V3.having("avxvnni gfni")
_ZEN = _V3.having("sse4a")
_ZEN4 = _ICE.having("avx512bf16 sse4a")
_NEON = Cpu(BASELINES["aarch64"], vector_bits=128, vector_registers=32, arch="aarch64", l1=64 * KIB)
_NEOVERSE_N1 = _NEON.having("aes crc dotprod fullfp16 lse rcpc rdm sha2")
_APPLE_M1 = _NEON.having("aes complxnum crc dotprod flagm fp16fml fptoint fullfp16 jsconv lse lse2 rcpc rdm sha2 sha3")

CPUS: dict[str, Cpu] = {
    "x86-64": _V1,
    "x86-64-v2": _V2,
    "x86-64-v3": _V3,
    "x86-64-v4": _V4,
    "haswell": _V3,
    "broadwell": _V3,
    "skylake": _V3,
    "alderlake": _ALDER,
    "raptorlake": _ALDER,
    "skylake-avx512": _V4,
    "cascadelake": _CASCADE,
    "icelake-client": _ICE,
    "icelake-server": _ICE,
    "rocketlake": _ICE,
    "tigerlake": _ICE,
    "emeraldrapids": _SAPPHIRE,
    "sapphirerapids": _SAPPHIRE,
    "graniterapids": _SAPPHIRE,
    "znver1": _ZEN,
    "znver2": _ZEN,
    "znver3": _ZEN,
    "znver4": _ZEN4,
    "znver5": replace(_ZEN4, l1=48 * KIB).having("avxvnni"),
    "cortex-a72": _NEON.having("aes crc sha2"),
    "neoverse-n1": _NEOVERSE_N1,
    "neoverse-v1": _NEOVERSE_N1.having("bf16 complxnum fp16fml i8mm jsconv rand sha3 sm4 sve"),
    "neoverse-v2": _NEOVERSE_N1.having("bf16 complxnum flagm fp16fml fptoint i8mm jsconv rand sve sve2 sve2-bitperm"),
    "apple-m1": _APPLE_M1,
    "apple-m2": _APPLE_M1.having("bf16 i8mm"),
    "apple-m3": _APPLE_M1.having("bf16 i8mm"),
}
"""The known CPUs by LLVM's name; `register_cpu` adds to it."""


def register_cpu(name: str, cpu: Cpu) -> None:
    """Registers a CPU under LLVM's name `name`, replacing an existing entry."""
    CPUS[name] = cpu
    note_caller()
