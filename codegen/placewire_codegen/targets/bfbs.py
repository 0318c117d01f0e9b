"""Target `bfbs`: a binary schema for each entry, as flatc writes it with `-b --schema`."""

from __future__ import annotations

from collections.abc import Iterator

from ..bfbs import write_bfbs
from ..config import ProjectConfig
from ..features import Feature
from ..model import Schema
from ..render import GeneratedFile, Templates
from ..resolve import load_schema

FEATURES: frozenset[Feature] = frozenset(Feature)
"""All of the language: nothing has to be encoded or decoded."""


def render(schema: Schema, config: ProjectConfig, _templates: Templates) -> Iterator[GeneratedFile]:
    """Write what each entry declares and includes, no more, so entries are looked at alone."""
    for entry in config.schemas:
        own = schema
        if len(config.schemas) > 1:
            own = load_schema(
                [config.root / entry],
                include_directories=[config.root / folder for folder in config.include],
                root=config.root,
                features=FEATURES,
            )
        yield GeneratedFile(config.binary_schema(entry).as_posix(), binary=write_bfbs(own))
