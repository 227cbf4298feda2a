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
    penta.tvmr       ternary networks: registers as buffers, training
    penta.conform    test vectors; penta.device: the mock GPU (where those libraries are there)
"""
from __future__ import annotations

from typing import List

from ._core import Document, Error, Finding, OptionValue, Stop, document, text, words
from ._library import lib as _lib
from .module import Module, assemble, detect, link, open
from .session import Debugger, Machine, Replay, Session

__all__ = ["Debugger", "Error", "Finding", "Machine", "Module", "OptionValue", "Replay", "Session", "Stop", "assemble",
           "detect", "engines", "formats", "instructions", "link", "open", "options", "pvm_link", "rules", "version"]
version: str = _lib.penta_version().decode()


pvm_link = link  # as it was called when there was one linker


def formats() -> List[str]:
    return words(_lib.penta_format_name)


def engines(format: str) -> List[str]:  # noqa: A002
    """The engines that can run a format; the first is the default."""
    return words(_lib.penta_engine_name, text(format))


def _about(format: str) -> Document:  # noqa: A002
    for one in document(_lib.penta_formats_json):
        if one["name"] == format:
            found: Document = one
            return found
    raise ValueError(f"there is no format {format!r}")


def options(format: str) -> List[Document]:  # noqa: A002
    """The options of a format: dicts with key, argument, uses, help and words."""
    return list(_about(format)["options"])


def instructions(format: str) -> List[Document]:  # noqa: A002
    return list(document(_lib.penta_instructions_json, text(format)))


def rules() -> List[Document]:
    """What findings are about: dicts with code, name, severity, summary and explanation."""
    return list(document(_lib.penta_rules_json))
