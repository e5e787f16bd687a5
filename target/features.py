"""Names of CPU features, as LLVM spells them.

Only instruction sets are listed. LLVM's `-mattr` also accepts tuning and code model switches, which may change the
calling convention or abort LLVM, and which no machine reports.
"""

from __future__ import annotations

from collections.abc import Mapping

from xrelay.errors import InputError, did_you_mean


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


DOT_TERMS = 4
"""The number of byte products that an instruction adds to a 32-bit sum: `vpdpbusd` of x86, `usdot` of aarch64."""

DOT_PRODUCTS: Mapping[str, tuple[tuple[str, int, tuple[str, ...]], ...]] = {
    "x86_64": (
        ("vpdpbusd", 512, ("avx512f", "avx512vl", "avx512vnni")),
        ("vpdpbusd", 256, ("avx2", "avxvnni")),
        ("pmaddwd", 512, ("avx512f", "avx512vl", "avx512bw")),
        ("pmaddwd", 256, ("avx2",)),
        ("pmaddwd", 128, ()),
    ),
    "aarch64": (
        ("usdot", 128, ("i8mm",)),
        ("sdot", 128, ("dotprod",)),
    ),
}
"""Maps an architecture to instructions that add products of bytes or 16-bit integers: name, bits, features."""


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
