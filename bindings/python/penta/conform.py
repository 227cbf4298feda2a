"""Test vectors of every format: penta/conform.h, where libpenta_conform is installed."""
from __future__ import annotations

import ctypes
import json
import os
from dataclasses import dataclass
from typing import List, Optional

from ._core import Document, Filled, checked, text
from ._library import Library, device_path, types

_gpu = Library("penta_gpu")  # which the next one needs, and the loader would not find beside it under its full name
_conform = Library("penta_conform")


@dataclass(frozen=True)
class Report:
    passed: int
    failed: int
    skipped: int
    results: List[Document]  # file, case, verdict (pass, fail, skip, ignored, unreadable), expected, got, error


def run(path: str, engine: Optional[str] = None, exec: Optional[str] = None,  # noqa: A002
        device: Optional[str] = None) -> Report:
    """Runs a file of vectors, or all in a folder. exec: the command of another implementation to judge."""
    if engine is not None and not _conform.penta_conform_engine_known(text(engine)):
        raise ValueError(f"no format has an engine {engine!r}")
    how = types.penta_conform_options(engine=text(engine), exec=text(exec), device=text(device) or device_path())
    counts, out = types.penta_conform_counts(), Filled()
    checked(lambda error: _conform.penta_conform_json(ctypes.byref(how), os.fsencode(path), out.ref,
                                                      ctypes.byref(counts), error))
    return Report(counts.passed, counts.failed, counts.skipped, json.loads(out.take()))
