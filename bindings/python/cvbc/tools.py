"""Checks, programs as text, machines, old files and boards."""
from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Mapping, Optional, Union

import penta
import penta.cvbc
from penta._core import options as _options

from . import _library as _c
from .constants import Status
from .container import Container, Module, _Builder, load, read
from .errors import CVBCError, FormatError, error_of
from .keys import KeyLike, Path, load_key
from .records import Report, Text

Loadable = Union[Container, Path, bytes]


def _data(what: Loadable) -> bytes:
    """A container as a file; one that was loaded as it was, unless it has been changed."""
    if not isinstance(what, Container):
        return read(what)
    module = what._unchanged()
    return module.data if module else what.to_bytes(deterministic=True)


def _module(what: Loadable) -> Module:
    """A file whose program can be read. A container brings the keys with which it was loaded."""
    module = what._unchanged() if isinstance(what, Container) else None
    if module is None:
        module = Module(_data(what))
    verdict = module.verdict()
    if verdict.status:
        raise error_of([_c.finding_of(verdict.failure)], verdict.status)
    return module


# ---- checks

def _report(collected: _c.Collector) -> Report:
    errors = [f.message for f in collected.findings if f.severity == "error"]
    warnings = [f.message for f in collected.findings if f.severity != "error"]
    return Report(not errors, Status(collected.status), errors, warnings, collected.findings)


def check(data: Union[Path, bytes]) -> Report:
    """The full check of a container: structure and checksums, not who made it."""
    module, collected = Module(read(data)), _c.Collector()
    _c.lib.penta_cvbc_check(module.handle, False, collected.report, None)
    return _report(collected)


def quick_check(data: Union[Path, bytes]) -> bool:
    module, collected = Module(read(data)), _c.Collector()
    return bool(_c.lib.penta_cvbc_check(module.handle, True, collected.report, None))


def check_program(container: Container) -> Report:
    """The static checks of the program itself."""
    collected = _c.Collector()
    _c.lib.penta_cvbc_verify_code(_c.view(container.bytecode), container.entry, len(container.strings), None, None, collected.report, None)
    return _report(collected)


def verify(data: Union[Path, bytes], public_key: Union[KeyLike, Iterable[KeyLike]], key: Any = None,
           password: Optional[Text] = None) -> bool:
    """True when one of these keys signed the file and all of it is good. An encrypted file needs its
    key: what was not checked completely is not verified."""
    keys = list(public_key) if isinstance(public_key, (list, tuple, set)) else [public_key]
    trusted = [load_key(one) for one in keys]
    try:
        return not load(read(data), trusted, key, password, require_signature=True).encrypted
    except CVBCError:
        return False


# ---- text

def assemble(text: str) -> Container:
    try:
        return load(penta.assemble(text, "cvbc").encode())
    except penta.Error as error:
        raise FormatError(str(error), Status.BYTECODE, error.findings) from None


def disassemble(container: Loadable, **options: Any) -> str:
    """Text that assembles to the same bytes."""
    try:
        return penta.open(_data(container), "cvbc").disassemble(**options)
    except penta.Error as error:
        raise FormatError(str(error), Status.BYTECODE, error.findings) from None


def compile(source: Text, filename: str = "program.ino", portable: bool = False,  # noqa: A001
            strip: bool = False, declare: bool = False, target: Optional[str] = None,
            any_pin: bool = False) -> Container:
    """A program in the small C-like language: setup and loop, or main.

    declare: with the pins and features that it uses, which it is then held to (minor version 3), for a target where one is
    named; any_pin: it may use pins that are not known before it runs. Without them the caller declares what he likes."""
    text = source.encode() if isinstance(source, str) else bytes(source)
    if declare or target or any_pin:
        try:
            return load(penta.cvbc.compile(text.decode(), filename, portable=portable, strip=strip, target=target,
                                           any_pin=any_pin))
        except penta.Error as error:
            raise FormatError(str(error), Status.BYTECODE, error.findings) from None
    builder, collected = _Builder(), _c.Collector()
    if not _c.lib.penta_cvbc_builder_compile(builder.handle, _c.view(text), filename.encode(), portable, strip,
                                             collected.report, None):
        errors = [f for f in collected.findings if f.severity == "error"]
        places = [f"{_place(text, f.offset)}: {f.message}" for f in errors]
        raise FormatError("; ".join(places) or "the program does not compile", Status.BYTECODE, errors)
    container = load(_c.filled("builder_finish", builder.handle))
    container.timestamp = None
    container.findings = collected.findings
    return container


def _place(text: bytes, offset: int) -> str:
    line = text.count(b"\n", 0, offset) + 1
    return f"{line}:{offset - text.rfind(chr(10).encode(), 0, offset)}"


def convert_legacy(data: Union[Path, bytes], target: Optional[str] = None, repair: bool = True) -> Container:
    """A program from before the container; `findings` says what was repaired."""
    collected, buffer = _c.Collector(), _c.types.penta_buffer()
    ok = _c.lib.penta_cvbc_legacy_convert(_c.view(read(data)), target.encode() if target else None, not repair,
                                          ctypes.byref(buffer), collected.report, None)
    try:
        if not ok:
            collected.raise_error()
        container = load(ctypes.string_at(buffer.data, buffer.size))
    finally:
        _c.lib.penta_buffer_free(ctypes.byref(buffer))
    container.findings = collected.findings
    return container


# ---- several programs in one file

def combine(containers: Mapping[str, Loadable], sign_with_key: Optional[KeyLike] = None) -> bytes:
    """One file with these programs, the first one first; load(file, program=NAME) takes one out."""
    try:
        modules = {name: penta.open(_data(one), "cvbc") for name, one in containers.items()}
        data = penta.cvbc.create_programs(modules)
    except penta.Error as error:
        raise FormatError(str(error), Status.METADATA, error.findings) from None
    return data if sign_with_key is None else sign(data, sign_with_key)


def programs(data: Union[Path, bytes]) -> List[str]:
    """The names of the programs of a file that has several, the first one first."""
    return Module(read(data)).programs()


# ---- machines

class HardwareFault(Exception):
    """Raised by a method of a hal: the program stops with error 9."""


class Hal:
    """The hardware that answers host calls: define the methods that you want, the rest is simulated.

        pin_mode(pin, mode)    digital_write(pin, high)    digital_read(pin) -> bool
        analog_write(pin, value)    analog_read(pin) -> int    delay(ms)
        millis() -> int    micros() -> int    print(text)

    Ranges and pin modes have been checked before. HardwareFault, or the answer False where none is
    expected, refuses."""


@dataclass(frozen=True)
class Result:
    """How a run ended: halted, end (past the last instruction), error, or budget. A budget that is
    spent is no error of the program, so `error` is 0 then."""
    status: str
    error: int
    error_name: str
    pc: int
    steps: int
    stack: List[int]
    globals: Dict[int, int]
    output: str
    raw_output: bytes = field(repr=False, default=b"")

    @property
    def ok(self) -> bool:
        return self.status in ("halted", "end")


class _Bridge:
    """A Python object as the library's table of callbacks. An exception ends the run and is raised
    again where it started."""

    def __init__(self, hal: Any, output: bytearray) -> None:
        self.raw: Any = _c.types.penta_cvbc_hal()
        self.failure: Optional[BaseException] = None
        self._kept: List[Any] = []
        self._types = dict(self.raw._fields_)
        for name in ("pin_mode", "digital_write", "analog_write", "delay"):
            self._plain(hal, name)
        self._reading(hal, "digital_read", bool)
        self._reading(hal, "analog_read", lambda v: int(v) & 0xFFFF)
        self._reading(hal, "millis", lambda v: int(v) & 0xFFFFFFFF)
        self._reading(hal, "micros", lambda v: int(v) & 0xFFFFFFFF)
        method: Any = getattr(hal, "print", None)
        if method:
            def written(_user: Any, text: int, size: int) -> bool:
                data = ctypes.string_at(text, size)
                output.extend(data)
                return self._guard(lambda: method(data.decode("utf-8", "replace")) is not False)
            text_as_pointer = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
            self._set("print", written, text_as_pointer)  # it does not end with a zero

    def _guard(self, action: Any) -> bool:
        try:
            return bool(action())
        except HardwareFault:
            return False
        except BaseException as error:  # must not travel through C
            self.failure = self.failure or error
            return False

    def _set(self, name: str, function: Any, kind: Any = None) -> None:
        callback = (kind or self._types[name])(function)
        self._kept.append(callback)
        setattr(self.raw, name, ctypes.cast(callback, self._types[name]))

    def _plain(self, hal: Any, name: str) -> None:
        method = getattr(hal, name, None)
        if method:
            self._set(name, lambda _user, *values: self._guard(lambda: method(*values) is not False))

    def _reading(self, hal: Any, name: str, convert: Any) -> None:
        method: Any = getattr(hal, name, None)
        if not method:
            return

        def answered(_user: Any, *values: Any) -> bool:
            def store() -> bool:
                values[-1][0] = convert(method(*values[:-1]))
                return True
            return self._guard(store)
        self._set(name, answered)


def run(container: Loadable, hal: Any = None, budget: Optional[int] = None, stack: Optional[int] = None) -> Result:
    """Runs a program on a simulated board, or on what hal answers; "trace" prints a line per event.
    The container is verified before; use load() with trusted keys to know who made it."""
    module = _module(container)
    output = bytearray()
    trace = isinstance(hal, str)
    if trace and hal != "trace":
        raise ValueError('hal is an object with methods, or "trace"')
    bridge = _Bridge(None if trace else hal, output)
    error = _c.types.penta_error()
    vm = _c.lib.penta_vm_new(module.handle, None, *_options({"budget": budget, "stack": stack}), None, ctypes.byref(error))
    if not vm:
        raise error_of([_c.finding_of(error)], _c.lib.penta_cvbc_status(error.code))
    board = None
    try:
        board = _c.lib.penta_cvbc_simulator_new(trace, ctypes.byref(bridge.raw), ctypes.byref(error))
        if not board:
            raise MemoryError
        return _run(vm, board, bridge, output)
    finally:
        _c.lib.penta_cvbc_simulator_free(board)
        _c.lib.penta_vm_free(vm)


def _run(vm: int, board: int, bridge: _Bridge, output: bytearray) -> Result:
    stop, printed = _c.types.penta_stop(), _c.types.penta_buffer()
    host = _c.constants["PENTA_STOP_HOST"]
    try:
        while True:
            _c.lib.penta_vm_run(vm, 2**64 - 1, ctypes.byref(stop))
            if stop.kind != host:
                break
            _c.call("simulator_answer", board, vm, ctypes.byref(printed))
            if printed.size:
                output.extend(ctypes.string_at(printed.data, printed.size))
                printed.size = 0
            if bridge.failure:
                raise bridge.failure
    finally:
        _c.lib.penta_buffer_free(ctypes.byref(printed))
    return _result(vm, output)


def _result(vm: int, output: bytearray) -> Result:
    state, word = _c.types.penta_cvbc_state(), ctypes.c_int32()
    _c.lib.penta_cvbc_vm_state(vm, ctypes.byref(state))
    stack, slots = [], {}
    for i in range(state.sp):
        _c.lib.penta_cvbc_vm_stack(vm, i, ctypes.byref(word))
        stack.append(word.value)
    for i in range(64):
        _c.lib.penta_cvbc_vm_global(vm, i, ctypes.byref(word))
        if word.value:
            slots[i] = word.value
    status = "budget" if state.error == 16 else "error" if state.error else "end" if state.ran_off else "halted"
    error = 0 if status == "budget" else state.error
    return Result(status, error, _c.lib.penta_cvbc_vm_error_name(error).decode(), state.pc, state.executed,
                  stack, slots, bytes(output).decode("utf-8", "replace"), bytes(output))


# ---- boards

def boards() -> List[str]:
    names: List[str] = []
    while True:
        name = _c.lib.penta_cvbc_board_name(len(names))
        if not name:
            return names
        names.append(name.decode())


def check_board(container: Loadable, board: str) -> Report:
    """Every reason why the program does not fit the board: a name of boards(), or a board file."""
    module, collected = Module(_data(container)), _c.Collector()
    _c.lib.penta_cvbc_board_check(module.handle, board.encode(), collected.report, None)
    return _report(collected)


def trinity(containers: Union[Loadable, Iterable[Loadable]], board: Optional[str] = None) -> Dict[str, str]:
    """The generated files of a board, by name, from all the containers of a firmware. board None:
    the one that the containers name."""
    if isinstance(containers, (Container, str, bytes)) or hasattr(containers, "__fspath__"):
        containers = [containers]  # type: ignore[list-item]
    modules = [Module(_data(one)) for one in containers]
    handles = (ctypes.c_void_p * max(len(modules), 1))(*[m.handle for m in modules])
    out = (_c.types.penta_buffer * _c.constants["PENTA_CVBC_TRINITY_FILES"])()
    try:
        _c.call("trinity", handles, len(modules), board.encode() if board else None, out)
        return {_c.lib.penta_cvbc_trinity_name(i).decode():
                ctypes.string_at(out[i].data, out[i].size).decode() for i in range(len(out))}
    finally:
        for buffer in out:
            _c.lib.penta_buffer_free(ctypes.byref(buffer))


# ---- signing files again

def sign(data: Union[Path, bytes], key: KeyLike, embed_public_key: bool = True, hash: int = 0,  # noqa: A002
         replace: bool = False) -> bytes:
    """The same file, signed; an encrypted one needs no key for that. A file whose signature is wrong or cannot be
    checked, or whose contents were changed, is refused unless replace is true."""
    from .keys import private_pem
    module, pem = Module(read(data)), _c.view(private_pem(key))
    signing = _c.types.penta_cvbc_signing(hash=hash, external=not embed_public_key, replace=replace)
    signing.key = pem
    return _c.filled("sign", module.handle, ctypes.byref(signing))
