"""What a schema can be compared with: a file, a folder, a Git revision, a released version."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..config import ConfigError, NoProjectError, ProjectConfig, load_project
from ..diagnostics import SchemaError
from ..features import Feature
from ..model import Location, Schema
from ..resolve import load_schema
from .git_files import GitError, Repository

__all__ = ["BadReferenceError", "References", "Side", "version_key"]

_ALL_FEATURES = frozenset(Feature)


class BadReferenceError(Exception):
    """A schema cannot be read; the message says which, and why."""


@dataclass(frozen=True)
class Side:
    """One of the two schemas.

    Attributes:
        name: What the user calls it.
        schema: What it says.
        prefix: What stands before the paths of its files: `main:` for those of a Git revision.
        place_named: The file or folder of the working tree that the user has named.
        entries: Its entry files, if they are in the working tree.
    """

    name: str
    schema: Schema
    prefix: str = ""
    place_named: Path | None = None
    entries: tuple[Path, ...] = ()

    def path(self, location: Location) -> str:
        """Spell the file of a place so that it can be found."""
        return f"{self.prefix}{location.path}"

    def place(self, location: Location) -> str:
        """Spell a place so that it can be found."""
        return f"{self.prefix}{location}"


@dataclass(frozen=True)
class References:
    """Reads both sides of a comparison.

    Attributes:
        project_folder: Where pyproject.toml is.
        include: More folders to search for included files.
    """

    project_folder: Path
    include: tuple[Path, ...] = ()

    def project(self) -> ProjectConfig:
        """Return the project's configuration.

        Raises:
            ConfigError: There is none, or it is not usable.
        """
        try:
            return load_project(self.project_folder)
        except NoProjectError as error:
            raise NoProjectError(
                f"{error}; run in a project, or name its folder with --project"
            ) from None

    def project_side(self) -> Side:
        """Read the schemas of the project.

        Raises:
            ConfigError: There is no project, or its configuration is not usable.
            BadReferenceError: They cannot be read.
        """
        config = self.project()
        files = _Files(
            tuple(config.root / schema for schema in config.schemas),
            (*(config.root / folder for folder in config.include), *self.include),
        )
        return Side("the project", _load("the project", files, Path()), entries=files.entries)

    def side(self, text: str, head: Side | None = None) -> Side:
        """Read what a reference names.

        Args:
            text: `git:REV`, `git:REV:PATH`, `release:VERSION`, a folder, or a file.
            head: The other side, if it is known: `git:REV` means its files, as they were.

        Raises:
            ConfigError: A project is needed, and its configuration is not usable.
            BadReferenceError: It is not there, or cannot be read.
        """
        kind, colon, rest = text.partition(":")
        if colon and kind == "git":
            return self._git_side(text, rest, head)
        if colon and kind == "release":
            path = self._release(text, rest)
            text = f"release {path.name}"
        else:
            path = Path(text)
        _check_is_there(text, path)
        files = self._files(text, path, self.include)
        schema = _load(text, files, Path())
        return Side(text, schema, place_named=path, entries=files.entries)

    def _files(self, name: str, path: Path, include: Sequence[Path]) -> _Files:
        """Return the files that a file or folder stands for."""
        if not path.is_dir():
            return _Files((path,), (path.parent, *include))
        if (path / "pyproject.toml").is_file():
            try:
                config = load_project(path)
            except ConfigError:
                pass  # the file is about something else
            else:
                folders = (path / folder for folder in config.include)
                return _Files(
                    tuple(path / schema for schema in config.schemas), (*folders, *include)
                )
        found = _schemas_in(path, ".fbs") or _schemas_in(path, ".bfbs")
        if not found:
            raise BadReferenceError(f"{name} holds no schema; name a folder with .fbs files")
        entries = [path / other for other in self._names_in_project() if path / other in found]
        return _Files(tuple(entries or found), (path, *include), tuple(found))

    def _names_in_project(self) -> list[str]:
        """Return the names of the project's entry files, which include the others."""
        try:
            return [schema.name for schema in self.project().schemas]
        except ConfigError:
            return []

    def releases(self) -> dict[str, Path]:
        """Return the folders of the project's releases by version, the lowest first.

        Raises:
            ConfigError: There is no project, or its configuration is not usable.
        """
        history = self.project().history
        if not history.is_dir():
            return {}
        folders = {
            folder.name: folder
            for folder in history.iterdir()
            if folder.is_dir() and not folder.name.startswith(".")
        }
        return {version: folders[version] for version in sorted(folders, key=version_key)}

    def _release(self, name: str, version: str) -> Path:
        releases = self.releases()
        if not releases:
            raise BadReferenceError(f"{name}: {self.project().history} holds no released schema")
        if version == "latest":
            version = list(releases)[-1]
        if version not in releases:
            known = ", ".join(releases)
            raise BadReferenceError(f"{name}: there is no such release; there are {known}")
        return releases[version]

    def _git_side(self, name: str, text: str, head: Side | None) -> Side:
        revision, _, path = text.partition(":")
        try:
            repository = Repository(self.project_folder)
            commit = repository.commit(revision)
            with tempfile.TemporaryDirectory(prefix="placewire-compat-") as temporary:
                tree = _Tree(repository, commit, Path(temporary).resolve())
                files = self._git_files(name, tree, path, head)
                for entry in files.entries:
                    if not entry.is_file():
                        missing = entry.relative_to(tree.folder).as_posix()
                        raise BadReferenceError(_missing(name, revision, missing, path, tree))
                schema = _load(name, files, tree.folder)
        except GitError as error:
            raise BadReferenceError(str(error)) from None
        return Side(name, schema, prefix=f"{revision}:")

    def _git_files(self, name: str, tree: _Tree, path: str, head: Side | None) -> _Files:
        """Return what is compared as it was: a named path, HEAD's own, or the project's."""
        include = tuple(map(tree.was, self.include))
        for now, then in zip(self.include, include, strict=True):
            if not now.is_dir() and not then.is_dir():
                raise BadReferenceError(
                    f"-I {now}: there is no such folder, nor was there at {name}"
                )
        if path:
            return self._files(name, tree.folder / path, include)
        if head is not None and head.place_named is not None:
            return self._files(name, tree.inside(head.place_named), include)
        config = self._project_at(tree) or self.project()
        place = tree.inside(self.project_folder)
        return _Files(
            tuple(place / schema for schema in config.schemas),
            (*(place / folder for folder in config.include), *include),
        )

    def _project_at(self, tree: _Tree) -> ProjectConfig | None:
        """Return the project's configuration of then, which names its files as they were called."""
        try:
            return load_project(tree.inside(self.project_folder))
        except ConfigError:
            return None


@dataclass(frozen=True)
class _Files:
    """What is to be read.

    Attributes:
        entries: Entry files.
        folders: Where what they include is looked for.
        others: Files that are entries, too, if nothing includes them.
    """

    entries: tuple[Path, ...]
    folders: tuple[Path, ...]
    others: tuple[Path, ...] = ()


class _Tree:
    """The schema files of a commit, in a folder."""

    def __init__(self, repository: Repository, commit: str, folder: Path) -> None:
        self.repository = repository
        self.commit = commit
        self.folder = folder
        self.paths = repository.extract(commit, folder)

    def inside(self, path: Path) -> Path:
        """Return where a path of the working tree is in the folder."""
        top = self.repository.top.resolve()
        if not path.resolve().is_relative_to(top):
            raise BadReferenceError(f"{path} is not in the Git repository {top}")
        return self.folder / path.resolve().relative_to(top)

    def was(self, path: Path) -> Path:
        """Return an include folder as it was; one outside the repository stays as it is."""
        is_inside = path.resolve().is_relative_to(self.repository.top.resolve())
        return self.inside(path) if is_inside else path


def _check_is_there(text: str, path: Path) -> None:
    """Refuse what is not there, and no name at all, which would be the current folder."""
    advice = "name a file, a folder, git:REV or release:VERSION"
    if not text:
        raise BadReferenceError(f"the name of a schema is empty; {advice}")
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise BadReferenceError(f"{text} does not exist; {advice}") from None
    except OSError as error:
        raise BadReferenceError(f"{text} cannot be read: {error.strerror}; {advice}") from None


def _schemas_in(folder: Path, suffix: str) -> list[Path]:
    return sorted(path for path in folder.glob(f"*{suffix}") if path.is_file())


def _missing(name: str, revision: str, entry: str, path: str, tree: _Tree) -> str:
    message = f"{name}: {entry} does not exist at that revision"
    earlier = None if path else tree.repository.earlier_path(tree.commit, entry, tree.paths)
    if earlier is None:
        return message
    return f"{message}; it was {earlier} then: say git:{revision}:{earlier}"


def _load(name: str, files: _Files, root: Path) -> Schema:
    """Read files; the model calls them as they are called from `root`."""
    try:
        schema = _load_entries(files.entries, files, root)
        known = {(root / path).resolve() for path in schema.files}
        left = tuple(path for path in files.others if path.resolve() not in known)
        return _load_entries((*files.entries, *left), files, root) if left else schema
    except SchemaError as error:
        raise BadReferenceError(f"{name} is no valid schema:\n\n{error}") from None


def _load_entries(entries: Sequence[Path], files: _Files, root: Path) -> Schema:
    return load_schema(
        entries, include_directories=files.folders, root=root, features=_ALL_FEATURES
    )


def version_key(version: str) -> tuple[list[int], bool, str]:
    """Sort 0.9 before 0.10, and 1.0rc1 before 1.0."""
    release = re.match(r"v?([0-9.]*)", version)
    assert release is not None
    numbers = [int(part) for part in release[1].split(".") if part]
    rest = version[release.end() :]
    return numbers, not rest, rest
