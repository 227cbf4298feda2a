"""The mock GPU by scripts and traces: penta/device.h, where libpenta_gpu is installed."""
from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass
from typing import List, Optional

from ._core import Buffer, Document, Error, Filled, Finding, View, checked, finding, text, word, words
from ._library import Library, device_path, types

_gpu = Library("penta_gpu")


def modes() -> List[str]:
    """How kernels are scheduled."""
    return words(_gpu.penta_device_mode_name)


def run(script: str, mode: Optional[str] = None, trace: Optional[str] = None, folder: Optional[str] = None,
        device: Optional[str] = None) -> List[Document]:
    """Runs a script: dicts with line, call, status, name and result. An Error has those up to it as `calls`."""
    view, out, error = View(script.encode()), Filled(), types.penta_error()
    how = types.penta_device_options(text(device) or device_path(), text(trace), text(mode), text(folder))
    ok = _gpu.penta_device_run(view.bytes, ctypes.byref(how), True, out.ref, ctypes.byref(error))
    calls: List[Document] = json.loads(out.take() or "[]")
    if not ok:
        failure = Error([finding(error)])
        failure.calls = calls  # type: ignore[attr-defined]
        raise failure
    return calls


@dataclass(frozen=True)
class Races:
    """What one schedule showed."""
    seed: int
    count: int
    first: str  # the first race, or ""
    calls: List[Document]
    failure: Optional[Finding]  # why the script did not run to its end


def check(script: str, seed: int, trace: Optional[str] = None, folder: Optional[str] = None,
          device: Optional[str] = None) -> Races:
    """Runs a script under the schedule of a seed, and looks for races."""
    view, out, error, races = View(script.encode()), Filled(), types.penta_error(), types.penta_device_races()
    how = types.penta_device_options(text(device) or device_path(), text(trace), None, text(folder))
    ok = _gpu.penta_device_check(view.bytes, ctypes.byref(how), word(seed, "a seed"), True, out.ref, ctypes.byref(races),
                                 ctypes.byref(error))
    return Races(seed, races.count, races.first.decode("utf-8", "replace"), json.loads(out.take() or "[]"),
                 None if ok else finding(error))


@dataclass(frozen=True)
class Replayed:
    calls: int
    events: int
    differences: int
    report: str


def replay(trace: Buffer, device: Optional[str] = None) -> Replayed:
    """Makes the calls of a trace again and compares every status and task event."""
    view, out, raw = View(trace), Filled(), types.penta_device_replayed()
    checked(_gpu.penta_device_replay, view.bytes, text(device) or device_path(), out.ref, ctypes.byref(raw))
    return Replayed(raw.calls, raw.events, raw.differences, out.take().decode("utf-8", "replace"))
