"""Steps a session in both directions: penta/session.h and penta/debug.h."""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Tuple, Union

from ._core import UNBOUNDED, Error, Stop, checked, finding, raw_value, stop, taken, text, word, words
from ._library import lib, names, types

if TYPE_CHECKING:
    from .session import Session

_KINDS = names("penta_point_kind", "PENTA_POINT_")


@dataclass(frozen=True)
class Point:
    """A breakpoint or watch with a condition."""
    number: int
    kind: str  # break, watch, read, write or access
    what: str
    pc: int  # of a break
    condition: Optional[str]
    log: Optional[str]
    ignore: int
    hits: int
    disabled: bool
    once: bool


def _point(raw: Any) -> Point:
    return Point(raw.number, _KINDS[raw.kind], raw.what.decode(), raw.pc, raw.condition.decode() if raw.condition else None,
                 raw.log.decode() if raw.log else None, raw.ignore, raw.hits, raw.disabled, raw.once)


class Debugger:
    """Steps a session in both directions. While there is one, the session is run through it only."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._handle: int = checked(lib.penta_debugger_new, session._handle)
        logged: List[Tuple[int, str]] = []
        self.logged = logged
        """What points with a log told: their number and the text."""
        self._log = types.penta_log_report(
            lambda _user, number, told: logged.append((number, taken(told).decode("utf-8", "replace"))))
        lib.penta_debugger_on_log(self._handle, self._log, None)

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", 0), 0
        if handle:
            lib.penta_debugger_free(handle)

    def close(self) -> None:
        self.session._idle()
        self.__del__()

    def _moved(self, function: Callable[..., bool], *arguments: Any) -> Stop:
        raw, error = types.penta_stop(), types.penta_error()
        with self.session._run():
            ok = function(self._handle, *arguments, ctypes.byref(raw), ctypes.byref(error))
        self.session._returned()
        if not ok and error.code:
            raise Error([finding(error)])
        return stop(raw)

    def forward(self, steps: Optional[int] = None) -> Stop:
        """By at most so many instructions; None: until something happens."""
        return self._moved(lib.penta_debugger_forward, UNBOUNDED if steps is None else word(steps, "steps"))

    def step(self, steps: int = 1) -> Stop:
        return self.forward(steps)

    def back(self, steps: int = 1) -> Stop:
        """To the start at most."""
        return self._moved(lib.penta_debugger_back, word(steps, "steps"))

    def goto(self, step: int) -> Stop:
        """To the state after exactly so many steps; the run may stop before that."""
        return self._moved(lib.penta_debugger_goto, word(step, "a step"))

    def mark(self, pc: int, on: bool = True) -> None:
        """A breakpoint."""
        if not lib.penta_debugger_mark(self._handle, word(pc, "a pc"), on):
            raise IndexError(f"no instruction at {pc}")

    @property
    def marks(self) -> List[int]:
        count = lib.penta_debugger_marks(self._handle, None, 0)
        pcs = (ctypes.c_uint64 * max(count, 1))()
        lib.penta_debugger_marks(self._handle, pcs, count)
        return list(pcs[:count])

    def watch(self, what: str, on: bool = True) -> None:
        """Stops with "break" after a change: "/registers/a0", "/registers/a0=0x2a", or memory as "ADDRESS:LENGTH"."""
        checked(lib.penta_debugger_watch, self._handle, text(what), on)

    @property
    def watches(self) -> List[str]:
        return words(lib.penta_debugger_watch_at, self._handle)

    @property
    def hit(self) -> Optional[str]:
        """The watch that stopped the last run."""
        found = lib.penta_debugger_watch_hit(self._handle)
        return found.decode() if found else None

    # ---- by name ----

    def next(self) -> Stop:  # noqa: A003
        """One instruction; a call with all that it does."""
        return self._moved(lib.penta_debugger_next)

    def step_line(self, over: bool = True) -> Stop:
        """To the start of the next source line; over: calls are not entered."""
        return self._moved(lib.penta_debugger_step_line, over)

    def finish(self) -> Stop:
        """Until the innermost call has returned."""
        return self._moved(lib.penta_debugger_finish)

    def until(self, place: Union[int, str]) -> Stop:
        """Until the instruction at a pc, or at a place as Module.find() takes it, is next."""
        pc = self.session.module.find(place) if isinstance(place, str) else word(place, "a pc")
        return self._moved(lib.penta_debugger_until, pc)

    def limit(self, steps: int) -> None:
        """next, finish and until end after so many steps with "interrupt", and resume() goes on; 0: no limit."""
        lib.penta_debugger_limit(self._handle, word(steps, "steps"))

    def resume(self) -> Stop:
        """Goes on with the motion that its limit ended."""
        return self._moved(lib.penta_debugger_resume)

    def reverse(self) -> Stop:
        """Back to where a mark, point or watch would have stopped a run forwards, or to the start."""
        return self._moved(lib.penta_debugger_reverse)

    def last_change(self, what: str) -> Optional[Tuple[int, int]]:
        """The step before the last instruction that changed a value, and its pc; None: nothing did since the start."""
        step, pc, error = ctypes.c_uint64(), ctypes.c_uint64(), types.penta_error()
        with self.session._run():
            found = lib.penta_debugger_last_change(self._handle, text(what), ctypes.byref(step), ctypes.byref(pc),
                                                   ctypes.byref(error))
        if found:
            return step.value, pc.value
        if error.code:
            raise Error([finding(error)])
        return None

    def set(self, what: str, value: Union[int, float, bool]) -> None:  # noqa: A003
        """Gives a register, a variable or memory ("u32[E]") a value; what was recorded after this step is forgotten."""
        checked(lib.penta_debugger_set, self._handle, text(what), ctypes.byref(raw_value(value)))

    # ---- points: breakpoints and watches with conditions ----

    def add(self, what: str, kind: str = "break", condition: Optional[str] = None, log: Optional[str] = None,
            ignore: int = 0, disabled: bool = False, once: bool = False) -> int:
        """A point at a place, or of a value; its number. log: text that goes to `logged` instead of a stop, with values
        for what is in braces. ignore: hits that do not count."""
        if kind not in _KINDS:
            raise ValueError(f"a point is one of {', '.join(_KINDS)}, not {kind!r}")
        number = ctypes.c_uint()
        raw = types.penta_point(kind=_KINDS.index(kind), what=text(what), condition=text(condition), log=text(log),
                                ignore=word(ignore, "a number of hits"), disabled=disabled, once=once)
        checked(lib.penta_debugger_point_add, self._handle, ctypes.byref(raw), ctypes.byref(number))
        return number.value

    def change(self, number: int, condition: Optional[str] = None, log: Optional[str] = None, ignore: int = 0,
               disabled: bool = False) -> None:
        """Condition, log, ignore and disabled of a point become these."""
        raw = types.penta_point(number=number, condition=text(condition), log=text(log),
                                ignore=word(ignore, "a number of hits"), disabled=disabled)
        checked(lib.penta_debugger_point_change, self._handle, ctypes.byref(raw))

    def remove(self, number: int) -> None:
        if not lib.penta_debugger_point_remove(self._handle, number):
            raise KeyError(number)

    @property
    def points(self) -> List[Point]:
        out: List[Point] = []
        while True:
            raw = lib.penta_debugger_point_at(self._handle, len(out))
            if not raw:
                return out
            out.append(_point(raw.contents))

    @property
    def stopped_by(self) -> Optional[int]:
        """The number of the point that stopped the last run."""
        return lib.penta_debugger_point_hit(self._handle) or None
