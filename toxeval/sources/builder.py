"""A dataset builder that checks its source files, shared by the loading scripts."""

from __future__ import annotations

import hashlib
import inspect
import itertools
import os
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, NoReturn

import datasets
from datasets.exceptions import DatasetGenerationError

from toxeval.core.refusals import OptionName, Refusal, SetOption, Text, refuse
from toxeval.sources.reading import DamagedFileError, SourceText, page_hint


class MissingFile(Refusal, FileNotFoundError):
    """A source file isn't where it was looked for."""


class NoConnection(Refusal, ConnectionError):
    """The server that has the source files can't be reached."""


class NoAnswer(Refusal, TimeoutError):
    """The server that has the source files doesn't answer."""


#: What a server that can't be reached is raised as, and what that becomes here; and the libraries whose own errors mean
#: the same.
UNREACHABLE = {FileNotFoundError: MissingFile, ConnectionError: NoConnection, TimeoutError: NoAnswer}
CLIENTS = ("aiohttp", "httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3")


class SourceFile(NamedTuple):
    """One file of the source.

    Attributes:
        path: where it is, below the base URL.
        split: the split it belongs to.
        size, sha256: what they must be; None where they aren't known.
        optional: whether a folder of the user's own may lack it.
    """

    path: str
    split: str
    size: int | None = None
    sha256: str | None = None
    optional: bool = False


class VerifiedBuilder(datasets.GeneratorBasedBuilder):
    """A dataset builder that checks its source files, whichever way they come and whichever `datasets` runs it.

    The files are downloaded from `BASE_URL`, or taken from the user's own copy under their original names:
    `data_dir` holds them all, or those of the `wanted_splits`; `data_files` names some of them, whose splits are then
    built. Size and SHA-256 are always compared; `verification_mode="no_checks"` turns a difference into a warning.
    What is built from the user's own copy is cached under a fingerprint of it, so that a changed file is read anew.
    """

    DEFAULT_CONFIG_NAME = "default"
    BASE_URL: str | None = None
    FILES: ClassVar[dict[str, SourceFile]] = {}
    WHERE_TO_GET = ""
    #: Whether the source's licence lets others pass it on.
    SHAREABLE = True

    def __init__(
        self,
        *args: Any,
        data_dir: str | os.PathLike[str] | None = None,
        data_files: Any = None,
        wanted_splits: Collection[str] | None = None,
        hash: str | None = None,
        **kwargs: Any,
    ) -> None:
        self.dataset = type(self).__module__.rpartition(".")[2]
        self.verified = True
        self.from_list = data_files is not None
        self.files = dict(self.FILES)
        self.downloads: dict[str, str] = {}
        self.own_files: dict[str, str] | None = None
        self.wanted_splits: Collection[str] | None = None
        if data_dir is not None and data_files is not None:
            refuse("give data_dir or data_files, not both", where=self.dataset)
        if data_dir is not None:
            # absolute: `datasets` would look for it beside the loading script
            data_dir = os.path.abspath(os.path.expanduser(os.fspath(data_dir)))
            self.own_files = self._files_in(data_dir)
            if any(name not in self.own_files and not file.optional for name, file in self.files.items()):
                self.wanted_splits = wanted_splits
        elif data_files is not None:
            self.own_files = self._files_listed(data_files, kwargs.get("config_name"))
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
                self._discard(cause.source)
            if isinstance(cause, ValueError):
                raise cause from None
            raise

    def source_files(self, dl_manager: Any, names: Sequence[str]) -> dict[str, str]:
        """Where each of the files is: a path, or when streaming its URL.

        All of `names`; or, of the user's own copy, those that are there, if none is missing that must be there.
        """
        if self.own_files is None:
            return self.download(dl_manager, names)
        found = {name: self.own_files[name] for name in names if name in self.own_files}
        missing = [name for name in names if name not in found]
        if found:
            missing = [name for name in missing if self._must_be_there(name)]
        if missing:
            place = OptionName("data_files") if self.from_list else OptionName("data_dir")
            folder = "" if self.from_list else f" {self.config.data_dir}"
            self.refuse_missing((place, f"{folder} lacks {', '.join(missing)}"), self._how_to_do_without(missing))
        return found

    def download(self, dl_manager: Any, names: Sequence[str]) -> dict[str, str]:
        """Where each of the files is, from its source: a path, or when streaming its URL."""
        if self.BASE_URL is None:
            self.refuse_missing(("no ", OptionName("data_dir"), " given"), self._how_to_do_without(names))
        with self._from_the_net():
            paths: dict[str, str] = dl_manager.download({name: self._url(name) for name in names})
        if not dl_manager.is_streaming:
            self.downloads.update(paths)
        return paths

    def read(self, name: str, path: str) -> SourceText:
        """The file's content, its size and SHA-256 compared with the pinned ones."""
        own = name in (self.own_files or ())
        with nullcontext() if own else self._from_the_net(), open(path, "rb") as file:
            data = file.read()
        size, sha256 = self.files[name].size, self.files[name].sha256
        found = hashlib.sha256(data).hexdigest()
        if (size is not None and size != len(data)) or (sha256 is not None and sha256 != found):
            where = path if own else self._url(name)
            self.disagree(
                name,
                f"expected {size} bytes with SHA-256 {sha256}; "
                f"found {len(data)} bytes with SHA-256 {found}; read from {where}{page_hint(data)}",
            )
        return SourceText(self.dataset, name, data)

    def disagree(self, name: str, message: str) -> None:
        """The content of a file is not the known one: stop, or warn if the user asked for no checks."""
        damaged = DamagedFileError(message, where=f"{self.dataset}: {name}", source=name)
        if self.verified:
            raise damaged
        warnings.warn(f"{damaged}. Used as it is, without checks.", UserWarning, stacklevel=2)

    def compare_counts(self, name: str, expected: dict[str, int], found: dict[str, int]) -> None:
        """Compare the numbers of rows and labels with the published ones."""
        found = {key: found.get(key, 0) for key in expected}
        if found != expected:
            self.disagree(name, f"expected {_counts(expected)}; found {_counts(found)}")

    def refuse_missing(self, found: Text, hint: Text = "") -> NoReturn:
        """Stop for want of a file."""
        raise MissingFile(found, where=self.dataset, hint=hint)

    def own_source(self, name: str, split: str, config: str | None) -> SourceFile | None:
        """What one of the user's `data_files` is that has none of the original names; None where that is refused."""
        return None

    def _must_be_there(self, name: str) -> bool:
        """Whether the user's own copy must have a file if it has others."""
        wanted = self.wanted_splits is None or self.files[name].split in self.wanted_splits
        return wanted and not self.from_list and not self.files[name].optional

    def _how_to_do_without(self, missing: Sequence[str]) -> Text:
        """What to do where files are missing."""
        if self.WHERE_TO_GET:
            return (f"{self.WHERE_TO_GET}, to be given as ", OptionName("data_dir"))
        splits = [file.split for name, file in self.files.items() if name in (self.own_files or ())]
        if self.from_list or self.wanted_splits or not splits:
            return ""
        return ("one split needs only its own files: ", SetOption("split", splits[0], reader=True))

    @contextmanager
    def _from_the_net(self) -> Iterator[None]:
        """Where files come from a server: its errors say how to do without."""
        try:
            yield
        except Exception as error:
            kind = next((kind for kind in UNREACHABLE if isinstance(error, kind)), None)
            if kind is None and type(error).__module__.partition(".")[0] in CLIENTS:
                kind = ConnectionError
            if kind is None:
                raise
            reason = str(error).rstrip(".") or type(error).__name__
            own = OptionName("data_files" if self.from_list else "data_dir")
            hint = ("to do without a network, give your own copy of the source's files as ", own)
            raise UNREACHABLE[kind](f"no download: {reason}", where=self.dataset, hint=hint) from error

    def _url(self, name: str) -> str:
        return f"{self.BASE_URL}{self.files[name].path}"

    def _files_in(self, folder: str) -> dict[str, str]:
        """The dataset's files in a folder: directly, or in the folders of the source's own repository."""
        found = {}
        for name, source in self.files.items():
            folders = source.path.split("/")[:-1]
            kept = itertools.chain.from_iterable(
                itertools.combinations(folders, length) for length in range(len(folders) + 1)
            )
            paths = (os.path.join(folder, *below, name) for below in kept)
            path = next(filter(os.path.isfile, paths), None)
            if path is not None:
                found[name] = path
        return found

    def _files_listed(self, data_files: Any, config: str | None) -> dict[str, str]:
        """`data_files` (a path, a list, or a dict by split) by file name."""
        by_split = data_files if isinstance(data_files, dict) else {None: data_files}
        found: dict[str, str] = {}
        for split, given in by_split.items():
            for item in [given] if isinstance(given, (str, os.PathLike)) else list(given):
                path = os.path.abspath(os.path.expanduser(os.fspath(item)))
                name = os.path.basename(path)
                own = None if name in self.files else self.own_source(name, str(split or "test"), config)
                if own is not None:
                    self.files[name] = own
                where = f"{self.dataset}: data_files"
                if name not in self.files:
                    names = ", ".join(self.files)
                    refuse(f"no file of this dataset is called {name}; the original names are {names}", where=where)
                if split is not None and str(split) != self.files[name].split:
                    refuse(f"{name} is the split {self.files[name].split}, not {split}", where=where)
                if found.setdefault(name, path) != path:
                    refuse(f"two files are called {name}", where=where)
                if not os.path.isfile(path):
                    raise MissingFile(f"there is no file {path}", where=where)
        return found

    def _fingerprint(self, given: str | None) -> str:
        """A hash of the loading script, of what it is made with, and of the user's files: for the cache's folder.

        The major version of `datasets` is in it too: what version 4 prepares, version 3 cannot read. So are the splits
        that were asked for, where others can't be built.
        """
        major = datasets.__version__.split(".")[0]
        digest = hashlib.sha256(f"{given or ''} {major} {' '.join(sorted(self.wanted_splits or ()))}".encode())
        homes = (Path(inspect.getfile(type(self))).parent, Path(__file__).parent)
        scripts = [path for home in homes for path in sorted(home.glob("*.py"))]
        for path in [*scripts, *(Path(path) for _, path in sorted((self.own_files or {}).items()))]:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"{path.name} {content}\n".encode())
        return digest.hexdigest()[:16]

    def _discard(self, name: str) -> None:
        """Remove a damaged download from the cache, so that the next try downloads it again."""
        path = self.downloads.get(name)
        if path is not None and str(self.BASE_URL).startswith(("http://", "https://")):
            for leftover in {os.path.realpath(path), path}:
                if os.path.lexists(leftover):
                    os.remove(leftover)


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{key} {count}" for key, count in counts.items())
