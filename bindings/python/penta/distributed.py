"""A command of penta over many files on a Dask cluster (package distributed): the records are those of penta batch.

    from dask.distributed import Client
    from penta import distributed

    futures = distributed.map(Client("scheduler:8786"), "validate", ["corpus"], strict=True)
    records = distributed.gather(futures)

Every process of the cluster loads the library and starts its worker of penta once, and must see the files under the same names.
"""
from __future__ import annotations

import importlib
import threading
from typing import Any, Dict, List, Tuple

from . import batch
from ._core import Document, OptionValue

_here = threading.local()  # a pool belongs to one thread


def _pool(verb: str, options: Tuple[Tuple[str, OptionValue], ...]) -> batch.Pool:
    pools: Dict[Any, batch.Pool] = _here.__dict__.setdefault("pools", {})
    key = (verb, repr(options))
    if key not in pools:
        pools[key] = batch.Pool(verb, **dict(options))  # type: ignore[arg-type]
    return pools[key]


def records(verb: str, options: Tuple[Tuple[str, OptionValue], ...], names: List[str], first: int) -> List[Document]:
    """What a task does: the records of some sources."""
    return _pool(verb, options).records(names, first)


def map(client: Any, verb: str, sources: batch.Sources, *, chunk: int = 256, bag: bool = False,  # noqa: A001
        **options: OptionValue) -> Any:
    """Futures, each with the records of up to `chunk` sources, in the order of the sources; with bag=True a dask.bag of all records.
    The options are those of the command, and those of batch.Pool. Dask does again what a lost worker had."""
    names = batch.names(sources)
    ordered = tuple(sorted(options.items()))
    futures = [client.submit(records, verb, ordered, names[at:at + chunk], at, pure=False) for at in range(0, len(names), chunk)]
    if not bag:
        return futures
    return importlib.import_module("dask.bag").from_delayed(futures)


def gather(futures: List[Any]) -> List[Document]:
    """All records, in the order of the sources."""
    return [record for future in futures for record in future.result()]
