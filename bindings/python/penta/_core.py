"""What the modules of this package share: errors, options, bytes in and out."""
from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Tuple, Union

from ._library import lib, names, types

Buffer = Union[bytes, bytearray, memoryview]
OptionValue = Union[None, str, int, bool, Iterable[Union[str, int]]]
UNBOUNDED = 2**64 - 1


# ---- findings and errors ----

@dataclass(frozen=True)
class Finding:
    """An error or warning: a stable code and its name, an offset, a message, and a note on what to do."""
    code: str
    name: str
    severity: str
    offset: int
    message: str
    note: str = ""
    decoded: bool = False  # the offset counts in the decoded image, not in the file
    number: int = field(default=0, repr=False, compare=False)  # the code as the library has it

    def __str__(self) -> str:
        return f"{self.severity}[{self.code}]: {self.message} at {self.offset:#x}"


class Error(Exception):
    """Raised by everything that can fail. code, name, offset, message and note are those of the first finding,
    `findings` has everything that was found."""

    def __init__(self, findings: List[Finding]) -> None:
        super().__init__("; ".join(str(f) for f in findings) or "failed")
        self.findings = findings
        first = findings[0] if findings else Finding("", "", "error", 0, "failed")
        self.code, self.name, self.offset = first.code, first.name, first.offset
        self.message, self.note = first.message, first.note

    def __reduce__(self) -> Any:
        return type(self), (self.findings,)  # it can be sent to another process


_SEVERITIES = names("penta_severity", "PENTA_")


def finding(raw: Any) -> Finding:
    text = ctypes.create_string_buffer(24)
    lib.penta_code_text(raw.code, text)
    name = lib.penta_code_name(raw.code)
    return Finding(text.value.decode(), name.decode() if name else "", _SEVERITIES[raw.severity], raw.offset,
                   raw.message.decode("utf-8", "replace"), raw.note.decode("utf-8", "replace"), raw.decoded, raw.code)


def raw_finding(of: Finding) -> Any:
    """A finding as a penta_error; texts are cut to the room that it has."""
    raw = types.penta_error(of.number, _SEVERITIES.index(of.severity), of.offset, of.decoded)
    for key in ("message", "note"):
        room = getattr(types.penta_error, key).size - 1
        setattr(raw, key, getattr(of, key).encode("utf-8", "surrogateescape")[:room].decode("utf-8", "ignore").encode())
    return raw


def checked(function: Callable[..., Any], *arguments: Any) -> Any:
    """A call whose last parameter is the error, which is raised."""
    error = types.penta_error()
    result = function(*arguments, ctypes.byref(error))
    if not result:
        raise Error([finding(error)])
    return result


class Findings:
    """Collects what a penta_report is given."""

    def __init__(self) -> None:
        self.found: List[Finding] = []
        self.report = types.penta_report(lambda _user, raw: self.found.append(finding(raw.contents)))

    def check(self, ok: Any) -> Any:
        if not ok:
            raise Error(sorted(self.found, key=lambda f: f.severity != "error"))
        return ok


# ---- values in ----

def word(value: int, what: str, signed: bool = False) -> int:
    """An integer that fits 64 bits; ctypes would cut it silently."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{what} must be an integer, not {type(value).__name__}")
    number = value.__index__()
    if not (-(2**63) if signed else 0) <= number < 2**64:
        raise OverflowError(f"{what} of {number} does not fit 64 bits")
    return number & (2**64 - 1)


def text(value: Optional[str]) -> Optional[bytes]:
    return None if value is None else value.encode("utf-8", "surrogateescape")


def options(values: Mapping[str, OptionValue]) -> Tuple[Any, int]:
    """Keyword arguments as options: an underscore stands for a dash, True for a switch, a list repeats it."""
    pairs = []
    for key, value in values.items():
        if value is None or value is False:
            continue
        many = value if isinstance(value, (list, tuple)) else [value]
        for one in many:
            shown = "1" if one is True else str(one)
            pairs.append((key.strip("_").replace("_", "-").encode(), text(shown)))
    return (types.penta_option * max(len(pairs), 1))(*pairs), len(pairs)


class _PyBuffer(ctypes.Structure):
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t),
                ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p)]


class View:
    """The bytes of any object with a buffer, where they are, as a penta_bytes. They must stay unchanged as long as the
    view is used. A str has no bytes: the caller must choose an encoding."""

    def __init__(self, data: Buffer, writable: bool = False) -> None:
        self._held = _PyBuffer()
        ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(data), ctypes.byref(self._held), 1 if writable else 0)
        self._release = ctypes.pythonapi.PyBuffer_Release
        self.address, self.size = self._held.buf, self._held.len
        self.bytes = types.penta_bytes(self.address if self.size else None, self.size)

    def __del__(self) -> None:
        if hasattr(self, "_release"):
            self._release(ctypes.byref(self._held))


def views(items: Iterable[Buffer]) -> Tuple[Any, List[View]]:
    """An array of penta_bytes, and what keeps them alive."""
    kept = [View(item) for item in items]
    return (types.penta_bytes * max(len(kept), 1))(*[view.bytes for view in kept]), kept


# ---- values out ----

def taken(raw: Any) -> bytes:
    """A copy of a penta_bytes or penta_buffer."""
    return ctypes.string_at(raw.data, raw.size) if raw.size else b""


class Filled:
    """A penta_buffer for a call to fill."""

    def __init__(self) -> None:
        self.raw = types.penta_buffer()
        self.ref = ctypes.byref(self.raw)

    def take(self) -> bytes:
        out = taken(self.raw)
        self.raw.size = 0
        return out

    def __del__(self) -> None:
        if getattr(self, "raw", None) is not None:
            lib.penta_buffer_free(self.ref)


def filled(function: Callable[..., Any], *arguments: Any) -> bytes:
    """A call that fills a buffer and then an error."""
    out = Filled()
    checked(function, *arguments, out.ref)
    return out.take()


def document(function: Callable[..., Any], *arguments: Any) -> Any:
    """The same, for JSON."""
    return json.loads(filled(function, *arguments))


def words(function: Callable[..., Optional[bytes]], *arguments: Any) -> List[str]:
    """A list that a function of an index gives, up to its NULL."""
    out: List[str] = []
    while True:
        one = function(*arguments, len(out))
        if one is None:
            return out
        out.append(one.decode())


def reported(report: Any, convert: Callable[[Any], Any], function: Callable[..., Any], *arguments: Any) -> List[Any]:
    """What a function tells a callback of this type, one by one."""
    out: List[Any] = []
    keep = report(lambda _user, raw: out.append(convert(raw.contents)))
    function(*arguments, keep, None)
    return out


_KINDS = names("penta_kind", "PENTA_")
Value = Union[int, float, bool, str, bytes]


def value(raw: Any) -> Value:
    """The value of a penta_field or penta_value."""
    kind, of = _KINDS[raw.kind], getattr(raw, "as")
    if kind == "text":
        return taken(of.bytes).decode("utf-8", "replace")
    if kind == "raw":
        return taken(of.bytes)
    if kind == "bool":
        return bool(of.u)
    out: Union[int, float] = of.i if kind == "sint" else of.f if kind == "float" else of.u
    return out


def raw_value(given: Union[int, float, bool]) -> Any:
    """A number as a penta_value."""
    out = types.penta_value()
    of = getattr(out, "as")
    if isinstance(given, bool):
        out.kind, of.u = _KINDS.index("bool"), given
    elif isinstance(given, float):
        out.kind, of.f = _KINDS.index("float"), given
    else:
        out.kind, of.u = _KINDS.index("sint" if given < 0 else "uint"), word(given, "a value", signed=True)
    return out


# ---- stops ----

@dataclass(frozen=True)
class Stop:
    """Why a machine stopped: halt, trap, host, fault, gas, fuel, break, interrupt or disagree."""
    kind: str
    detail: int
    pc: int
    steps: int
    args: Tuple[int, ...] = ()


STOPS = words(lib.penta_stop_name)  # the kinds, in the order of their numbers


def stop(raw: Any) -> Stop:
    return Stop(STOPS[raw.kind], raw.detail, raw.pc, raw.steps, tuple(raw.args))


def raw_stop(at: Stop) -> Any:
    return types.penta_stop(STOPS.index(at.kind), at.detail, at.pc, at.steps, tuple(at.args))


Document = Dict[str, Any]
