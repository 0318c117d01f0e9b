"""Schema files as they were at a revision of a Git repository."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

__all__ = ["GitError", "Repository"]

_WANTED = (".fbs", ".bfbs", "pyproject.toml")
_REGULAR = ("100644", "100755")


class GitError(Exception):
    """Git cannot give what was asked for; the message says what and why."""


class Repository:
    """A Git repository.

    Args:
        place: Any folder of its working tree.

    Raises:
        GitError: There is no Git, or no repository.
    """

    def __init__(self, place: Path) -> None:
        git = shutil.which("git")
        if git is None:
            raise GitError("git is not installed, so `git:` cannot be read")
        self._git = git
        self._place = place
        try:
            top = self._run("rev-parse", "--show-toplevel")
        except GitError:
            raise GitError(f"{place.resolve()} is in no Git repository") from None
        self.top = Path(top.decode().rstrip("\n"))
        self._place = self.top

    def commit(self, revision: str) -> str:
        """Return the hash of the commit that a revision names.

        Raises:
            GitError: There is none.
        """
        problem = f"revision `{revision}` does not exist in {self.top}"
        if not revision or revision.startswith("-"):
            raise GitError(problem)
        try:
            found = self._run("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
        except GitError:
            raise GitError(
                f"{problem}; fetch it, or see `git branch --all` and `git tag`"
            ) from None
        return found.decode().strip()

    def extract(self, commit: str, folder: Path) -> list[str]:
        """Write all schemas and project files of a commit to a folder; return their paths.

        Raises:
            GitError: The repository lacks one of them.
        """
        blobs = dict(self._schema_blobs(commit))
        for path, content in zip(blobs, self._contents(blobs), strict=True):
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        return list(blobs)

    def _schema_blobs(self, commit: str) -> Iterator[tuple[str, str]]:
        listing = self._run("ls-tree", "-r", "-z", "--full-tree", commit).decode(
            errors="surrogateescape"
        )
        for entry in filter(None, listing.split("\0")):
            facts, _, path = entry.partition("\t")
            mode, _, blob = facts.split(" ")
            if mode in _REGULAR and path.endswith(_WANTED):
                yield path, blob

    def _contents(self, blobs: Mapping[str, str]) -> Iterator[bytes]:
        """Yield what is in the blobs, which are named by their paths."""
        request = "".join(f"{blob}\n" for blob in blobs.values()).encode()
        answer = memoryview(self._run("cat-file", "--batch", text=request))
        position = 0
        for path in blobs:
            line_end = bytes(answer[position : position + 200]).index(b"\n") + position
            facts = bytes(answer[position:line_end]).split(b" ")
            if len(facts) != 3:  # the name of the blob and "missing"
                raise GitError(
                    f"{self.top} has no content for {path}: the clone is partial or damaged; "
                    "see `git fsck`"
                )
            size = int(facts[2])
            yield bytes(answer[line_end + 1 : line_end + 1 + size])
            position = line_end + 1 + size + 1

    def earlier_path(self, commit: str, path: str, paths: Iterable[str]) -> str | None:
        """Return what a file was called at a commit, if it has been renamed since."""
        fields = self._run("diff", "--name-status", "-M", "-z", "--diff-filter=R", commit).decode(
            errors="surrogateescape"
        )
        parts = iter(fields.split("\0"))
        for _, old, new in zip(parts, parts, parts, strict=False):
            if new == path:
                return old
        name = PurePosixPath(path).name
        same = [other for other in paths if PurePosixPath(other).name == name]
        return same[0] if len(same) == 1 else None

    def changed(self, paths: Iterable[Path]) -> list[str]:
        """Return which of these files differ from the last commit, or are not in it."""
        inside = [str(path.resolve()) for path in paths if path.resolve().is_relative_to(self.top)]
        if not inside:
            return []
        options = ("--porcelain", "-z", "--untracked-files=all", "--no-renames")
        status = self._run("status", *options, "--", *inside)
        return [entry[3:] for entry in status.decode(errors="surrogateescape").split("\0") if entry]

    def uncommitted(self) -> list[str]:
        """Return the files that differ from the last commit, or are neither in it nor ignored."""
        status = self._run("status", "--porcelain", "-z", "--untracked-files=all", "--no-renames")
        return [entry[3:] for entry in status.decode(errors="surrogateescape").split("\0") if entry]

    def _run(self, *arguments: str, text: bytes = b"") -> bytes:
        done = subprocess.run(  # noqa: S603  what comes from outside is checked, and no option
            [self._git, "-C", str(self._place), *arguments],
            input=text,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            reason = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ")
            raise GitError(f"git {arguments[0]} failed: {reason}")
        return done.stdout
