"""What a file says about buffers as a whole: `root_type`, `file_identifier`, `file_extension`."""

from __future__ import annotations

from . import syntax
from .model import Location, Root
from .scope import Context


class FileFacts:
    """Collects these statements of one file."""

    def __init__(self) -> None:
        self._first: dict[str, syntax.Place] = {}
        self._table: str | None = None
        self._location: Location | None = None
        self.identifier: str | None = None
        self.extension: str | None = None

    def take(self, statement: syntax.Statement, context: Context) -> None:
        """Check a statement and keep what it says; statements of other kinds say nothing."""
        if isinstance(statement, syntax.RootType):
            if self._is_first("root_type", statement.name, context):
                self._take_root(statement.name, context)
        elif isinstance(statement, syntax.FileIdentifier):
            if self._is_first("file_identifier", statement.value, context):
                self._take_identifier(statement.value, context)
        elif isinstance(statement, syntax.FileExtension) and self._is_first(
            "file_extension", statement.value, context
        ):
            self.extension = statement.value.text

    def root(self) -> Root | None:
        """The root of the file's buffers, None if no table is named as such."""
        if self._table is None or self._location is None:
            return None
        return Root(
            table=self._table,
            identifier=self.identifier,
            extension=self.extension,
            location=self._location,
        )

    def _is_first(self, keyword: str, place: syntax.Place, context: Context) -> bool:
        first = self._first.setdefault(keyword, place)
        if first is place:
            return True
        context.error(
            place, f"`{keyword}` is given twice", notes=[context.note("first given here", first)]
        )
        return False

    def _take_root(self, name: syntax.Identifier, context: Context) -> None:
        symbol = context.find(name, "table")
        if symbol is None:
            return
        if symbol.kind != "table":
            context.error(
                name, f"the root must be a table; `{name.text}` is {symbol.article_and_kind}"
            )
        elif symbol.order > context.order:
            context.error(
                name,
                f"the root `{name.text}` is not declared yet",
                hint="put `root_type` behind the table",
            )
        else:
            self._table = symbol.full_name
            self._location = context.location(name)

    def _take_identifier(self, value: syntax.StringLiteral, context: Context) -> None:
        size = len(value.text.encode())
        if size != 4:
            context.error(value, f"a file identifier has 4 bytes, this one has {size}")
        else:
            self.identifier = value.text
