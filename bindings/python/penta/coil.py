"""COIL objects: built in memory, and what the compiler makes of them. penta/coil.h. penta.link() links them,
Module.compile() makes native objects.

    made = coil.Builder()
    made.function("main")
    made.variable("x", "i32")
    made.insn("MOV", coil.variable("x"), 5)
    made.insn("RET")
    made.end()
    module = made.finish()
"""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, List, Optional, Union

from ._core import Buffer, Findings, View, checked, filled, text, word, words
from ._library import constants, lib, types
from .module import Module
from .session import Machine


@dataclass(frozen=True)
class Operand:
    """Made by the functions below; a str is any operand of the text form ("i32 5", "@loop")."""
    kind: str
    text: Optional[str] = None
    number: int = 0
    real: float = 0.0


def variable(name: str) -> Operand:
    return Operand("VARIABLE", name)


def symbol(name: str) -> Operand:
    """Its address, or a branch target."""
    return Operand("SYMBOL", name)


def register(number: int) -> Operand:
    """V0 to V15."""
    return Operand("REGISTER", None, number)


def number(value: Union[int, float], type: Optional[str] = None) -> Operand:  # noqa: A002
    """Of a type ("i32"), or of what the position takes; an int or a float alone is the latter."""
    if isinstance(value, float):
        return Operand("REAL", type, 0, value)
    whole = word(value, "an operand", signed=True)
    return Operand("INT", type, whole - (whole >> 63 << 64))


def _raw(operand: Union[str, int, float, Operand]) -> Any:
    if isinstance(operand, str):
        operand = Operand("TEXT", operand)
    elif not isinstance(operand, Operand):
        operand = number(operand)
    return types.penta_coil_operand(constants["PENTA_COIL_" + operand.kind], text(operand.text), operand.number,
                                    operand.real)


class Builder:
    """Keeps the first error, which finish() raises."""

    def __init__(self, big_endian: bool = False) -> None:
        self._handle: int = lib.penta_coil_builder_new(big_endian)
        if not self._handle:
            raise MemoryError

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", 0), 0
        if handle:
            lib.penta_coil_builder_free(handle)

    def section(self, name: str) -> None:
        lib.penta_coil_builder_section(self._handle, text(name))

    def function(self, name: str, is_global: bool = True) -> None:
        lib.penta_coil_builder_function(self._handle, text(name), is_global)

    def end(self) -> None:
        """Of the function."""
        lib.penta_coil_builder_end(self._handle)

    def label(self, name: str) -> None:
        """In a function, names that start with "." are its own."""
        lib.penta_coil_builder_label(self._handle, text(name))

    def variable(self, name: str, type: str) -> None:  # noqa: A002
        lib.penta_coil_builder_variable(self._handle, text(name), text(type))

    def insn(self, mnemonic: str, *operands: Union[str, int, float, Operand]) -> None:
        raw = (types.penta_coil_operand * max(len(operands), 1))(*[_raw(operand) for operand in operands])
        lib.penta_coil_builder_insn(self._handle, text(mnemonic), raw, len(operands))

    def data(self, data: Buffer) -> None:
        view = View(data)
        lib.penta_coil_builder_data(self._handle, view.address, view.size)

    def zero(self, size: int) -> None:
        lib.penta_coil_builder_zero(self._handle, word(size, "a size"))

    def directive(self, directive: str) -> None:
        """Any directive of the text form: ".align 16", ".extern f"."""
        lib.penta_coil_builder_directive(self._handle, text(directive))

    def finish(self) -> Module:
        found = Findings()
        return Module(checked(lib.penta_coil_builder_finish, self._handle, found.report, None))


# ---- machines ----

def _machine(machine: Machine) -> int:
    if machine.module.format != "coil":
        raise TypeError(f"a machine of format coil is needed, not {machine.module.format}")
    return machine._handle


def value(machine: Machine, number: int) -> int:
    """Of register V0 to V15."""
    if not 0 <= number < 16:
        raise IndexError(f"there is no register V{number}")
    return int(lib.penta_coil_register_get(_machine(machine), number))


@dataclass(frozen=True)
class Compilation:
    functions: int
    interpreted: int  # those without native code
    instructions: int
    native_bytes: int
    nanoseconds: int
    work: int  # steps of the compiler
    simple: int  # functions that took too many, and are of level 1


def compilation(machine: Machine) -> Optional[Compilation]:
    """What the compiler made of the program of a machine of engine "jit"."""
    raw = types.penta_coil_compilation()
    if not lib.penta_coil_compiled(_machine(machine), ctypes.byref(raw)):
        return None
    return Compilation(raw.functions, raw.interpreted, raw.instructions, raw.native_bytes, raw.nanoseconds,
                       raw.work, raw.simple)


def passes() -> List[str]:
    """Of the compiler, in their order."""
    return words(lib.penta_coil_pass_name)


def pass_text(machine: Machine, name: str) -> str:
    """Each function as text, as it is after a pass."""
    return filled(lib.penta_coil_pass_text, _machine(machine), text(name)).decode("utf-8", "replace")
