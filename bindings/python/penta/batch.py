"""A command of penta over many files, by worker processes: penta/batch.h, where libpenta_batch and the tool are installed.

    batch.run("validate", ["corpus.tar"], "results.jsonl", jobs=8)
    for record in batch.records("results.jsonl"):
        print(record["source"], record["verdict"])

Options of the command are keywords: gas=100000, strict=True, map=["0x10000:64", "0x20000:64"].
"""
from __future__ import annotations

import ctypes
import json
import os
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Union

from ._core import Document, Filled, OptionValue, checked, text
from ._library import HERE, Library, types

_batch = Library("penta_batch")
Sources = Union[str, Iterable[str]]


def tool_path() -> Optional[bytes]:
    """The tool that came with the package; None: the library looks for the installed one."""
    path = os.path.join(HERE, "lib", "penta")
    return os.fsencode(path) if os.path.exists(path) and not os.environ.get("PENTA_TOOL") else None


@dataclass(frozen=True)
class Totals:
    done: int             # sources with a line
    reused: int           # of them, lines of earlier runs
    listed: int           # sources that were found, of all shards
    complete: bool        # all of them have lines
    exit_max: int         # the highest exit code of a line
    exits: Dict[int, int]  # lines with each exit code


def _totals(raw: Any) -> Totals:
    return Totals(raw.done, raw.reused, raw.listed, raw.complete, raw.exit_max,
                  {code: count for code, count in enumerate(raw.exits) if count})


def _strings(words: Sequence[str]) -> Any:
    return (ctypes.c_char_p * len(words))(*map(os.fsencode, words))


def _listed(sources: Sources) -> List[str]:
    return [sources] if isinstance(sources, str) else list(sources)


def arguments(options: Dict[str, OptionValue]) -> List[str]:
    """Options of a command as words of its command line."""
    words: List[str] = []
    for key, value in options.items():
        name = "--" + key.rstrip("_").replace("_", "-")
        if value is True:
            words.append(name)
        elif value is not None and value is not False:
            several = [value] if isinstance(value, (str, int)) else list(value)
            words += [f"{name}={one}" for one in several]
    return words


class _Job:
    """A penta_batch_job, with what it points to."""

    def __init__(self, verb: str, sources: Sources = (), options: Optional[Dict[str, OptionValue]] = None, **fields: Any) -> None:
        names = _listed(sources)
        words = arguments(options or {})
        self.kept = (_strings(words), _strings(names))
        self.raw = types.penta_batch_job(program=tool_path(), verb=text(verb), argument_count=len(words), source_count=len(names))
        self.raw.arguments = ctypes.cast(self.kept[0], type(self.raw.arguments))
        self.raw.sources = ctypes.cast(self.kept[1], type(self.raw.sources))
        for key, value in fields.items():
            if value is not None:
                setattr(self.raw, key, os.fsencode(value) if isinstance(value, (str, os.PathLike)) else value)
        self.ref = ctypes.byref(self.raw)


def run(verb: str, sources: Sources, results: str, *, names_from: Optional[str] = None, jobs: int = 0, file_timeout: float = 0,
        file_memory: int = 0, fields: Optional[str] = None, files_to: Optional[str] = None, cache: Optional[str] = None,
        grid: Optional[str] = None, shard: Optional[str] = None, progress: Optional[Callable[[Totals], Optional[bool]]] = None,
        **options: OptionValue) -> Totals:
    """Writes a line of JSON for each source into a file; goes on where an earlier run was stopped. progress: called about ten
    times a second; False ends the run."""
    failures: List[BaseException] = []

    def tick(_user: Any, raw: Any) -> bool:
        try:
            return progress is None or progress(_totals(raw.contents)) is not False
        except BaseException as error:  # it must not pass through C
            failures.append(error)
            return False

    job = _Job(verb, sources, options, **{"from": names_from}, results=results, jobs=jobs, file_timeout=float(file_timeout),
               file_memory=file_memory, fields=fields, files_to=files_to, cache=cache, grid=grid, shard=shard)
    callback = dict(types.penta_batch_job._fields_)["tick"](tick)
    job.raw.tick = callback
    out = types.penta_batch_totals()
    checked(_batch.penta_batch_run, job.ref, ctypes.byref(out))
    if failures:
        raise failures[0]
    return _totals(out)


def records(results: str) -> Iterator[Document]:
    """The lines of a file of results."""
    with open(results, encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def names(sources: Sources) -> List[str]:
    """All files in these folders and members of these archives, in the order of a run."""
    words, out = _listed(sources), Filled()
    checked(_batch.penta_batch_names, _strings(words), len(words), out.ref)
    return [os.fsdecode(name) for name in out.take().split(b"\0")[:-1]]


class Pool:
    """Worker processes that stay, for a schedule of one's own. A context manager; it belongs to one thread at a time."""

    def __init__(self, verb: str, *, jobs: int = 1, file_timeout: float = 0, file_memory: int = 0, fields: Optional[str] = None,
                 files_to: Optional[str] = None, cache: Optional[str] = None, **options: OptionValue) -> None:
        self._job = _Job(verb, (), options, jobs=jobs, file_timeout=float(file_timeout), file_memory=file_memory, fields=fields,
                         files_to=files_to, cache=cache)
        self._pool: Any = None
        self._pool = checked(_batch.penta_batch_pool_new, self._job.ref)

    def lines(self, sources: Iterable[str], first: int = 0) -> bytes:
        """The lines of these sources, as names() gives them; the first has the number `first`."""
        words, out = list(sources), Filled()
        checked(_batch.penta_batch_pool_lines, self._pool, _strings(words), len(words), first, out.ref)
        return out.take()

    def records(self, sources: Iterable[str], first: int = 0) -> List[Document]:
        return [json.loads(line) for line in self.lines(sources, first).splitlines()]

    def close(self) -> None:
        _batch.penta_batch_pool_free(self._pool)
        self._pool = None

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_pool", None):
            self.close()


def plan(verb: str, sources: Sources, results: str, shards: int, *, names_from: Optional[str] = None, fields: Optional[str] = None,
         files_to: Optional[str] = None, grid: Optional[str] = None, **options: OptionValue) -> None:
    """Writes the list of sources for shards: each is then run(verb, [], results, names_from=results + ".list", shard="auto")."""
    job = _Job(verb, sources, options, **{"from": names_from}, results=results, planned=shards, fields=fields, files_to=files_to, grid=grid)
    checked(_batch.penta_batch_plan, job.ref)


def submit(verb: str, sources: Sources, results: str, shards: int, *, nodes: int = 0, jobs: int = 0, dry_run: bool = False,
           fields: Optional[str] = None, files_to: Optional[str] = None, cache: Optional[str] = None, grid: Optional[str] = None,
           **options: OptionValue) -> Document:
    """Gives the work to Slurm: a dict with the scripts and the numbers of the jobs."""
    job = _Job(verb, sources, options, results=results, planned=shards, jobs=jobs, fields=fields, files_to=files_to, cache=cache, grid=grid)
    how, out = types.penta_batch_cluster(nodes=nodes, dry_run=dry_run), Filled()
    checked(_batch.penta_batch_submit, job.ref, ctypes.byref(how), out.ref)
    found: Document = json.loads(out.take())
    return found


def merge(results: str) -> Totals:
    """Puts the shards together; an Error names those that are missing."""
    out = types.penta_batch_totals()
    checked(_batch.penta_batch_merge, os.fsencode(results), ctypes.byref(out))
    return _totals(out)


def status(results: str) -> Document:
    """How far it is: verb, lines, exits, shards with their state, and of a sweep the best combination."""
    out = Filled()
    checked(_batch.penta_batch_status, os.fsencode(results), out.ref)
    found: Document = json.loads(out.take())
    return found


def report(results: str) -> str:
    """A page for a browser about all results."""
    out = Filled()
    checked(_batch.penta_batch_report, os.fsencode(results), out.ref)
    return out.take().decode()
