"""PolkaVM and JAM programs for embedders: calls by export, registers, gas, memory, pools of machines. penta/pvm.h.

    pool = pvm.Pool(penta.open(blob), gas=10**9)
    machine = pool.take()
    machine.call("add", 1, 2)
    while machine.run().kind == "host":
        machine.answer(0)
    machine.register("a0")
"""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Union

from ._core import Buffer, OptionValue, View, checked, options, taken, text, word
from ._library import constants, lib, types
from .module import Module
from .session import Machine as AnyMachine
from .session import Session

REGISTERS: Dict[str, int] = {name: constants["PENTA_PVM_" + name.upper()]
                             for name in "ra sp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5".split()}


def _program(module: Module) -> int:
    if module.format != "pvm":
        raise TypeError(f"a module of format pvm is needed, not {module.format}")
    return module._handle


def export(module: Module, name: str) -> Optional[int]:
    """The code offset of an export."""
    pc = ctypes.c_uint32()
    return pc.value if lib.penta_pvm_export(_program(module), text(name), ctypes.byref(pc)) else None


def import_name(module: Module, number: int) -> Optional[str]:
    """The name of a host call's number."""
    name = types.penta_bytes()
    found = lib.penta_pvm_import(_program(module), number, ctypes.byref(name))
    return taken(name).decode("utf-8", "replace") if found else None


class Machine(AnyMachine):
    """A machine of the format, to be called as often as one likes."""

    def __init__(self, module: Module, engine: Optional[str] = None, **run_options: OptionValue) -> None:
        super().__init__(checked(lib.penta_vm_new, _program(module), text(engine), *options(run_options), None), module)
        self._pool: Optional["Pool"] = None

    @classmethod
    def of(cls, session: Session) -> "Machine":
        """The machine of a session, for hosts that change it before they answer."""
        _program(session.module)
        return cls._made(lib.penta_session_vm(session._handle), session.module, session, None)

    @classmethod
    def _made(cls, handle: int, module: Module, session: Optional[Session], pool: Optional["Pool"]) -> "Machine":
        machine = cls.__new__(cls)
        AnyMachine.__init__(machine, handle, module, session)
        machine._pool = pool
        return machine

    # ---- calls ----

    def call(self, entry: Union[str, int], *arguments: int) -> None:
        """Prepares a call of an export, or of a pc, with up to nine arguments; run() makes it, and "halt" ends it."""
        pc = export(self.module, entry) if isinstance(entry, str) else word(entry, "a pc")
        if pc is None:
            raise KeyError(entry)
        given = [word(argument, "an argument", signed=True) for argument in arguments]
        if not lib.penta_pvm_call(self._handle, pc, (ctypes.c_uint64 * max(len(given), 1))(*given), len(given)):
            raise ValueError(f"{len(given)} arguments are too many, or no instruction is at {pc}")

    def jump(self, pc: int) -> None:
        """The next run starts here, registers as they are."""
        lib.penta_pvm_jump(self._handle, word(pc, "a pc"))

    def end_call(self) -> None:
        """For the answer to come: it ends the call instead of going on with it."""
        lib.penta_pvm_end_call(self._handle)

    def reset(self) -> None:
        """As new, memory and gas included."""
        lib.penta_pvm_reset(self._handle)

    # ---- state ----

    def register(self, name: str) -> int:
        return int(lib.penta_pvm_register_get(self._handle, REGISTERS[name]))

    def set_register(self, name: str, value: int) -> None:
        lib.penta_pvm_register_set(self._handle, REGISTERS[name], word(value, "a register", signed=True))

    @property
    def gas(self) -> int:
        return int(lib.penta_pvm_gas_get(self._handle))

    @gas.setter
    def gas(self, value: int) -> None:
        if value >= 2**63 or not lib.penta_pvm_gas_set(self._handle, value):
            raise ValueError(f"gas cannot be {value}, or the machine is not metered")

    def readable(self, address: int, size: int) -> bool:
        """The program itself may read all of these bytes; peek() reaches all that is mapped."""
        return bool(lib.penta_pvm_readable(self._handle, word(address, "an address"), word(size, "a size")))

    def writable(self, address: int, size: int) -> bool:
        return bool(lib.penta_pvm_writable(self._handle, word(address, "an address"), word(size, "a size")))

    def read(self, address: int, size: int) -> bytes:
        """Memory that the program may read."""
        if not self.readable(address, size):  # before there is memory for the answer
            raise IndexError(f"the program cannot read {size} bytes at {address:#x}")
        view = View(out := bytearray(size), writable=True)
        lib.penta_pvm_read(self._handle, address, view.address, size)
        return bytes(out)

    def write(self, address: int, data: Buffer) -> None:
        """Memory that the program may write."""
        view = View(data)
        if not lib.penta_pvm_write(self._handle, word(address, "an address"), view.address, view.size):
            raise IndexError(f"the program cannot write {view.size} bytes at {address:#x}")

    def map(self, address: int, length: int, writable: bool = True) -> None:  # noqa: A003
        """Whole pages, zeroed."""
        self._pages(lib.penta_pvm_map, address, length, writable)

    def unmap(self, address: int, length: int) -> None:
        self._pages(lib.penta_pvm_unmap, address, length)

    def protect(self, address: int, length: int, writable: bool) -> None:
        self._pages(lib.penta_pvm_protect, address, length, writable)

    def _pages(self, function: Any, address: int, length: int, *how: bool) -> None:
        if not function(self._handle, word(address, "an address"), word(length, "a length"), *how):
            raise ValueError(f"{length} bytes at {address:#x} are not whole pages that can be changed so")

    def grow_heap(self, size: int) -> int:
        """As the instruction sbrk: the heap's new top, or 0 when it cannot grow."""
        if not 0 <= size < 2**32:
            raise OverflowError(f"a heap cannot grow by {size}")
        return int(lib.penta_pvm_grow_heap(self._handle, size))

    def difference(self) -> Optional[str]:
        """What two engines disagree about, of a machine of engine "both" that stopped with "disagree"."""
        raw = types.penta_pvm_difference()
        return raw.what.decode() if lib.penta_pvm_difference_of(self._handle, ctypes.byref(raw)) else None


class Pool:
    """Machines that share one prepared program, which is compiled once. May be shared between threads."""

    def __init__(self, module: Module, engine: Optional[str] = None, **run_options: OptionValue) -> None:
        self.module = module
        self._handle: int = checked(lib.penta_pvm_pool_new, _program(module), text(engine), *options(run_options))

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", 0), 0
        if handle:
            lib.penta_pvm_pool_free(handle)

    def take(self) -> Machine:
        """A machine in its initial state. When it is no longer used it goes back."""
        return Machine._made(checked(lib.penta_pvm_pool_take, self._handle), self.module, None, self)


# ---- compiled code ----

@dataclass(frozen=True)
class Native:
    """An instruction of the program and its machine code."""
    pc: int
    starts_block: bool
    offset: int    # of its machine code, in all of it
    code: bytes    # empty: it is part of the one before


@dataclass(frozen=True)
class Compiled:
    instructions: int
    code_bytes: int
    native_bytes: int
    nanoseconds: int
    listing: List[Native]


def compile(module: Module, **run_options: OptionValue) -> Compiled:  # noqa: A001
    """What the engine "jit" makes of a program, to look at."""
    summary, one = types.penta_pvm_compilation(), types.penta_pvm_instruction()
    made = checked(lib.penta_pvm_compile, _program(module), *options(run_options), None, ctypes.byref(summary))
    listing: List[Native] = []
    try:
        pc = 0
        while lib.penta_pvm_compiled_at(made, pc, ctypes.byref(one)):
            listing.append(Native(one.pc, one.starts_block, one.offset, taken(one.native)))
            pc = one.pc + 1
    finally:
        lib.penta_pvm_compiled_free(made)
    return Compiled(summary.instructions, summary.code_bytes, summary.native_bytes, summary.nanoseconds, listing)
