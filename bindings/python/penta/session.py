"""Machines; machines with their hosts; the run as a trace; a debugger that goes backwards."""
from __future__ import annotations

import contextlib
import ctypes
import json
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

from ._core import (UNBOUNDED, Buffer, Document, Filled, Finding, Findings, OptionValue, Stop, Value, View, checked,
                    document, filled, finding, options, raw_stop, reported, stop, text, value, word)
from ._library import constants, lib, names, types

if TYPE_CHECKING:
    from .module import Module

# Answers a host call with its results, or says with None that the call is not its own.
HostCall = Callable[["Session", Stop], Union[None, int, Sequence[int]]]


@dataclass(frozen=True)
class Frame:
    """An open call."""
    pc: int     # of the next instruction; in the frames outside, of the call
    depth: int  # more in a call than outside of it


@dataclass(frozen=True)
class Variable:
    """A register or a variable."""
    scope: str  # register, local or global
    name: str
    value: Value
    type: Optional[str]
    address: Optional[int]  # None: it is not in memory
    size: int
    elements: int  # of an array, whose first one is the value; else 0


@dataclass(frozen=True)
class Access:
    """Something that an instruction reads or writes."""
    write: bool
    host: bool  # the host may write anything
    name: Optional[str]  # of a register, or of a variable that is not in memory; None: memory
    address: int
    size: int
    moves: bool  # its address depends on the state of the machine


@dataclass(frozen=True)
class Region:
    address: int
    size: int
    writable: bool


_SCOPES = names("penta_variable_scope", "PENTA_VARIABLE_")


def _word(raw: Optional[bytes]) -> Optional[str]:
    return None if raw is None else raw.decode("utf-8", "replace")


def _variable(raw: Any) -> Variable:
    return Variable(_SCOPES[raw.scope], _word(raw.value.name) or "", value(raw.value), _word(raw.value.note),
                    raw.address if raw.in_memory else None, raw.size, raw.elements)


def _access(raw: Any) -> Access:
    return Access(raw.write, raw.host, _word(raw.name), raw.address, raw.size, raw.moves)


def _fuel(fuel: Optional[int]) -> int:
    return UNBOUNDED if fuel is None else word(fuel, "fuel")


class Machine:
    """A machine for a module. Belongs to one thread at a time, except for interrupt()."""

    def __init__(self, handle: int, module: "Module", session: Optional["Session"] = None) -> None:
        self._handle, self.module, self._session = handle, module, session

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", 0), 0
        if handle and self._session is None:
            lib.penta_vm_free(handle)

    @property
    def engine(self) -> str:
        return str(lib.penta_vm_engine(self._handle).decode())

    def run(self, fuel: Optional[int] = None) -> Stop:
        """At most fuel instructions; None: until something happens."""
        if self._session is not None:
            raise TypeError("the machine of a session is run by the session")
        raw = types.penta_stop()
        lib.penta_vm_run(self._handle, _fuel(fuel), ctypes.byref(raw))
        return stop(raw)

    def step(self) -> Stop:
        return self.run(1)

    def answer(self, *results: int) -> None:
        if self._session is not None:
            raise TypeError("calls of a session are answered by the session")
        checked(lib.penta_vm_answer, self._handle, *_results(results))

    def interrupt(self) -> None:
        lib.penta_vm_interrupt(self._handle)

    def detail(self, at: Stop) -> Optional[str]:
        """The name of the trap or host call that a stop is about."""
        name = lib.penta_vm_detail_name(self._handle, ctypes.byref(raw_stop(at)))
        return name.decode() if name else None

    @property
    def state(self) -> Document:
        out: Document = document(lib.penta_vm_describe_json, self._handle)
        return out

    def text(self, show_memory: bool = False) -> str:
        """The state as lines."""
        return filled(lib.penta_vm_text, self._handle, *options({"show-memory": show_memory})).decode("utf-8", "replace")

    def findings(self) -> List[Finding]:
        """Warnings about what has run so far."""
        found = Findings()
        lib.penta_vm_findings(self._handle, found.report, None)
        return found.found

    def peek(self, address: int, size: int) -> bytes:
        out = bytearray(word(size, "a size"))
        self.peek_into(address, out)
        return bytes(out)

    def peek_into(self, address: int, into: Union[bytearray, memoryview]) -> None:
        """Fills a writable buffer."""
        view = View(into, writable=True)
        if not lib.penta_vm_peek(self._handle, word(address, "an address"), view.address, view.size):
            raise IndexError(f"{view.size} bytes at {address:#x} are not all mapped")

    def poke(self, address: int, data: Buffer) -> None:
        """Writes bytes, a bytearray, a memoryview or anything else with a buffer."""
        view = View(data)
        if not lib.penta_vm_poke(self._handle, word(address, "an address"), view.address, view.size):
            raise IndexError(f"{view.size} bytes at {address:#x} are not all mapped")

    def mark(self, pc: int, on: bool = True) -> None:
        """A breakpoint."""
        if not lib.penta_vm_mark(self._handle, word(pc, "a pc"), on):
            raise IndexError(f"no instruction at {pc}")

    # ---- by name ----

    def eval(self, expression: str) -> Union[int, float, bool]:  # noqa: A003
        """The value of an expression over registers, variables, memory and the state: "a0 + 1", "u32[sp]"."""
        raw = types.penta_value()
        checked(lib.penta_vm_eval, self._handle, text(expression), ctypes.byref(raw))
        out: Union[int, float, bool] = value(raw)  # type: ignore[assignment]
        return out

    def value(self, path: str) -> Optional[str]:
        """What is at a path of the state, as text; None: nothing is."""
        out = Filled()
        found = lib.penta_vm_value(self._handle, text(path), out.ref)
        return out.take().decode("utf-8", "replace") if found else None

    def frames(self) -> List[Frame]:
        """The calls that are open, innermost first."""
        count = lib.penta_vm_frames(self._handle, None, 0)
        raw = (types.penta_frame * max(count, 1))()
        return [Frame(one.pc, one.depth) for one in raw[:lib.penta_vm_frames(self._handle, raw, count)]]

    def variables(self, frame: int = 0) -> List[Variable]:
        """Registers and variables of a frame, 0 being the innermost."""
        return reported(types.penta_variable_report, _variable, lib.penta_vm_variables, self._handle, frame)

    def accesses(self, pc: int) -> List[Access]:
        """What the instruction at pc reads and writes if it is the next one."""
        return reported(types.penta_access_report, _access, lib.penta_vm_accesses, self._handle, word(pc, "a pc"))

    def regions(self) -> List[Region]:
        """Memory that is mapped, in the order of addresses."""
        return reported(types.penta_region_report, lambda raw: Region(raw.address, raw.size, raw.writable),
                        lib.penta_vm_regions, self._handle)

    # ---- snapshots ----

    def save(self) -> bytes:
        return filled(lib.penta_vm_save, self._handle)

    def load(self, saved: Buffer) -> None:
        if self._session is not None:
            self._session._idle()
        view = View(saved)
        checked(lib.penta_vm_load, self._handle, view.bytes)


def _results(results: Sequence[int]) -> Tuple[Any, int]:
    values = [word(result, "a result", signed=True) for result in results]
    return (ctypes.c_uint64 * max(len(values), 1))(*values), len(values)


class Session:
    """A machine together with its host. Host calls are answered by `host`, then by the default host of the format; a
    call that neither answers stops the run with kind "host", and answer() may answer it."""

    _running = False

    def __init__(self, module: "Module", engine: Optional[str] = None, host: Optional[HostCall] = None,
                 **run_options: OptionValue) -> None:
        self.module = module
        self._failure: List[BaseException] = []
        self._options = run_options
        self._handle: int = checked(lib.penta_session_new, module._handle, text(engine), *options(run_options), None)
        self._ask: Any = None
        self._take: Any = None
        self._lines: List[bytes] = []
        if host:
            self.set_host(host)

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", 0), 0
        if handle:
            lib.penta_session_free(handle)

    def _idle(self) -> None:
        if self._running:
            raise RuntimeError("the session is running: its host may answer the call and use the machine's memory, but not "
                               "run, load or end the session")

    @contextlib.contextmanager
    def _run(self) -> Iterator[None]:
        """Around everything that makes the machine run: its host is called in there, and must not do it again."""
        self._idle()
        self._running = True
        try:
            yield
        finally:
            self._running = False

    @property
    def machine(self) -> Machine:
        """To look at and to change, not to run."""
        return Machine(lib.penta_session_vm(self._handle), self.module, self)

    # ---- a run written down, and repeated ----

    def record(self) -> None:
        """From now on the run is written down, for recorded()."""
        self._idle()
        lines = self._lines = []
        self._take = types.penta_piece(lambda _user, piece: lines.append(ctypes.string_at(piece.data, piece.size)))
        checked(lib.penta_session_record, self._handle, *options(self._options), self._take, None)

    def recorded(self) -> bytes:
        """The run so far, as lines of JSON; finish() adds the last one."""
        return b"".join(self._lines)

    def load(self, saved: Buffer) -> None:
        """Continues from a snapshot of a machine of the same program."""
        self._idle()
        view = View(saved)
        checked(lib.penta_session_load, self._handle, view.bytes)

    # ---- the host ----

    def set_host(self, host: Optional[HostCall]) -> None:
        self._idle()
        this = weakref.ref(self)

        def ask(_user: Any, _session: Any, raw: Any) -> bool:
            session = this()
            if session is None or host is None or session._failure:
                return False
            try:
                results = host(session, stop(raw.contents))
                if results is None:
                    return False
                session.answer(*([results] if isinstance(results, int) else results))
                return True
            except BaseException as error:  # not through C code: raised again when the run returns
                session._failure.append(error)
                return False

        self._ask = types.penta_host_call(ask) if host else types.penta_host_call()
        lib.penta_session_set_host(self._handle, self._ask, None)

    def _returned(self) -> None:
        if self._failure:
            raise self._failure.pop()

    def stop_at_calls(self, on: bool = True) -> None:
        """The default host answers nothing: every host call stops the run."""
        lib.penta_session_stop_at_calls(self._handle, on)

    def answer(self, *results: int, gas: int = 0, end: str = "goes_on") -> None:
        """Answers the call that waits. gas: what it costs; end: goes_on, ends, traps or unpaid."""
        try:
            how = constants["PENTA_CALL_" + end.upper()]
        except KeyError:
            raise ValueError(f"a call goes_on, ends, traps or is unpaid, not {end!r}") from None
        if gas or how:
            lib.penta_session_settle(self._handle, word(gas, "gas"), how)
        checked(lib.penta_session_answer, self._handle, *_results(results))

    def answer_default(self) -> None:
        """Lets the default host answer the call that waits."""
        checked(lib.penta_session_answer_default, self._handle)

    # ---- running ----

    def run(self, fuel: Optional[int] = None) -> Stop:
        """At most fuel instructions; None: until a stop that nobody answers."""
        raw = types.penta_stop()
        with self._run():
            lib.penta_session_run(self._handle, _fuel(fuel), ctypes.byref(raw))
        self._returned()
        return stop(raw)

    def step(self) -> Stop:
        return self.run(1)

    def trace(self, fuel: Optional[int] = None, **trace_options: OptionValue) -> Tuple[List[Document], Stop]:
        """Runs, with a dict for each instruction: step, pc, text, changes. Options: from_, count, last, match, inner."""
        lines: List[Document] = []
        raw = types.penta_stop()
        line = types.penta_piece(lambda _user, piece: lines.append(
            json.loads(ctypes.string_at(piece.data, piece.size))))
        with self._run():
            checked(lib.penta_trace_lines, self._handle, _fuel(fuel), *options({**trace_options, "json": True}), line, None,
                    ctypes.byref(raw))
        self._returned()
        return lines, stop(raw)

    def trace_text(self, fuel: Optional[int] = None, **trace_options: OptionValue) -> str:
        """The same as lines of text."""
        out, raw = Filled(), types.penta_stop()
        with self._run():
            checked(lib.penta_trace, self._handle, _fuel(fuel), *options(trace_options), out.ref, ctypes.byref(raw))
        self._returned()
        return out.take().decode("utf-8", "replace")

    def debugger(self) -> "Debugger":
        self._idle()
        return Debugger(self)

    def count(self) -> None:
        """From now on executions are counted, for profile(). Engines that compile cannot."""
        self._idle()
        checked(lib.penta_session_count, self._handle)

    def profile(self) -> "Profile":
        """What was counted so far. The session may run on."""
        return Profile(self.module, checked(lib.penta_profile_new, self._handle))

    @property
    def steps(self) -> Optional[int]:
        """Instructions executed so far; None: the engine does not count."""
        count: int = lib.penta_session_steps(self._handle)
        return None if count == UNBOUNDED else count

    @property
    def calls(self) -> int:
        """Host calls that were answered."""
        return int(lib.penta_session_calls(self._handle))

    @property
    def failure(self) -> Optional[Finding]:
        """Why an answer could not be given or applied."""
        raw = lib.penta_session_failure(self._handle)
        return finding(raw.contents) if raw else None

    # ---- what the program and the host say ----

    def output(self) -> bytes:
        """What the program printed since the last time."""
        out = Filled()
        checked(lib.penta_session_output, self._handle, out.ref, None)
        return out.take()

    def errors(self) -> bytes:
        """The same for its standard error, where it has one."""
        out = Filled()
        checked(lib.penta_session_output, self._handle, None, out.ref)
        return out.take()

    def keep_log(self, most: int) -> None:
        """Keeps a log of at most so many host calls from now on; 0: none."""
        lib.penta_session_keep_log(self._handle, word(most, "a number of calls"), True)

    def log(self) -> List[Document]:
        """The calls since the last time: dicts with call, name, pc, args, answered and results."""
        return [json.loads(line) for line in filled(lib.penta_session_log, self._handle).splitlines()]

    @property
    def console(self) -> bool:
        """The program is one for a console: its output is its result."""
        return bool(lib.penta_session_is_console(self._handle))

    def finish(self, last: Stop) -> Document:
        """After the last run: what the host has to tell. Hosts that keep a store write it now."""
        self._idle()
        out: Document = document(lib.penta_session_finish, self._handle, ctypes.byref(raw_stop(last)), True)
        return out

    def files(self) -> List[Document]:
        """The files of a console program that lie in memory: dicts with path and size."""
        out: List[Document] = document(lib.penta_session_files, self._handle)
        return out

    def file(self, path: str) -> bytes:
        """The bytes of a file of a console program; the path is the program's."""
        return filled(lib.penta_session_file_get, self._handle, path.encode())

    def put_file(self, path: str, data: Buffer) -> None:
        """Makes a file, with the folders on the way to it, or gives it other bytes."""
        view = View(data)
        checked(lib.penta_session_file_put, self._handle, path.encode(), view.bytes)

    def save_host(self) -> bytes:
        """The state of the host, as its option state reads it."""
        return filled(lib.penta_session_save_host, self._handle)


class Replay(Session):
    """A session that repeats a recorded run, without its host."""

    def __init__(self, module: "Module", recorded: Buffer, engine: Optional[str] = None) -> None:
        view = View(recorded)
        self._record: int = checked(lib.penta_record_new, view.bytes)
        self.module = module
        self._failure = []
        self._options = {}
        self._ask = self._take = None
        self._lines = []
        self._handle = checked(lib.penta_session_replay, module._handle, text(engine), self._record)

    @property
    def recorded_calls(self) -> int:
        return int(lib.penta_record_calls(self._record))

    @property
    def recorded_options(self) -> List[Tuple[str, str]]:
        """Those that the recorded session was made with."""
        count = ctypes.c_size_t()
        found = lib.penta_record_options(self._record, ctypes.byref(count))
        return [(one.key.decode(), one.value.decode()) for one in found[:count.value]]

    @property
    def recorded_end(self) -> Optional[Stop]:
        """How the recorded run ended; None: the record does not say."""
        raw = types.penta_stop()
        return stop(raw) if lib.penta_record_end(self._record, ctypes.byref(raw)) else None

    @property
    def same_file(self) -> bool:
        """The record is of this very file. Else the run is repeated as long as its calls are the same."""
        return bool(lib.penta_record_is_of(self._record, self.module._handle))

    def __del__(self) -> None:
        super().__del__()
        record, self._record = getattr(self, "_record", 0), 0
        if record:
            lib.penta_record_free(record)


from .debugger import Debugger  # noqa: E402  they need Session
from .profile import Profile  # noqa: E402
