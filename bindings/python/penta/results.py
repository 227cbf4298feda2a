"""What was found, for other programs: findings as SARIF 2.1.0, results of tests as JUnit XML. penta/results.h.

    found = results.Sarif()
    found.add("prog.pvm", module.validate(), module)
    with open("penta.sarif", "wb") as file:
        file.write(found.write())
"""
from __future__ import annotations

import ctypes
from typing import Optional, Sequence

from ._core import Buffer, Filled, Finding, View, checked, raw_finding, text
from ._library import lib, names, types
from .module import Module

_VERDICTS = names("penta_case_verdict", "PENTA_CASE_")


class Sarif:
    """Findings of many files in one document."""

    def __init__(self) -> None:
        self._handle = lib.penta_sarif_new()
        if not self._handle:
            raise MemoryError

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", None), None
        lib.penta_sarif_free(handle)

    def add(self, file: Optional[str], findings: Sequence[Finding], module: Optional[Module] = None,
            source: Optional[str] = None) -> None:
        """What was found in one file. With its module each finding has the path of its place, with the source text its
        line and column."""
        kept = lib.penta_findings_new()
        view = None if source is None else View(source.encode("utf-8", "surrogateescape"))
        try:
            for one in findings:
                lib.penta_findings_add(kept, ctypes.byref(raw_finding(one)))
            checked(lib.penta_sarif_findings, self._handle, text(file), kept, module._handle if module else None,
                    None if view is None else ctypes.byref(view.bytes))
        finally:
            lib.penta_findings_free(kept)

    def add_document(self, json: Buffer) -> None:
        """The diagnostics of a document that a command of the tool printed with --json, or of a line of penta batch."""
        checked(lib.penta_sarif_document, self._handle, View(json).bytes)

    def write(self) -> bytes:
        out = Filled()
        checked(lib.penta_sarif_write, self._handle, out.ref)
        return out.take()


class Junit:
    """Results of tests in one document; cases of one suite follow each other."""

    def __init__(self) -> None:
        self._handle = lib.penta_junit_new()
        if not self._handle:
            raise MemoryError

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", None), None
        lib.penta_junit_free(handle)

    def add(self, suite: str, name: str, verdict: str = "passed", message: Optional[str] = None,
            lines: Optional[str] = None) -> None:
        """verdict: passed, failed, error or skipped."""
        one = types.penta_case(text(suite), text(name), _VERDICTS.index(verdict), text(message), text(lines))
        lib.penta_junit_add(self._handle, ctypes.byref(one))

    def add_line(self, suite: str, json: Buffer) -> None:
        """A line of penta batch."""
        checked(lib.penta_junit_line, self._handle, text(suite), View(json).bytes)

    def write(self) -> bytes:
        out = Filled()
        checked(lib.penta_junit_write, self._handle, out.ref)
        return out.take()
