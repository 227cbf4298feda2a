"""Finds libpenta and the libraries beside it. Their structs, callbacks and functions are made from the headers:
`types.penta_stop` is a ctypes structure, `types.penta_report` a callback, `lib.penta_open` a function with its
types, `constants["PENTA_STOP_HALT"]` a number.

Pointers to bytes and to opaque handles are c_void_p, which takes bytes, arrays and addresses."""
from __future__ import annotations

import ctypes
import ctypes.util
import os
from typing import Any, Dict, Iterator, List, Optional

from . import _headers

HERE = os.path.dirname(os.path.abspath(__file__))
_found = _headers.read([
    "penta/" + name for name in sorted(os.listdir(os.path.join(_headers.folder(), "penta"))) if name.endswith(".h")
] + ["cvbc_format.h"])
constants, lists = _found.constants, _found.lists


def names(enum: str, prefix: str) -> List[str]:
    """The constants of an enum as words: names("penta_severity", "PENTA_") is error, warning, info."""
    return [name[len(prefix):].lower() for name in _found.enums[enum]]


# ---- types ----

_PLAIN: Dict[str, Any] = {
    "void": None, "bool": ctypes.c_bool, "char": ctypes.c_char, "int": ctypes.c_int, "unsigned": ctypes.c_uint,
    "double": ctypes.c_double, "float": ctypes.c_float, "size_t": ctypes.c_size_t,
    **{f"{sign}int{bits}_t": getattr(ctypes, f"c_{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)}}


class Types:
    """Types of the headers by name, made when they are first asked for."""

    def __getattr__(self, name: str) -> Any:
        if name in _PLAIN:
            return _PLAIN[name]
        if name in _found.enums:
            return ctypes.c_int
        if name not in _found.types:
            raise AttributeError(name)
        made = self._make(_found.types[name], name)
        setattr(self, name, made)
        return made

    def _make(self, type_: Any, name: str = "") -> Any:
        kind = type_[0]
        if kind == "name":
            return getattr(self, type_[1])
        if kind == "array":
            return self._make(type_[1]) * type_[2]
        if kind == "function":
            return ctypes.CFUNCTYPE(self._make(type_[1]), *(self._make(argument) for argument in type_[2]))
        if kind == "pointer":
            return self._pointer(type_[1])
        base: Any = ctypes.Union if kind == "union" else ctypes.Structure
        made: Any = type(name or kind, (base,), {})
        setattr(self, name, made)  # a struct may point to itself
        if type_[1] is not None:
            made._fields_ = [(field, self._make(of)) for field, of in type_[1]]
        return made

    def _pointer(self, target: Any) -> Any:
        named = target
        while named[0] == "name" and named[1] in _found.types:
            named = _found.types[named[1]]
        if target == ("name", "char"):
            return ctypes.c_char_p
        if target in (("name", "void"), ("name", "uint8_t")) or named == ("struct", None):
            return ctypes.c_void_p
        if named[0] == "function":
            return getattr(self, target[1]) if target[0] == "name" else self._make(target)
        return ctypes.POINTER(self._make(target))

    def function(self, type_: Any) -> Any:
        return self._make(type_[1]), [self._make(argument) for argument in type_[2]]


types = Types()


# ---- libraries ----

def _candidates(name: str) -> Iterator[str]:
    """Beside the library that PENTA_LIBRARY names, in the package, in build/release of the tree that this file is in,
    or where the system has it."""
    file = f"lib{name}.so"
    chosen = os.environ.get("PENTA_LIBRARY")
    if chosen:
        yield chosen if name == "penta" else os.path.join(os.path.dirname(chosen), file)
        return
    yield os.path.join(HERE, "lib", file)
    folder = HERE
    for _ in range(4):
        folder = os.path.dirname(folder)
        yield os.path.join(folder, "build", "release", "lib", file)
    found = ctypes.util.find_library(name)
    if found:
        yield found


class Library:
    """Functions of one shared library, with the types that the headers give them."""

    def __init__(self, name: str) -> None:
        tried = []
        self._library: Optional[ctypes.CDLL] = None
        for path in _candidates(name):
            if os.sep in path and not os.path.exists(path):
                tried.append(path)
                continue
            try:
                self._library, self.path = ctypes.CDLL(path), path
                return
            except OSError as error:
                tried.append(f"{path} ({error})")
        raise ImportError(f"lib{name} was not found; PENTA_LIBRARY may name libpenta. Tried: " + ", ".join(tried))

    def __getattr__(self, name: str) -> Any:
        if name not in _found.functions:
            raise AttributeError(name)
        function = getattr(self._library, name)
        function.restype, function.argtypes = types.function(_found.functions[name])
        setattr(self, name, function)
        return function


def device_path() -> Optional[bytes]:
    """The device executable that came with the package; None: the library looks for the installed one."""
    path = os.path.join(HERE, "lib", "penta-device")
    return os.fsencode(path) if os.path.exists(path) else None


lib = Library("penta")
_version = lib.penta_version().decode()
_expected = [constants.get("PENTA_VERSION_" + part) for part in ("MAJOR", "MINOR")]
if None not in _expected and _version.split(".")[:2] != [str(part) for part in _expected]:
    raise ImportError(f"{lib.path} is version {_version}, these are the headers of {_expected[0]}.{_expected[1]}")
