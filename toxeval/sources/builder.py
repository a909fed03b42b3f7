"""A dataset builder that checks its source files, shared by the loading scripts.

One home, linked into the folder of each dataset: a loading script is fetched with the single files it imports
from its own folder, and nothing else.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import datasets
from datasets.exceptions import DatasetGenerationError

from toxeval.sources.reading import DamagedFileError, SourceText, page_hint

#: What a server that can't be reached is raised as; and the libraries whose own errors mean the same.
UNREACHABLE = (FileNotFoundError, ConnectionError, TimeoutError)
CLIENTS = ("aiohttp", "httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3")


class SourceFile(NamedTuple):
    """One file of the source: its path below the base URL, the split it belongs to, and its size and SHA-256."""

    path: str
    split: str
    size: int | None = None
    sha256: str | None = None


class VerifiedBuilder(datasets.GeneratorBasedBuilder):
    """A dataset builder that checks its source files, whichever way they come and whichever `datasets` runs it.

    The files are downloaded from `BASE_URL`, or taken from the user's own copy under their original names:
    `data_dir` holds them all, `data_files` names some of them (their splits are then the ones built).
    Size and SHA-256 are always compared; `verification_mode="no_checks"` turns a difference into a warning.
    What is built from the user's own copy is cached under a fingerprint of it, so that a changed file is read anew.
    """

    BASE_URL: str | None = None
    FILES: dict[str, SourceFile] = {}
    WHERE_TO_GET = ""

    def __init__(
        self,
        *args: Any,
        data_dir: str | os.PathLike[str] | None = None,
        data_files: Any = None,
        hash: str | None = None,
        **kwargs: Any,
    ) -> None:
        self.dataset = type(self).__module__.rpartition(".")[2]
        self.verified = True
        self.from_list = data_files is not None
        self.downloads: dict[str, str] = {}
        self.own_files: dict[str, str] | None = None
        if data_dir is not None and data_files is not None:
            raise ValueError(f"{self.dataset}: give data_dir or data_files, not both")
        if data_dir is not None:
            # absolute: `datasets` would look for it beside the loading script
            data_dir = os.path.abspath(os.path.expanduser(os.fspath(data_dir)))
            self.own_files = self._files_in(data_dir)
        elif data_files is not None:
            self.own_files = self._files_listed(data_files)
        super().__init__(*args, data_dir=data_dir, hash=self._fingerprint(hash), **kwargs)

    def download_and_prepare(self, *args: Any, verification_mode: Any = None, **kwargs: Any) -> None:
        """Build the dataset in the cache, as in `datasets`; a damaged source file is its error, told as it is."""
        mode = datasets.VerificationMode(verification_mode or datasets.VerificationMode.BASIC_CHECKS)
        self.verified = mode != datasets.VerificationMode.NO_CHECKS
        if not self.verified and not self.hash.endswith("-unchecked"):
            # a place of its own: what was built without checks is not served to who asks for them
            self.hash += "-unchecked"
            self._cache_dir = self._build_cache_dir()
            self._output_dir = self._cache_dir
        try:
            super().download_and_prepare(*args, verification_mode=mode, **kwargs)
        except DatasetGenerationError as error:
            cause = error.__cause__
            if isinstance(cause, DamagedFileError):
                self._discard(cause.file)
            if isinstance(cause, ValueError):
                raise cause from None
            raise

    def source_files(self, dl_manager: Any, names: Sequence[str], *, optional: bool = False) -> dict[str, str]:
        """Where each of the files is: a path, or when streaming its URL.

        All of `names`; or, from `data_files`, those given; or, with `optional`, those found in `data_dir`.
        """
        if self.own_files is None:
            if self.BASE_URL is None:
                raise FileNotFoundError(f"{self.dataset}: no data_dir given. {self.WHERE_TO_GET}")
            with self._from_the_net():
                paths: dict[str, str] = dl_manager.download({name: self._url(name) for name in names})
            if not dl_manager.is_streaming:
                self.downloads.update(paths)
            return paths
        found = {name: self.own_files[name] for name in names if name in self.own_files}
        missing = [name for name in names if name not in found]
        if not found or (missing and not (optional or self.from_list)):
            place = "data_files" if self.from_list else f"data_dir {self.config.data_dir}"
            raise FileNotFoundError(
                f"{self.dataset}: {place} lacks {', '.join(missing)}. {self.WHERE_TO_GET or self._more()}"
            )
        return found

    def read(self, name: str, path: str) -> SourceText:
        """The file's content, its size and SHA-256 compared with the pinned ones."""
        with self._from_the_net(), open(path, "rb") as file:
            data = file.read()
        size, sha256 = self.FILES[name].size, self.FILES[name].sha256
        found = hashlib.sha256(data).hexdigest()
        if (size is not None and size != len(data)) or (sha256 is not None and sha256 != found):
            where = path if self.own_files is not None else self._url(name)
            self.disagree(
                name,
                f"expected {size} bytes with SHA-256 {sha256}; "
                f"found {len(data)} bytes with SHA-256 {found}; read from {where}{page_hint(data)}",
            )
        return SourceText(self.dataset, name, data)

    def disagree(self, name: str, message: str) -> None:
        """The content of a file is not the known one: stop, or warn if the user asked for no checks."""
        message = f"{self.dataset}: {name}: {message}"
        if self.verified:
            raise DamagedFileError(message, name)
        warnings.warn(f"{message}. Used as it is, without checks.", UserWarning, stacklevel=2)

    def compare_counts(self, name: str, expected: dict[str, int], found: dict[str, int]) -> None:
        """Compare the numbers of rows and labels with the published ones."""
        found = {key: found.get(key, 0) for key in expected}
        if found != expected:
            self.disagree(name, f"expected {_counts(expected)}; found {_counts(found)}")

    @contextmanager
    def _from_the_net(self) -> Iterator[None]:
        """Where files come from a server: its errors say how to do without."""
        try:
            yield
        except Exception as error:
            kind = next((kind for kind in UNREACHABLE if isinstance(error, kind)), None)
            if kind is None and type(error).__module__.partition(".")[0] in CLIENTS:
                kind = ConnectionError
            if kind is None or self.own_files is not None:
                raise
            advice = "To do without a network, give your own copy of the source's files as data_dir"
            raise kind(
                f"{self.dataset}: no download: {str(error).rstrip('.') or type(error).__name__}. {advice}."
            ) from error

    def _url(self, name: str) -> str:
        return f"{self.BASE_URL}{self.FILES[name].path}"

    def _files_in(self, folder: str) -> dict[str, str]:
        """The dataset's files in a folder: directly, or in the folders of the source's own repository."""
        found = {}
        for name, source in self.FILES.items():
            folders = source.path.split("/")[:-1]
            kept = itertools.chain.from_iterable(
                itertools.combinations(folders, length) for length in range(len(folders) + 1)
            )
            paths = (os.path.join(folder, *below, name) for below in kept)
            path = next(filter(os.path.isfile, paths), None)
            if path is not None:
                found[name] = path
        return found

    def _files_listed(self, data_files: Any) -> dict[str, str]:
        """`data_files` (a path, a list, or a dict by split) by original file name."""
        by_split = data_files if isinstance(data_files, dict) else {None: data_files}
        found = {}
        for split, given in by_split.items():
            for item in [given] if isinstance(given, (str, os.PathLike)) else list(given):
                path = os.path.abspath(os.path.expanduser(os.fspath(item)))
                name = os.path.basename(path)
                if name not in self.FILES:
                    raise ValueError(
                        f"{self.dataset}: data_files: no file of this dataset is called {name}; "
                        f"the original names are {', '.join(self.FILES)}"
                    )
                if split is not None and str(split) != self.FILES[name].split:
                    raise ValueError(
                        f"{self.dataset}: data_files: {name} is the split {self.FILES[name].split}, not {split}"
                    )
                if not os.path.isfile(path):
                    raise FileNotFoundError(f"{self.dataset}: data_files: there is no file {path}")
                found[name] = path
        return found

    def _fingerprint(self, given: str | None) -> str:
        """A hash of the loading script and of the user's files, for the name of the cache folder.

        The major version of `datasets` is in it too: what version 4 prepares, version 3 cannot read.
        """
        major = datasets.__version__.split(".")[0]
        digest = hashlib.sha256(f"{given or ''} {major}".encode())
        folder = os.path.dirname(os.path.abspath(__file__))
        scripts = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".py")]
        for path in [*scripts, *(path for _, path in sorted((self.own_files or {}).items()))]:
            with open(path, "rb") as file:
                content = hashlib.sha256(file.read()).hexdigest()
            digest.update(f"{os.path.basename(path)} {content}\n".encode())
        return digest.hexdigest()[:16]

    def _discard(self, name: str) -> None:
        """Remove a damaged download from the cache, so that the next try downloads it again."""
        path = self.downloads.get(name)
        if path is not None and str(self.BASE_URL).startswith(("http://", "https://")):
            for leftover in {os.path.realpath(path), path}:
                if os.path.lexists(leftover):
                    os.remove(leftover)

    def _more(self) -> str:
        return "To build only some splits, name their files with data_files." if not self.from_list else ""


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{key} {count}" for key, count in counts.items())
