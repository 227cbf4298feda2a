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
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from ._core import Buffer, Document, OptionValue, View, checked, document, options, taken, text, views, words
from ._library import constants, types
from ._library import lib as _lib

Json = Union[str, Document]

KEY: int = constants["PENTA_JAM_KEY"]
_TRANSFER = 4 + 4 + 8 + constants["PENTA_JAM_MEMO"] + 8


@dataclass(frozen=True)
class Result:
    exit: str                   # "halt", "panic", "out of gas", "no code" ..
    gas_used: int
    output: bytes
    exports: bytes
    transfers: Tuple[bytes, ...]


def _result(raw: Any) -> Result:
    transfers = taken(raw.transfers)
    return Result(_lib.penta_jam_exit_name(raw.exit).decode(), raw.gas_used, taken(raw.output), taken(raw.exports),
                  tuple(transfers[i:i + _TRANSFER] for i in range(0, len(transfers), _TRANSFER)))


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


def _json(value: Json) -> View:
    return View((value if isinstance(value, str) else json.dumps(value)).encode())


def _hash(value: bytes) -> Any:
    return (ctypes.c_uint8 * constants["PENTA_JAM_HASH"])(*value)


# ---- versions and keys ----

def versions() -> List[str]:
    return words(_lib.penta_jam_version_name)


def call_name(number: int, version: Optional[str] = None) -> Optional[str]:
    """The name of a host call in a version; None: there is none."""
    name = _lib.penta_jam_call_name(text(version), number)
    return name.decode() if name else None


def _key(function: Callable[..., None], *arguments: Any) -> bytes:
    out = ctypes.create_string_buffer(KEY)
    function(*arguments, out)
    return out.raw


def chapter_key(chapter: int) -> bytes:
    """The state key of a chapter: 2 authorizer queues, 7 staging set, 12 privileges and so on."""
    return _key(_lib.penta_jam_key, chapter)


def account_key(service: int) -> bytes:
    return _key(_lib.penta_jam_account_key, service)


def storage_key(service: int, name: Buffer) -> bytes:
    view = View(name)
    return _key(_lib.penta_jam_storage_key, service, view.bytes)


def preimage_key(service: int, hash: bytes) -> bytes:  # noqa: A002
    return _key(_lib.penta_jam_preimage_key, service, _hash(hash))


def request_key(service: int, hash: bytes, length: int) -> bytes:  # noqa: A002
    return _key(_lib.penta_jam_request_key, service, _hash(hash), length)


def _digest(function: Callable[..., None], data: Buffer) -> bytes:
    view, out = View(data), _hash(bytes(constants["PENTA_JAM_HASH"]))
    function(view.bytes, out)
    return bytes(out)


def hash(data: Buffer) -> bytes:  # noqa: A001
    """Blake2b-256."""
    return _digest(_lib.penta_jam_hash, data)


def segments_root(segments: Buffer) -> bytes:
    """Of exported segments."""
    return _digest(_lib.penta_jam_segments_root, segments)


class State:
    """Values under keys of 31 bytes; document: JSON, as text or as Python values."""

    def __init__(self, host: "Host", document: Optional[Json] = None, folder: Optional[str] = None) -> None:
        self._host = host
        self._handle: int = checked(_lib.penta_jam_state_new, host._handle, None)
        if document is not None:
            self.read(document, folder)
            self.commit()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _lib.penta_jam_state_free(self._handle)

    def read(self, document: Json, folder: Optional[str] = None) -> None:
        view = _json(document)
        checked(_lib.penta_jam_state_read, self._handle, view.bytes, text(folder))

    def document(self) -> Document:
        out: Document = document(_lib.penta_jam_state_write, self._handle)
        return out

    def get(self, key: bytes) -> Optional[bytes]:
        assert len(key) == KEY
        value = types.penta_bytes()
        return taken(value) if _lib.penta_jam_state_get(self._handle, key, ctypes.byref(value)) else None

    def set(self, key: bytes, value: Optional[bytes]) -> None:
        """None removes it."""
        assert len(key) == KEY
        view = View(value or b"")
        raw = types.penta_bytes() if value is None else types.penta_bytes(view.address, view.size)
        checked(_lib.penta_jam_state_set, self._handle, key, raw)

    def store(self, service: int, key: Buffer, value: Buffer) -> None:
        """Sets storage and remembers its key, of which the state key has only a hash."""
        name, given = View(key), View(value)
        checked(_lib.penta_jam_state_store, self._handle, service, name.bytes, given.bytes)

    def diff(self) -> List[Document]:
        """The changes since the last commit, with names where they are known."""
        out: List[Document] = document(_lib.penta_jam_state_diff, self._handle, True)
        return out

    def changes(self) -> List[Tuple[bytes, Optional[bytes], Optional[bytes]]]:
        """Key, value before and now, since the last commit."""
        found: List[Tuple[bytes, Optional[bytes], Optional[bytes]]] = []
        each = types.penta_jam_change(lambda _user, key, _name, before, now: found.append(
            (ctypes.string_at(key, KEY), taken(before.contents) if before else None,
             taken(now.contents) if now else None)))
        if not _lib.penta_jam_state_changes(self._handle, each, None):
            raise MemoryError
        return found

    def commit(self) -> None:
        checked(_lib.penta_jam_state_commit, self._handle)

    def rollback(self) -> None:
        _lib.penta_jam_state_rollback(self._handle)


class Host:
    """A version, a chain and an engine, with the programs it has prepared."""

    def __init__(self, document: Optional[Json] = None, **host_options: OptionValue) -> None:
        """document: a state as JSON, which says version and chain where the options do not."""
        self._told: Any = None
        view = View(b"") if document is None else _json(document)
        self._handle: int = checked(_lib.penta_jam_host_new, view.bytes, *options(host_options))

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _lib.penta_jam_host_free(self._handle)

    def parameter(self, name: str) -> int:
        value = ctypes.c_uint64()
        if not _lib.penta_jam_parameter(self._handle, text(name), ctypes.byref(value)):
            raise KeyError(name)
        return value.value

    def on_call(self, called: Callable[[int, str], Any]) -> None:
        """Called with the service and a line about each host call; it must not raise."""
        told = types.penta_jam_called(lambda _user, service, line: called(service, line.decode("utf-8", "replace")) and None)
        _lib.penta_jam_on_call(self._handle, told, None)
        self._told = (told, self._told)  # as long as the host may call it

    def on_log(self, logged: Callable[[int, int, bytes, bytes], Any]) -> None:
        """Called with service, level, target and message of what programs log; it must not raise."""
        told = types.penta_jam_logged(lambda _user, service, level, target, message: logged(
            service, level, taken(target), taken(message)) and None)
        _lib.penta_jam_on_log(self._handle, told, None)
        self._told = (told, self._told)

    def _run(self, function: Callable[..., bool], *arguments: Any) -> Result:
        raw = types.penta_jam_result()
        try:
            checked(function, self._handle, *arguments, ctypes.byref(raw))
            return _result(raw)
        finally:
            _lib.penta_jam_result_free(ctypes.byref(raw))

    def accumulate(self, state: State, slot: int, service: int, gas: int, items: Sequence[bytes] = (),
                   entropy: bytes = bytes(32)) -> Result:
        given, _keep = views(items)
        raw = types.penta_jam_accumulation(slot, service, _hash(entropy), gas, given, len(items))
        return self._run(_lib.penta_jam_accumulate, state._handle, ctypes.byref(raw))

    def on_transfer(self, state: State, slot: int, service: int, gas: int, items: Sequence[bytes] = (),
                    entropy: bytes = bytes(32)) -> Result:
        """The same at the entry that versions up to 0.7.0 have for transfers."""
        given, _keep = views(items)
        raw = types.penta_jam_accumulation(slot, service, _hash(entropy), gas, given, len(items))
        return self._run(_lib.penta_jam_on_transfer, state._handle, ctypes.byref(raw))

    def _package(self, package: bytes, core: int, trace: bytes, extrinsics: Sequence[bytes],
                 imports: Sequence[bytes]) -> Tuple[Any, Any]:
        encoded, traced = View(package), View(trace)
        some, keep_some = views(extrinsics)
        more, keep_more = views(imports)
        raw = types.penta_jam_package(encoded.bytes, core, traced.bytes, some, len(extrinsics), more, len(imports))
        return raw, (encoded, traced, keep_some, keep_more)

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
        pairs = View(b"".join(lookups))
        where = types.penta_jam_availability(bundle_size, _hash(erasure_root), pairs.address, len(lookups))
        raw = types.penta_jam_report()
        try:
            checked(_lib.penta_jam_report_make, self._handle, state._handle, ctypes.byref(given), ctypes.byref(where),
                    ctypes.byref(raw))
            return Report(_result(raw.authorized), tuple(_result(raw.items[i]) for i in range(raw.item_count)),
                          taken(raw.exports), bytes(raw.exports_root), taken(raw.encoded))
        finally:
            _lib.penta_jam_report_free(ctypes.byref(raw))

    def block(self, state: State, block: Json, folder: Optional[str] = None) -> Outcome:
        """What changed is not committed."""
        view, raw = _json(block), types.penta_jam_outcome()
        try:
            checked(_lib.penta_jam_block_json, self._handle, state._handle, view.bytes, text(folder), ctypes.byref(raw))
            return Outcome({raw.services[i].service: (raw.services[i].items, raw.services[i].gas)
                            for i in range(raw.service_count)}, bytes(raw.root), raw.rounds, raw.reports,
                           taken(raw.outputs))
        finally:
            _lib.penta_jam_outcome_free(ctypes.byref(raw))
