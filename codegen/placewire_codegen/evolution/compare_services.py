"""Two rpc services: methods, what they take and return, what they stream."""

from __future__ import annotations

from ..model import Method, ServiceDefinition
from .compare_attributes import compare_attributes
from .comparison import Comparison

__all__ = ["compare_services"]


def compare_services(comparison: Comparison) -> None:
    """Report what has changed between the services; they are called by name, so it must stay."""
    heads = {service.full_name: service for service in comparison.head.services}
    for service in comparison.base.services:
        head = heads.get(service.full_name)
        if head is None:
            comparison.add(
                "RPC_SERVICE_NO_DELETE", service.full_name, "is gone", base=service.location
            )
        else:
            _compare_service(service, head, comparison)


def _compare_service(
    base: ServiceDefinition, head: ServiceDefinition, comparison: Comparison
) -> None:
    methods = {method.name: method for method in head.methods}
    for old in base.methods:
        path = f"{head.full_name}.{old.name}"
        new = methods.get(old.name)
        if new is None:
            comparison.add(
                "RPC_METHOD_NO_DELETE", path, "is gone", base=old.location, head=head.location
            )
        else:
            _compare_method(old, new, path, comparison)
    compare_attributes(base, head, head.full_name, comparison)


def _compare_method(old: Method, new: Method, path: str, comparison: Comparison) -> None:
    base_at, head_at = old.location, new.location
    for verb, past, before, after in (
        ("takes", "took", old.request, new.request),
        ("returns", "returned", old.response, new.response),
    ):
        if not comparison.is_same(before, after):
            message = f"{verb} {after}, {past} {before}"
            comparison.add("RPC_METHOD_SAME_TYPES", path, message, base=base_at, head=head_at)
    before, after = (str(side.attributes.get("streaming", "none")) for side in (old, new))
    if before != after:
        comparison.add(
            "RPC_METHOD_SAME_STREAMING",
            path,
            f"streaming is {after}, was {before}",
            base=base_at,
            head=head_at,
        )
    compare_attributes(old, new, path, comparison)
