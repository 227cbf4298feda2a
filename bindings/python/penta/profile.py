"""Where a run spends its instructions, its gas or its operations, and what never ran: penta/profile.h.

    session = module.session()
    session.count()
    session.run()
    profile = session.profile()
    profile.table(by="line", top=10)
    profile.coverage()
"""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, List, Optional, Tuple

from ._core import Buffer, Document, View, checked, document, filled, options, text, word
from ._library import lib, types

if TYPE_CHECKING:
    from .module import Module


@dataclass(frozen=True)
class Path:
    """A way of calls to a function."""
    parent: Optional[int]    # index of a path before this one; None: it was not called from another
    function: Optional[int]  # index in structure()["functions"]; None: deeper than paths are kept apart
    calls: int
    executions: int  # in the function itself
    cost: int


_NONE = ctypes.c_size_t(-1).value


class Profile:
    """Counts of a run, or of several runs of the same program."""

    def __init__(self, module: "Module", handle: int = 0) -> None:
        """Without a handle: of a program that never ran, for read() and add()."""
        self.module = module
        self._handle: int = handle or checked(lib.penta_profile_empty, module._handle)

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", 0), 0
        if handle:
            lib.penta_profile_free(handle)

    @property
    def unit(self) -> str:
        return str(lib.penta_profile_unit(self._handle).decode())

    @property
    def cost_name(self) -> Optional[str]:
        """What is counted besides executions: "gas", "operations"."""
        name = lib.penta_profile_cost_name(self._handle)
        return name.decode() if name else None

    @property
    def total(self) -> int:
        return int(lib.penta_profile_total(self._handle))

    @property
    def total_cost(self) -> int:
        return int(lib.penta_profile_total_cost(self._handle))

    def at(self, pc: int) -> Optional[Tuple[int, int]]:
        """Executions and cost of one instruction; None: none is at pc."""
        executions, cost = ctypes.c_uint64(), ctypes.c_uint64()
        found = lib.penta_profile_at(self._handle, word(pc, "a pc"), ctypes.byref(executions), ctypes.byref(cost))
        return (executions.value, cost.value) if found else None

    def paths(self) -> List[Path]:
        """Parents come before their children."""
        out: List[Path] = []
        raw = types.penta_path()
        while lib.penta_profile_path_at(self._handle, len(out), ctypes.byref(raw)):
            out.append(Path(None if raw.parent == _NONE else raw.parent, None if raw.function == _NONE else raw.function,
                            raw.calls, raw.executions, raw.cost))
        return out

    def structure(self) -> Document:
        """The functions that paths are about."""
        out: Document = document(lib.penta_structure_json, lib.penta_profile_structure(self._handle))
        return out

    # ---- views ----

    def table(self, by: str = "function", weight: Optional[str] = None, top: Optional[int] = None) -> Document:
        """By function, block, line or instruction, the largest first: unit, total, cost and rows."""
        out: Document = document(lib.penta_profile_table, self._handle,
                                 *options({"by": by, "weight": weight, "top": top, "json": True}))
        return out

    def table_text(self, by: str = "function", weight: Optional[str] = None, top: Optional[int] = None) -> str:
        return self._text(lib.penta_profile_table, *options({"by": by, "weight": weight, "top": top}))

    def folded(self, weight: Optional[str] = None) -> str:
        """Call paths as lines "outer;inner COUNT", which flame graph tools read."""
        return self._text(lib.penta_profile_folded, *options({"weight": weight}))

    def flamegraph(self, weight: Optional[str] = None, title: Optional[str] = None) -> str:
        """The same as a picture (SVG)."""
        return self._text(lib.penta_profile_flamegraph, *options({"weight": weight, "title": title}))

    def coverage(self, uncovered: bool = False) -> Document:
        """How many blocks, instructions and lines ran, by function; uncovered: those that never ran."""
        out: Document = document(lib.penta_profile_coverage, self._handle,
                                 *options({"json": True, "uncovered": uncovered}))
        return out

    def coverage_text(self, uncovered: bool = False) -> str:
        return self._text(lib.penta_profile_coverage, *options({"uncovered": uncovered}))

    def lcov(self) -> str:
        """By source line, in the form of lcov's files."""
        return self._text(lib.penta_profile_lcov)

    def html(self, title: Optional[str] = None) -> str:
        """The listing with counts as a page."""
        return self._text(lib.penta_profile_html, *options({"title": title}))

    def _text(self, function: Any, *arguments: Any) -> str:
        return filled(function, self._handle, *arguments).decode("utf-8", "replace")

    # ---- several runs ----

    def write(self) -> bytes:
        """The counts, for read(), Module.report() and penta cover --data."""
        return filled(lib.penta_profile_write, self._handle)

    def read(self, counts: Buffer) -> None:
        """Adds what write() gave of the same program."""
        view = View(counts)
        checked(lib.penta_profile_read, self._handle, view.bytes)

    def add(self, other: "Profile") -> None:
        """Adds the counts of another run of the same program."""
        checked(lib.penta_profile_add, self._handle, other._handle)
