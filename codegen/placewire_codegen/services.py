"""Services of remote procedure calls: resolved for the reference; no code is generated for them."""

from __future__ import annotations

from . import syntax
from .attributes import read_attributes
from .features import Feature
from .model import Method, ServiceDefinition
from .scope import Context


def resolve_service(node: syntax.ServiceNode, context: Context) -> ServiceDefinition:
    """Build a service; methods that are wrong are reported and left out."""
    context.require(Feature.SERVICES, node.name)
    attributes = read_attributes(node.attributes, context)
    if not node.methods and node.complete:
        context.error(node.name, f"service `{node.name.text}` has no methods")
    methods: list[Method] = []
    first: dict[str, syntax.Identifier] = {}
    for method in node.methods:
        method_attributes = read_attributes(method.attributes, context)
        previous = first.setdefault(method.name.text, method.name)
        if previous is not method.name:
            context.error(
                method.name,
                f"method `{method.name.text}` is declared twice",
                notes=[context.note("first declared here", previous)],
            )
        request = _table(method.request, context)
        response = _table(method.response, context)
        if request is None or response is None:
            continue
        methods.append(
            Method(
                name=method.name.text,
                request=request,
                response=response,
                location=context.location(method.name),
                doc=context.doc(method.doc),
                attributes=method_attributes,
            )
        )
    return ServiceDefinition(
        name=node.name.text,
        namespace=context.namespace,
        location=context.location(node.name),
        doc=context.doc(node.doc),
        attributes=attributes,
        methods=tuple(methods),
    )


def _table(reference: syntax.Identifier, context: Context) -> str | None:
    symbol = context.find(reference, "table")
    if symbol is None:
        return None
    if symbol.kind != "table":
        context.error(reference, f"a method takes and returns tables, not {symbol.kind}s")
        return None
    return symbol.full_name
