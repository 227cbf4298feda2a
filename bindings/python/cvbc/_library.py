"""penta/cvbc.h of libpenta, by ctypes: structures, functions and small helpers."""
from __future__ import annotations

import ctypes
import struct
from ctypes import (CFUNCTYPE, POINTER, c_bool, c_char, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint8,
                    c_uint16, c_uint32, c_uint64, c_void_p)
from typing import Any, Dict, List, Mapping, Tuple

from penta import Finding
from penta import _finding as finding_of
from penta._library import Buffer, Bytes, Error, Report, lib

from .errors import error_of


class Field(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("offset", c_uint32), ("size", c_uint32), ("kind", c_int)]


class Key(ctypes.Structure):
    _fields_ = [("type", c_uint32), ("size", c_uint32), ("raw", c_uint8 * 260), ("fingerprint", c_uint8 * 32)]


class Policy(ctypes.Structure):
    _fields_ = [("trusted", POINTER(Bytes)), ("trusted_count", c_size_t), ("secret", Bytes),
                ("require_signature", c_bool), ("inflate_max", c_uint64), ("iterations_max", c_uint64),
                ("require_low_s", c_bool)]


class Verdict(ctypes.Structure):
    _fields_ = [("failure", Error), ("status", c_uint32), ("summary", c_char_p), ("trust", c_int), ("signature_good", c_bool),
                ("contents_checked", c_bool), ("algorithm", c_uint32), ("trusted_key", c_size_t),
                ("fingerprint", c_uint8 * 32)]


class Program(ctypes.Structure):
    _fields_ = [("code", Bytes), ("count", c_uint32), ("entry", c_uint32), ("stack", c_uint32),
                ("variables", c_uint32), ("string_count", c_uint32)]


class Signing(ctypes.Structure):
    _fields_ = [("key", Bytes), ("external", c_bool), ("hash", c_uint32), ("replace", c_bool),
                ("report", c_void_p), ("user", c_void_p), ("reserve", Bytes)]


class Sealing(ctypes.Structure):
    _fields_ = [("secret", Bytes), ("cipher", c_uint32), ("derivation", c_uint32), ("iterations", c_uint32),
                ("keep_debug", c_bool)]


class Variable(ctypes.Structure):
    _fields_ = [("storage", c_uint8), ("type", c_uint8), ("slot", c_uint16), ("first", c_uint16),
                ("last", c_uint16), ("elements", c_uint16)]


class State(ctypes.Structure):
    _fields_ = [("pc", c_uint32), ("sp", c_uint32), ("error", c_uint32), ("executed", c_uint64),
                ("waiting", c_bool), ("final", c_bool), ("ran_off", c_bool)]


PIN_WRITE = CFUNCTYPE(c_bool, c_void_p, c_uint8, c_uint8)
LEVEL_WRITE = CFUNCTYPE(c_bool, c_void_p, c_uint8, c_bool)
LEVEL_READ = CFUNCTYPE(c_bool, c_void_p, c_uint8, POINTER(c_bool))
ANALOG_WRITE = CFUNCTYPE(c_bool, c_void_p, c_uint8, c_uint16)
ANALOG_READ = CFUNCTYPE(c_bool, c_void_p, c_uint8, POINTER(c_uint16))
DELAY = CFUNCTYPE(c_bool, c_void_p, c_uint32)
CLOCK = CFUNCTYPE(c_bool, c_void_p, POINTER(c_uint32))
PRINT = CFUNCTYPE(c_bool, c_void_p, c_void_p, c_size_t)


class Hal(ctypes.Structure):
    _fields_ = [("user", c_void_p), ("pin_mode", PIN_WRITE), ("digital_write", LEVEL_WRITE),
                ("digital_read", LEVEL_READ), ("analog_write", ANALOG_WRITE), ("analog_read", ANALOG_READ),
                ("delay", DELAY), ("millis", CLOCK), ("micros", CLOCK), ("print", PRINT)]


_ERR, _BUF, _P = POINTER(Error), POINTER(Buffer), c_void_p
for _name, _result, _arguments in [
    ("status", c_uint32, [c_uint32]),
    ("status_name", c_char_p, [c_uint32]),
    ("record", c_bool, [c_char_p, c_size_t, POINTER(Field)]),
    ("name", c_char_p, [c_char_p, c_uint64]),
    ("mnemonic", c_char_p, [c_uint8]),
    ("pin_features", c_uint32, [c_uint8]),
    ("key_generate", c_bool, [c_uint32, _BUF, _ERR]),
    ("key_public", c_bool, [Bytes, _BUF, _ERR]),
    ("key_read", c_bool, [Bytes, POINTER(Key), _ERR]),
    ("wipe", None, [_BUF]),
    ("open", c_void_p, [Bytes, POINTER(Policy), _ERR]),
    ("check", c_bool, [_P, c_bool, Report, c_void_p]),
    ("verify", None, [_P, POINTER(Verdict)]),
    ("part", c_bool, [_P, c_char_p, POINTER(Bytes), _ERR]),
    ("tbs", c_bool, [_P, c_char_p, _ERR]),
    ("get_program", c_bool, [_P, POINTER(Program), _ERR]),
    ("string", c_bool, [_P, c_size_t, POINTER(Bytes)]),
    ("hint", c_bool, [_P, c_size_t, POINTER(c_uint8), POINTER(c_uint8), POINTER(Bytes)]),
    ("line", c_bool, [_P, c_uint64, POINTER(Bytes), POINTER(c_uint32)]),
    ("verify_code", c_bool, [Bytes, c_uint32, c_uint32, Report, c_void_p, POINTER(c_uint32), POINTER(c_uint32)]),
    ("sign", c_bool, [_P, POINTER(Signing), _BUF, _ERR]),
    ("attach", c_bool, [_P, Bytes, _BUF, _ERR]),
    ("seal", c_bool, [_P, POINTER(Sealing), POINTER(Signing), _BUF, _ERR]),
    ("unseal", c_bool, [_P, POINTER(Signing), _BUF, _ERR]),
    ("builder_new", c_void_p, [_ERR]),
    ("builder_free", None, [_P]),
    ("builder_core", c_bool, [_P, Bytes, _ERR]),
    ("builder_pin", c_bool, [_P, Bytes, _ERR]),
    ("builder_dependency", c_bool, [_P, Bytes, _ERR]),
    ("builder_hint", c_bool, [_P, c_uint8, c_uint8, Bytes, _ERR]),
    ("builder_custom", c_bool, [_P, Bytes, _ERR]),
    ("builder_code", c_bool, [_P, Bytes, _ERR]),
    ("builder_string", c_bool, [_P, Bytes, _ERR]),
    ("builder_entry", c_bool, [_P, c_uint32, _ERR]),
    ("builder_needs", c_bool, [_P, c_int64, c_int64, _ERR]),
    ("builder_symbol", c_bool, [_P, c_uint8, c_uint32, Bytes, _ERR]),
    ("builder_line", c_bool, [_P, c_uint16, c_uint16, c_uint32, _ERR]),
    ("builder_variable", c_bool, [_P, POINTER(Variable), Bytes, _ERR]),
    ("builder_debug", c_bool, [_P, Bytes, _ERR]),
    ("builder_stamp", None, [_P, c_uint64, c_uint64, c_uint32, c_bool]),
    ("builder_source", None, [_P, c_char_p]),
    ("builder_compress", None, [_P, c_bool, c_bool]),
    ("builder_sign", c_bool, [_P, POINTER(Signing), _ERR]),
    ("builder_seal", c_bool, [_P, POINTER(Sealing), _ERR]),
    ("builder_compile", c_bool, [_P, Bytes, c_char_p, c_bool, c_bool, Report, c_void_p]),
    ("builder_finish", c_bool, [_P, _BUF, _ERR]),
    ("legacy_convert", c_bool, [Bytes, c_char_p, c_bool, _BUF, Report, c_void_p]),
    ("vm_state", c_bool, [_P, POINTER(State)]),
    ("vm_stack", c_bool, [_P, c_size_t, POINTER(c_int32)]),
    ("vm_global", c_bool, [_P, c_size_t, POINTER(c_int32)]),
    ("vm_error_name", c_char_p, [c_uint32]),
    ("simulator_new", c_void_p, [c_bool, POINTER(Hal), _ERR]),
    ("simulator_free", None, [_P]),
    ("simulator_answer", c_bool, [_P, _P, _BUF, _ERR]),
    ("board_name", c_char_p, [c_size_t]),
    ("board_check", c_bool, [_P, c_char_p, Report, c_void_p]),
    ("trinity_name", c_char_p, [c_size_t]),
    ("trinity", c_bool, [POINTER(c_void_p), c_size_t, c_char_p, _BUF, _ERR]),
]:
    _function = getattr(lib, "penta_cvbc_" + _name)
    _function.restype, _function.argtypes = _result, _arguments


def view(data: bytes) -> Bytes:
    """Bytes for a call; they stay alive as long as the result does."""
    kept = (c_char * max(len(data), 1)).from_buffer_copy(data or b"\0")
    out = Bytes(ctypes.cast(kept, c_void_p), len(data))
    out._kept = kept
    return out


def taken(bytes_: Bytes) -> bytes:
    return ctypes.string_at(bytes_.data, bytes_.size) if bytes_.size else b""


def call(name: str, *arguments: Any) -> None:
    """A call whose last parameter is the error, which is raised."""
    error = Error()
    if not getattr(lib, "penta_cvbc_" + name)(*arguments, ctypes.byref(error)):
        raise error_of([finding_of(error)], lib.penta_cvbc_status(error.code))


def filled(name: str, *arguments: Any, secret: bool = False) -> bytes:
    """A call that fills a buffer and then an error."""
    buffer = Buffer()
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
        self.report = Report(self._add)

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
        rows, codes, field = [], "<", Field()
        while lib.penta_cvbc_record(record.encode(), len(rows), ctypes.byref(field)):
            raw = field.kind == 6
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
