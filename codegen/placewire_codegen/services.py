"""Services of remote procedure calls: checked, though nothing is generated for them yet."""

from __future__ import annotations

from . import syntax
from .attributes import read_attributes
from .diagnostics import Note, Span
from .features import Feature
from .scope import Context


class Services:
    """Checks services; their names are apart from those of types."""

    def __init__(self) -> None:
        self._first: dict[str, Span] = {}

    def check(self, node: syntax.ServiceNode, context: Context) -> None:
        """Report what is wrong with a service, and that it has no effect yet."""
        context.require(Feature.SERVICES, node.name)
        read_attributes(node.attributes, context)
        self._check_twice(node.name, f"{context.prefixes[0]}{node.name.text}", context)
        if not node.methods and node.complete:
            context.error(node.name, f"service `{node.name.text}` has no methods")
        methods: dict[str, syntax.Identifier] = {}
        for method in node.methods:
            read_attributes(method.attributes, context)
            previous = methods.setdefault(method.name.text, method.name)
            if previous is not method.name:
                context.error(
                    method.name,
                    f"method `{method.name.text}` is declared twice",
                    notes=[context.note("first declared here", previous)],
                )
            for reference in (method.request, method.response):
                symbol = context.find(reference, "table")
                if symbol is not None and symbol.kind != "table":
                    context.error(
                        reference, f"a method takes and returns tables, not {symbol.kind}s"
                    )

    def _check_twice(self, name: syntax.Identifier, full_name: str, context: Context) -> None:
        span = context.tree.span(name)
        previous = self._first.setdefault(full_name, span)
        if previous is not span:
            context.error(
                name,
                f"service `{full_name}` is declared twice",
                notes=[Note("first declared here", previous)],
            )
