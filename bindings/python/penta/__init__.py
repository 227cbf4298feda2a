"""penta: open, inspect, validate, disassemble, assemble, link, run and debug bytecode of five formats.

    import penta

    module = penta.open(open("kernel.kblob", "rb").read())
    for finding in module.validate():
        print(finding)
    print(module.disassemble())
    session = module.session(map="0x10000:64")
    print(session.run(), session.machine.state)

Options are keyword arguments: an underscore stands for a dash, True for a switch, and a list repeats an option
(map=["0x1000:16", "0x2000:16"]); options(format) lists them. What fails raises Error.

    penta.cvbc       signing, verifying, building and taking apart CockpitVM containers
    penta.jam        JAM services and blocks
    penta.pvm        PolkaVM programs called by export; pools of machines
    penta.coil       COIL objects built in memory
    penta.tvmr       ternary networks: registers as buffers, training
    penta.results    findings as SARIF, results of tests as JUnit XML
    penta.conform    test vectors; penta.device: the mock GPU (where those libraries are there)
"""
from __future__ import annotations

from typing import List

from ._core import Document, Error, Finding, OptionValue, Stop, document, filled, text, words
from ._library import lib as _lib
from .debugger import Debugger, Point
from .module import (Branch, Line, Module, Nested, assemble, detect, detect_deep, link, open, probe,
                     source_place)
from .profile import Path, Profile
from .session import Access, Frame, Machine, Region, Replay, Session, Variable

__all__ = ["Access", "Branch", "Debugger", "Error", "Finding", "Frame", "Line", "Machine", "Module", "Nested",
           "OptionValue", "Path", "Point", "Profile", "Region", "Replay", "Session", "Stop", "Variable", "about", "assemble",
           "detect", "detect_deep", "engine_for_run", "engines", "formats", "instructions", "link", "open", "options",
           "probe", "pvm_link", "rules", "source_place", "spec", "spec_forms", "traps", "version"]
version: str = _lib.penta_version().decode()


pvm_link = link  # as it was called when there was one linker


def formats() -> List[str]:
    return words(_lib.penta_format_name)


def engines(format: str) -> List[str]:  # noqa: A002
    """The engines that can run a format; the first is the default."""
    return words(_lib.penta_engine_name, text(format))


def about(format: str) -> Document:  # noqa: A002
    """Title, suffix, comment, exit_value, engines, uses and options of a format."""
    for one in document(_lib.penta_formats_json):
        if one["name"] == format:
            found: Document = one
            return found
    raise ValueError(f"there is no format {format!r}")


def engine_for_run(format: str, steps: bool = False) -> str:  # noqa: A002
    """The engine to choose for running a program; steps: single instructions or their number matter."""
    name = _lib.penta_engine_for_run(text(format), steps)
    if name is None:
        raise ValueError(f"there is no format {format!r}")
    return str(name.decode())


def traps(format: str) -> List[Document]:  # noqa: A002
    """Why its machines stop with "trap": dicts with number (Stop.detail), name and meaning."""
    out: List[Document] = []
    while True:
        raw = _lib.penta_trap_at(text(format), len(out))
        if not raw:
            return out
        out.append({"number": raw.contents.number, "name": raw.contents.name.decode(),
                    "meaning": raw.contents.meaning.decode()})


def options(format: str) -> List[Document]:  # noqa: A002
    """The options of a format: dicts with key, argument, uses, help and words."""
    return list(about(format)["options"])


def instructions(format: str) -> List[Document]:  # noqa: A002
    return list(document(_lib.penta_instructions_json, text(format)))


def rules() -> List[Document]:
    """What findings are about: dicts with code, name, severity, summary and explanation."""
    return list(document(_lib.penta_rules_json))


def spec_forms() -> List[str]:
    """The forms of spec(): json, ksy, hexpat, markdown."""
    return words(_lib.penta_spec_form)


def spec(format: str, form: str = "json") -> str:  # noqa: A002
    """What a format is made of, from penta's own tables, as text in one of the forms."""
    return bytes(filled(_lib.penta_spec, text(format), text(form))).decode()
