"""The table of CPUs by LLVM's name: vector registers, caches, features."""

from __future__ import annotations

from dataclasses import dataclass, replace

from xrelay.registrations import note_caller
from xrelay.target.features import BASELINES, X86_V2, X86_V3, X86_V4
from xrelay.target.host import KIB


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
