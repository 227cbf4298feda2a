"""JAM services: hosts, states, single invocations and blocks, as in penta/jam.h.

    host = jam.Host(chain="tiny")
    state = jam.State(host, {"accounts": [{"id": 7, "balance": 10**6, "code": code.hex()}]})
    result = host.accumulate(state, slot=50, service=7, gas=100000)
    outcome = host.block(state, {"slot": 51, "entropy": "00" * 32, "reports": []})
    state.changes()             # key by key, since the last commit
"""
from __future__ import annotations

import ctypes
import json
from ctypes import POINTER, c_bool, c_char_p, c_int, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from . import Error, OptionValue, _filled, _finding, _options, _view
from . import _library as _c

KEY = 31


class _Accumulation(ctypes.Structure):
    _fields_ = [("slot", c_uint32), ("service", c_uint32), ("entropy", c_uint8 * 32), ("gas", c_uint64),
                ("items", POINTER(_c.Bytes)), ("item_count", c_size_t)]


class _Result(ctypes.Structure):
    _fields_ = [("exit", c_int), ("gas_used", c_uint64), ("output", _c.Buffer), ("exports", _c.Buffer),
                ("transfers", _c.Buffer)]


class _Package(ctypes.Structure):
    _fields_ = [("encoded", _c.Bytes), ("core", c_uint16), ("trace", _c.Bytes),
                ("extrinsics", POINTER(_c.Bytes)), ("extrinsic_count", c_size_t),
                ("imports", POINTER(_c.Bytes)), ("import_count", c_size_t)]


class _Availability(ctypes.Structure):
    _fields_ = [("bundle_size", c_uint32), ("erasure_root", c_uint8 * 32), ("lookups", c_char_p),
                ("lookup_count", c_size_t)]


class _Report(ctypes.Structure):
    _fields_ = [("authorized", _Result), ("items", POINTER(_Result)), ("item_count", c_size_t),
                ("exports", _c.Buffer), ("package", c_uint8 * 32), ("authorizer", c_uint8 * 32),
                ("exports_root", c_uint8 * 32), ("encoded", _c.Buffer)]


class _ServiceGas(ctypes.Structure):
    _fields_ = [("service", c_uint32), ("items", c_uint64), ("gas", c_uint64)]


class _Outcome(ctypes.Structure):
    _fields_ = [("services", POINTER(_ServiceGas)), ("service_count", c_size_t), ("root", c_uint8 * 32),
                ("rounds", c_uint32), ("runs", c_uint32), ("reports", c_uint32), ("outputs", _c.Buffer)]


_Change = ctypes.CFUNCTYPE(None, c_void_p, POINTER(c_uint8), _c.Bytes, POINTER(_c.Bytes), POINTER(_c.Bytes))
_lib = _c.lib
_ERR, _BUF, _OPT = POINTER(_c.Error), POINTER(_c.Buffer), POINTER(_c.Option)
for _name, _type, _arguments in [
    ("host_new", c_void_p, [_OPT, c_size_t, _ERR]),
    ("host_free", None, [c_void_p]),
    ("parameter", c_bool, [c_void_p, c_char_p, POINTER(c_uint64)]),
    ("state_new", c_void_p, [c_void_p, c_void_p, _ERR]),
    ("state_free", None, [c_void_p]),
    ("state_get", c_bool, [c_void_p, c_char_p, POINTER(_c.Bytes)]),
    ("state_set", c_bool, [c_void_p, c_char_p, _c.Bytes, _ERR]),
    ("state_changes", None, [c_void_p, _Change, c_void_p]),
    ("state_commit", c_bool, [c_void_p, _ERR]),
    ("state_rollback", None, [c_void_p]),
    ("state_read", c_bool, [c_void_p, _c.Bytes, c_char_p, _ERR]),
    ("state_write", c_bool, [c_void_p, _BUF, _ERR]),
    ("exit_name", c_char_p, [c_int]),
    ("result_free", None, [POINTER(_Result)]),
    ("accumulate", c_bool, [c_void_p, c_void_p, POINTER(_Accumulation), POINTER(_Result), _ERR]),
    ("is_authorized", c_bool, [c_void_p, c_void_p, POINTER(_Package), POINTER(_Result), _ERR]),
    ("refine", c_bool, [c_void_p, c_void_p, POINTER(_Package), c_size_t, POINTER(_Result), _ERR]),
    ("report_make", c_bool, [c_void_p, c_void_p, POINTER(_Package), POINTER(_Availability), POINTER(_Report), _ERR]),
    ("report_free", None, [POINTER(_Report)]),
    ("block_json", c_bool, [c_void_p, c_void_p, _c.Bytes, c_char_p, POINTER(_Outcome), _ERR]),
    ("outcome_free", None, [POINTER(_Outcome)]),
]:
    _function = getattr(_lib, "penta_jam_" + _name)
    _function.restype, _function.argtypes = _type, _arguments


def _check(done: Any, error: _c.Error) -> Any:
    if not done:
        raise Error([_finding(error)])
    return done


def _bytes(buffer: Any) -> bytes:
    return ctypes.string_at(buffer.data, buffer.size) if buffer.size else b""


def _views(items: Sequence[bytes]):
    pairs = [_view(item) for item in items]
    return (_c.Bytes * (len(pairs) + 1))(*[p[0] for p in pairs]), pairs


@dataclass(frozen=True)
class Result:
    exit: str                   # "halt", "panic", "out of gas", "no code" ..
    gas_used: int
    output: bytes
    exports: bytes
    transfers: Tuple[bytes, ...]


def _result(raw: _Result) -> Result:
    transfers = _bytes(raw.transfers)
    return Result(_lib.penta_jam_exit_name(raw.exit).decode(), raw.gas_used, _bytes(raw.output), _bytes(raw.exports),
                  tuple(transfers[i:i + 152] for i in range(0, len(transfers), 152)))


@dataclass(frozen=True)
class Report:
    authorized: Result          # its output is the trace; not "halt": there is no report
    items: Tuple[Result, ...]   # exit as in the report
    exports: bytes              # segments of all items
    exports_root: bytes
    encoded: bytes              # what a block takes as a report


@dataclass(frozen=True)
class Outcome:
    services: Dict[int, Tuple[int, int]]   # work items and gas used, by service
    root: bytes
    rounds: int
    reports: int
    outputs: bytes


class State:
    """Values under keys of 31 bytes; document: JSON, as text or as Python values."""

    def __init__(self, host: "Host", document: Union[str, dict, None] = None, folder: Optional[str] = None):
        error = _c.Error()
        self._host = host
        self._handle = _check(_lib.penta_jam_state_new(host._handle, None, ctypes.byref(error)), error)
        if document is not None:
            self.read(document, folder)
            self.commit()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _lib.penta_jam_state_free(self._handle)

    def read(self, document: Union[str, dict], folder: Optional[str] = None) -> None:
        text = document if isinstance(document, str) else json.dumps(document)
        view, _keep = _view(text.encode())
        error = _c.Error()
        _check(_lib.penta_jam_state_read(self._handle, view, folder.encode() if folder else None,
                                         ctypes.byref(error)), error)

    def document(self) -> dict:
        return json.loads(_filled(_lib.penta_jam_state_write, self._handle))

    def get(self, key: bytes) -> Optional[bytes]:
        assert len(key) == KEY
        value = _c.Bytes()
        if not _lib.penta_jam_state_get(self._handle, key, ctypes.byref(value)):
            return None
        return _bytes(value)

    def set(self, key: bytes, value: Optional[bytes]) -> None:
        assert len(key) == KEY
        view, _keep = _view(value or b"")
        error = _c.Error()
        _check(_lib.penta_jam_state_set(self._handle, key, view if value is not None else _c.Bytes(),
                                        ctypes.byref(error)), error)

    def changes(self) -> List[Tuple[bytes, Optional[bytes], Optional[bytes]]]:
        """Key, value before and now, since the last commit."""
        found: List[Tuple[bytes, Optional[bytes], Optional[bytes]]] = []
        each = _Change(lambda _, key, name, before, now: found.append(
            (ctypes.string_at(key, KEY), _bytes(before.contents) if before else None,
             _bytes(now.contents) if now else None)))
        _lib.penta_jam_state_changes(self._handle, each, None)
        return found

    def commit(self) -> None:
        error = _c.Error()
        _check(_lib.penta_jam_state_commit(self._handle, ctypes.byref(error)), error)

    def rollback(self) -> None:
        _lib.penta_jam_state_rollback(self._handle)


class Host:
    """A version, a chain and an engine, with the programs it has prepared."""

    def __init__(self, **options: OptionValue):
        pairs, count = _options(options)
        error = _c.Error()
        self._handle = _check(_lib.penta_jam_host_new(pairs, count, ctypes.byref(error)), error)

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _lib.penta_jam_host_free(self._handle)

    def parameter(self, name: str) -> int:
        value = c_uint64()
        if not _lib.penta_jam_parameter(self._handle, name.encode(), ctypes.byref(value)):
            raise KeyError(name)
        return value.value

    def _run(self, function, *arguments) -> Result:
        raw, error = _Result(), _c.Error()
        _check(function(self._handle, *arguments, ctypes.byref(raw), ctypes.byref(error)), error)
        result = _result(raw)
        _lib.penta_jam_result_free(ctypes.byref(raw))
        return result

    def accumulate(self, state: State, slot: int, service: int, gas: int, items: Sequence[bytes] = (),
                   entropy: bytes = bytes(32)) -> Result:
        views, _keep = _views(items)
        given = _Accumulation(slot, service, (c_uint8 * 32)(*entropy), gas, views, len(items))
        return self._run(_lib.penta_jam_accumulate, state._handle, ctypes.byref(given))

    def _package(self, package: bytes, core: int, trace: bytes, extrinsics: Sequence[bytes],
                 imports: Sequence[bytes]):
        encoded, keep = _view(package)
        traced, keep_trace = _view(trace)
        some, keep_some = _views(extrinsics)
        more, keep_more = _views(imports)
        raw = _Package(encoded, core, traced, some, len(extrinsics), more, len(imports))
        return raw, (keep, keep_trace, keep_some, keep_more, some, more)

    def is_authorized(self, state: State, package: bytes, core: int = 0) -> Result:
        raw, _keep = self._package(package, core, b"", (), ())
        return self._run(_lib.penta_jam_is_authorized, state._handle, ctypes.byref(raw))

    def refine(self, state: State, package: bytes, item: int = 0, core: int = 0, trace: bytes = b"",
               extrinsics: Sequence[bytes] = (), imports: Sequence[bytes] = ()) -> Result:
        raw, _keep = self._package(package, core, trace, extrinsics, imports)
        return self._run(_lib.penta_jam_refine, state._handle, ctypes.byref(raw), item)

    def report(self, state: State, package: bytes, core: int = 0, extrinsics: Sequence[bytes] = (),
               imports: Sequence[bytes] = (), bundle_size: int = 0, erasure_root: bytes = bytes(32),
               lookups: Sequence[bytes] = ()) -> Report:
        """Is-authorized, refine of each item, and the report; lookups are package hash and root, 64 bytes each."""
        given, _keep = self._package(package, core, b"", extrinsics, imports)
        where = _Availability(bundle_size, (c_uint8 * 32)(*erasure_root), b"".join(lookups), len(lookups))
        raw, error = _Report(), _c.Error()
        _check(_lib.penta_jam_report_make(self._handle, state._handle, ctypes.byref(given), ctypes.byref(where),
                                          ctypes.byref(raw), ctypes.byref(error)), error)
        report = Report(_result(raw.authorized), tuple(_result(raw.items[i]) for i in range(raw.item_count)),
                        _bytes(raw.exports), bytes(raw.exports_root), _bytes(raw.encoded))
        _lib.penta_jam_report_free(ctypes.byref(raw))
        return report

    def block(self, state: State, block: Union[str, dict], folder: Optional[str] = None) -> Outcome:
        """What changed is not committed."""
        text = block if isinstance(block, str) else json.dumps(block)
        view, _keep = _view(text.encode())
        raw, error = _Outcome(), _c.Error()
        _check(_lib.penta_jam_block_json(self._handle, state._handle, view,
                                         folder.encode() if folder else None, ctypes.byref(raw),
                                         ctypes.byref(error)), error)
        outcome = Outcome({raw.services[i].service: (raw.services[i].items, raw.services[i].gas)
                           for i in range(raw.service_count)}, bytes(raw.root), raw.rounds, raw.reports,
                          _bytes(raw.outputs))
        _lib.penta_jam_outcome_free(ctypes.byref(raw))
        return outcome
