"""Generates `docs/reference/onnx_ops.md` from the registry of converters and the operator schemas of onnx."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import onnx
from onnx.defs import OpSchema

from xrelay.frontend.onnx import converters
from xrelay.frontend.onnx.functions import has_definition
from xrelay.frontend.onnx.registry import Converter, registered_converters

DEFAULT_DOMAIN = "ai.onnx"
_HEAD = """# ONNX operators

Made by `make reference` from the converters that are registered and the operators of onnx {version}: not to be edited.
What models may contain in general, and what each limit means, says [onnx.md](../onnx.md); `xrelay inspect model.onnx
--coverage` says it of a model.

*Opsets* are those for which there is a converter, one line for each form of the operator. *By definition* means that
the standard defines the operator by others, to which it is expanded. Attributes that are not listed are refused.

"""
_COLUMNS = "| op | opsets | attributes | limits |\n|---|---|---|---|\n"


def onnx_version() -> str:
    """Returns the minor release of onnx whose operators the page lists."""
    return ".".join(onnx.__version__.split(".")[:2])


def onnx_reference() -> str:
    """Returns the text of the page."""
    converters.load()
    ours = [converter for converter in registered_converters() if converter.is_ours]
    domains = sorted({converter.domain for converter in ours})
    parts = [_HEAD.format(version=onnx_version())]
    for domain in domains:
        forms = {
            name: list(group)
            for name, group in groupby([c for c in ours if c.domain == domain], key=lambda converter: converter.op_type)
        }
        names = sorted({*forms, *_schemas(domain)})
        taken = sum(name in forms or _is_defined(name, domain) for name in names)
        count = f"{taken} of {len(names)} operators have a converter or are expanded."
        parts.append(f"## {domain or DEFAULT_DOMAIN}\n\n{count}\n\n{_COLUMNS}")
        parts += [line for name in names for line in _rows(name, domain, forms.get(name, []))]
        parts.append("\n")
    return "".join(parts).rstrip() + "\n"


def _schemas(domain: str) -> set[str]:
    """The operators that onnx has in a domain, without deprecated ones."""
    return {schema.name for schema in onnx.defs.get_all_schemas() if schema.domain == domain and not schema.deprecated}


def _is_defined(name: str, domain: str) -> bool:
    return has_definition(name, domain, _newest(domain))


def _newest(domain: str) -> int:
    versions = [s.since_version for s in onnx.defs.get_all_schemas_with_history() if s.domain == domain]
    return max(versions, default=1)


def _rows(name: str, domain: str, forms: list[Converter]) -> Iterator[str]:
    for form in forms:
        opsets = f"{form.since}–" + ("" if form.until is None else str(form.until))
        attributes = ", ".join(f"`{attribute}`" for attribute in sorted(form.attributes))
        yield f"| {name} | {opsets} | {attributes} | {form.limits} |\n"
    if not forms:
        defined = _is_defined(name, domain)
        since = _defined_since(name, domain) if defined else 0
        yield f"| {name} | {f'{since}–, by definition' if defined else 'none'} | | {'' if defined else 'refused'} |\n"


def _defined_since(name: str, domain: str) -> int:
    """The first opset in which the standard defines an operator by others."""
    schemas: list[OpSchema] = [
        schema for schema in onnx.defs.get_all_schemas_with_history() if (schema.domain, schema.name) == (domain, name)
    ]
    found = [s.since_version for s in schemas if has_definition(name, domain, s.since_version)]
    return min(found, default=_newest(domain))
