"""The numbers of the format: targets, pins, features, flags, algorithms, statuses, opcodes.

They come from the library: macros of cvbc_format.h without their CVBC_ (PIN_FUNC_GPIO, FEATURE_UART, SIG_ED25519 ...),
names of values (LANG_C, OPT_SPEED, CRIT_REQUIRED, SYMBOL_LABEL) and mnemonics (OP_PUSH). all_names() lists them."""
from __future__ import annotations

from enum import IntEnum
from typing import Any, Dict, List

from penta._library import constants as _constants
from penta._library import lib as _lib
from penta._library import names as _names

INST_S, INST_W, INST_V = 0x01, 0x02, 0x40  # flags of instructions: signed, wide, value on top


def _numbers() -> Dict[str, int]:
    found = {name[len("CVBC_"):]: value for name, value in _constants.items()
             if name.startswith("CVBC_") and not name.startswith("CVBC_ERR_")}
    for prefix, field in (("LANG_", b"source_language"), ("OPT_", b"optimization_level"),
                          ("COMPAT_", b"compatibility_level"), ("CRIT_", b"criticality"),
                          ("SYMBOL_", b"kind"), ("STORAGE_", b"storage")):
        for value in range(16):
            name = _lib.penta_cvbc_name(field, value)
            if name:
                found[prefix + name.decode().upper()] = value
    for opcode in range(256):
        name = _lib.penta_cvbc_mnemonic(opcode)
        if name:
            found["OP_" + name.decode().upper()] = opcode
    return found


_found = _numbers()


def all_names() -> List[str]:
    return sorted([*_found, *(name for name in globals() if name.startswith("INST_"))])


def __getattr__(name: str) -> int:
    try:
        return _found[name]
    except KeyError:
        raise AttributeError(f"the format has no {name}") from None


_make: Any = IntEnum
Status: Any = _make("Status", [name.upper().replace("ERR_", "", 1) for name in _names("cvbc_status", "CVBC_")], start=0)
Status.__doc__ = "What a check says about a file; 0 is good."
