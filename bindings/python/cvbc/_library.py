"""penta/cvbc.h of libpenta: calls that raise the errors of this package, and records as the library describes them."""
from __future__ import annotations

import ctypes
import struct
from typing import Any, Dict, List, Mapping, Tuple

from penta import Finding
from penta._core import View, taken
from penta._core import finding as finding_of
from penta._library import constants, lib, types

from .errors import error_of

__all__ = ["Collector", "call", "constants", "filled", "finding_of", "lib", "pack", "record_size", "taken", "types",
           "unpack", "view"]


def view(data: bytes) -> Any:
    """Bytes for a call; they stay alive as long as the result does."""
    held = View(data)
    held.bytes._held = held
    return held.bytes


def call(name: str, *arguments: Any) -> None:
    """A call whose last parameter is the error, which is raised."""
    error = types.penta_error()
    if not getattr(lib, "penta_cvbc_" + name)(*arguments, ctypes.byref(error)):
        raise error_of([finding_of(error)], lib.penta_cvbc_status(error.code))


def filled(name: str, *arguments: Any, secret: bool = False) -> bytes:
    """A call that fills a buffer and then an error."""
    buffer = types.penta_buffer()
    try:
        call(name, *arguments, ctypes.byref(buffer))
        return ctypes.string_at(buffer.data, buffer.size) if buffer.size else b""
    finally:
        (lib.penta_cvbc_wipe if secret else lib.penta_buffer_free)(ctypes.byref(buffer))


class Collector:
    """Findings of a call, and the status of the first error among them."""

    def __init__(self) -> None:
        self.findings: List[Finding] = []
        self.status = 0
        self.report = types.penta_report(self._add)

    def _add(self, _user: Any, raw: Any) -> None:
        found = finding_of(raw.contents)
        if found.severity == "error" and not self.status:
            self.status = lib.penta_cvbc_status(raw.contents.code)
        self.findings.append(found)

    def raise_error(self) -> None:
        raise error_of([f for f in self.findings if f.severity == "error"], self.status)


_layouts: Dict[str, Tuple[struct.Struct, List[Tuple[str, int, bool]]]] = {}


def _layout(record: str) -> Tuple[struct.Struct, List[Tuple[str, int, bool]]]:
    """A fixed record, from the library's own table of fields."""
    if record not in _layouts:
        rows: List[Tuple[str, int, bool]] = []
        codes, field = "<", types.penta_cvbc_field()
        while lib.penta_cvbc_record(record.encode(), len(rows), ctypes.byref(field)):
            raw = field.kind == constants["PENTA_RAW"]
            rows.append((field.name.decode(), field.size, raw))
            codes += f"{field.size}s" if raw else {1: "B", 2: "H", 4: "I", 8: "Q"}[field.size]
        _layouts[record] = struct.Struct(codes), rows
    return _layouts[record]


def record_size(record: str) -> int:
    return _layout(record)[0].size


def pack(record: str, values: Mapping[str, Any]) -> bytes:
    form, rows = _layout(record)
    for name, size, raw in rows:
        value = values.get(name, b"" if raw else 0)
        if len(value) > size if raw else not 0 <= value < 1 << 8 * size:
            raise ValueError(f"{name}: {value!r} does not fit {size} bytes")
    return form.pack(*[values.get(name, b"" if raw else 0) for name, _, raw in rows])


def unpack(record: str, data: bytes, offset: int = 0) -> Dict[str, Any]:
    form, rows = _layout(record)
    return dict(zip([row[0] for row in rows], form.unpack_from(data, offset)))
