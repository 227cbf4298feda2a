"""penta: open, inspect, validate, disassemble, assemble and run bytecode of five formats.

    import penta

    module = penta.open(open("kernel.kblob", "rb").read())
    for finding in module.validate():
        print(finding)
    print(module.disassemble())
    machine = module.machine(map="0x10000:64")
    print(machine.run(), machine.state)

Options are keyword arguments: an underscore stands for a dash, True for a switch, and a list
repeats an option (map=["0x1000:16", "0x2000:16"]). Everything is bytes, str, int and dict.
"""
from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass, field, replace
from typing import Any, Iterable, List, Optional, Tuple, Union

from . import _library as _c
from ._library import lib as _lib

__all__ = ["Error", "Finding", "Machine", "Module", "Stop", "assemble", "detect", "formats", "open",
           "version"]
Buffer = Union[bytes, bytearray, memoryview]
OptionValue = Union[str, int, bool, Iterable[Union[str, int]]]
version: str = _lib.penta_version().decode()

_UNBOUNDED = 2**64 - 1


def _word(value: int, what: str, signed: bool = False) -> int:
    """An integer that fits 64 bits; ctypes would cut it silently."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{what} must be an integer, not {type(value).__name__}")
    number = value.__index__()
    if not (-(2**63) if signed else 0) <= number < 2**64:
        raise OverflowError(f"{what} of {number} does not fit 64 bits")
    return number & (2**64 - 1)


def _bytes(data: Buffer) -> bytes:
    """The bytes of a buffer. Not of a str: the caller must choose an encoding."""
    if isinstance(data, str):
        raise TypeError("bytes are needed, not str")
    return data if isinstance(data, bytes) else bytes(memoryview(data).cast("B"))


_STOPS = ("fuel", "break", "host", "halt", "trap", "fault", "gas", "interrupt", "disagree")


@dataclass(frozen=True)
class Finding:
    """An error or warning: a stable code, an offset, a message, and a note on what to do."""
    code: str
    name: str
    severity: str
    offset: int
    message: str
    note: str = ""
    decoded: bool = False

    def __str__(self) -> str:
        return f"{self.severity}[{self.code}]: {self.message} at {self.offset:#x}"


class Error(Exception):
    """Raised by everything that can fail; `findings` has everything that was found."""

    def __init__(self, findings: List[Finding]):
        super().__init__("; ".join(str(f) for f in findings) or "failed")
        self.findings = findings
        self.code = findings[0].code if findings else ""


@dataclass(frozen=True)
class Stop:
    """Why a machine stopped: halt, trap, host, fault, gas, fuel, break or interrupt."""
    kind: str
    detail: int
    pc: int
    steps: int
    args: Tuple[int, ...] = field(default=())


def _finding(raw: _c.Error) -> Finding:
    text = ctypes.create_string_buffer(24)
    _lib.penta_code_text(raw.code, text)
    name = _lib.penta_code_name(raw.code)
    return Finding(text.value.decode(), name.decode() if name else "",
                   ("error", "warning", "info")[raw.severity], raw.offset,
                   raw.message.decode("utf-8", "replace"), raw.note.decode("utf-8", "replace"), raw.decoded)


def _options(values: dict):
    pairs = []
    for key, value in values.items():
        if value is None or value is False:
            continue
        many = value if isinstance(value, (list, tuple)) else [value]
        for one in many:
            text = "1" if one is True else str(one)
            pairs.append((key.replace("_", "-").encode(), text.encode()))
    return (_c.Option * len(pairs))(*[_c.Option(*pair) for pair in pairs]), len(pairs)


def _view(data: bytes) -> Tuple[_c.Bytes, Any]:
    keep = ctypes.create_string_buffer(data, len(data)) if data else ctypes.create_string_buffer(1)
    return _c.Bytes(ctypes.cast(keep, ctypes.c_void_p), len(data)), keep


def _filled(function, *arguments) -> bytes:
    buffer, error = _c.Buffer(), _c.Error()
    if not function(*arguments, ctypes.byref(buffer), ctypes.byref(error)):
        raise Error([_finding(error)])
    try:
        return ctypes.string_at(buffer.data, buffer.size) if buffer.size else b""
    finally:
        _lib.penta_buffer_free(ctypes.byref(buffer))


def _collector():
    found: List[Finding] = []
    return found, _c.Report(lambda _, raw: found.append(_finding(raw.contents)))


def formats() -> List[str]:
    return [_lib.penta_format_name(i).decode() for i in range(_lib.penta_format_count())]


def detect(data: Buffer) -> List[Tuple[str, int]]:
    """The formats that could have written these bytes, with confidence 1 to 100, best first."""
    view, _keep = _view(_bytes(data))
    guesses = (_c.Guess * 16)()
    count = _lib.penta_detect(view, guesses, 16)
    return [(g.format.decode(), g.confidence) for g in guesses[:count]]


class Module:
    """An opened file. Immutable; may be shared between threads."""

    def __init__(self, handle: int, keep: Any):
        self._handle, self._keep = handle, keep

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", None), None
        if handle:
            _lib.penta_close(handle)

    @property
    def format(self) -> str:
        return _lib.penta_module_format(self._handle).decode()

    @property
    def damage(self) -> Optional[Finding]:
        raw = _lib.penta_module_damage(self._handle)
        return _finding(raw.contents) if raw else None

    def inspect(self) -> list:
        """The field tree: dicts with name, offset, size and children, or kind and value."""
        return json.loads(_filled(_lib.penta_describe_json, self._handle))

    def info(self) -> dict:
        return json.loads(_filled(_lib.penta_info_json, self._handle))

    def validate(self) -> List[Finding]:
        found, report = _collector()
        _lib.penta_validate(self._handle, report, None)
        return found

    @property
    def valid(self) -> bool:
        return all(f.severity != "error" for f in self.validate())

    def encode(self) -> bytes:
        return _filled(_lib.penta_encode, self._handle)

    def disassemble(self, **options: OptionValue) -> str:
        array, count = _options(options)
        return _filled(_lib.penta_print, self._handle, array, count).decode("utf-8", "surrogateescape")

    def machine(self, engine: Optional[str] = None, **options: OptionValue) -> "Machine":
        array, count = _options(options)
        error = _c.Error()
        handle = _lib.penta_vm_new(self._handle, engine.encode() if engine else None, array, count,
                                   ctypes.byref(error))
        if not handle:
            raise Error([_finding(error)])
        return Machine(handle, self)


class Machine:
    """A machine for a module. Belongs to one thread at a time, except for interrupt()."""

    def __init__(self, handle: int, module: Module):
        self._handle, self.module = handle, module

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", None), None
        if handle:
            _lib.penta_vm_free(handle)

    def run(self, fuel: Optional[int] = None) -> Stop:
        """At most fuel instructions; None: until something happens."""
        raw = _c.RawStop()
        _lib.penta_vm_run(self._handle, _UNBOUNDED if fuel is None else _word(fuel, "fuel"), ctypes.byref(raw))
        return Stop(_STOPS[raw.kind], raw.detail, raw.pc, raw.steps, tuple(raw.args))

    def step(self) -> Stop:
        return self.run(1)

    def answer(self, *results: int) -> None:
        error = _c.Error()
        values = (ctypes.c_uint64 * len(results))(*[_word(r, "a result", signed=True) for r in results])
        if not _lib.penta_vm_answer(self._handle, values, len(results), ctypes.byref(error)):
            raise Error([_finding(error)])

    def interrupt(self) -> None:
        _lib.penta_vm_interrupt(self._handle)

    @property
    def state(self) -> dict:
        return json.loads(_filled(_lib.penta_vm_describe_json, self._handle))

    def peek(self, address: int, size: int) -> bytes:
        address, size = _word(address, "an address"), _word(size, "a size")
        into = ctypes.create_string_buffer(max(size, 1))
        if not _lib.penta_vm_peek(self._handle, address, into, size):
            raise IndexError(f"{size} bytes at {address:#x} are not all mapped")
        return into.raw[:size]

    def poke(self, address: int, data: Buffer) -> None:
        """Writes bytes, a bytearray, a memoryview or anything else with a buffer of bytes."""
        address, written = _word(address, "an address"), _bytes(data)
        if not _lib.penta_vm_poke(self._handle, address, written, len(written)):
            raise IndexError(f"{len(written)} bytes at {address:#x} are not all mapped")

    def mark(self, pc: int, on: bool = True) -> None:
        if not _lib.penta_vm_mark(self._handle, _word(pc, "a pc"), on):
            raise IndexError(f"no instruction at {pc}")

    def save(self) -> bytes:
        return _filled(_lib.penta_vm_save, self._handle)

    def load(self, saved: Buffer) -> None:
        view, _keep = _view(_bytes(saved))
        error = _c.Error()
        if not _lib.penta_vm_load(self._handle, view, ctypes.byref(error)):
            raise Error([_finding(error)])


def open(data: Buffer, format: Optional[str] = None, **options: OptionValue) -> Module:  # noqa: A001
    """Opens a file's bytes; broken files open too, and validate() says what is wrong."""
    view, keep = _view(_bytes(data))
    array, count = _options(options)
    error = _c.Error()
    handle = _lib.penta_open(view, format.encode() if format else None, array, count, ctypes.byref(error))
    if not handle:
        raise Error([_finding(error)])
    return Module(handle, keep)


def assemble(text: str, format: str, **options: OptionValue) -> Module:
    view, keep = _view(text.encode("utf-8", "surrogateescape"))
    array, count = _options(options)
    found, report = _collector()
    handle = _lib.penta_assemble(view, format.encode(), array, count, report, None)
    if not handle:
        raise Error(found)
    return Module(handle, keep)


def pvm_link(objects: Iterable[Tuple[str, bytes]], **options: OptionValue) -> bytes:
    """Links RISC-V objects, ELF programs and archives, each a name and its bytes, to a PolkaVM or JAM
    program. Options: isa, to, dispatch, metadata, strip, stack, optimize."""
    inputs = [(name.encode(), *_view(data)) for name, data in objects]
    raw = (_c.PvmObject * max(1, len(inputs)))(*(_c.PvmObject(name, view, False) for name, view, _ in inputs))
    array, count = _options(options)
    findings: List[Finding] = []

    def report(_user, name, error):
        found = _finding(error.contents)
        findings.append(replace(found, message=f"{name.decode()}: {found.message}") if name else found)

    out = _c.Buffer()
    ok = _lib.penta_pvm_link(raw, len(inputs), array, count, ctypes.byref(out), None, _c.LinkReport(report), None)
    try:
        if not ok:
            raise Error(findings)
        return ctypes.string_at(out.data, out.size) if out.size else b""
    finally:
        _lib.penta_buffer_free(ctypes.byref(out))


__all__.append("pvm_link")
