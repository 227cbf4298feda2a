"""Finds libpenta and declares the structs and functions of penta.h, by ctypes."""
from __future__ import annotations

import ctypes
import ctypes.util
import os
from ctypes import POINTER, c_bool, c_char, c_char_p, c_int, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p


def _candidates():
    """In PENTA_LIBRARY, the package, the system, or build/release of the tree that this file is in."""
    here = os.path.dirname(os.path.abspath(__file__))
    if os.environ.get("PENTA_LIBRARY"):
        yield os.environ["PENTA_LIBRARY"]
        return
    yield os.path.join(here, "libpenta.so")
    found = ctypes.util.find_library("penta")
    if found:
        yield found
    folder = here
    for _ in range(4):
        folder = os.path.dirname(folder)
        yield os.path.join(folder, "build", "release", "lib", "libpenta.so")


def _load() -> ctypes.CDLL:
    tried = []
    for path in _candidates():
        if os.sep in path and not os.path.exists(path):
            tried.append(path)
            continue
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            tried.append(f"{path} ({error})")
    raise ImportError("libpenta was not found; set PENTA_LIBRARY to it. Tried: " + ", ".join(tried))


class Error(ctypes.Structure):
    _fields_ = [("code", c_uint32), ("severity", c_int), ("offset", c_uint64), ("decoded", c_bool),
                ("message", c_char * 120), ("note", c_char * 120)]


class Bytes(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]


class Buffer(ctypes.Structure):
    _fields_ = [("data", POINTER(c_uint8)), ("size", c_size_t), ("capacity", c_size_t)]


class Option(ctypes.Structure):
    _fields_ = [("key", c_char_p), ("value", c_char_p)]


class PvmObject(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("bytes", Bytes), ("member", c_bool)]


class Guess(ctypes.Structure):
    _fields_ = [("format", c_char_p), ("confidence", c_int)]


class RawStop(ctypes.Structure):
    _fields_ = [("kind", c_int), ("detail", c_uint32), ("pc", c_uint64), ("steps", c_uint64),
                ("args", c_uint64 * 6)]


Report = ctypes.CFUNCTYPE(None, c_void_p, POINTER(Error))
LinkReport = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, POINTER(Error))

lib = _load()
_ERR, _BUF, _OPT = POINTER(Error), POINTER(Buffer), POINTER(Option)
for _name, _result, _arguments in [
    ("version", c_char_p, []),
    ("buffer_free", None, [_BUF]),
    ("format_count", c_size_t, []),
    ("format_name", c_char_p, [c_size_t]),
    ("code_text", None, [c_uint32, c_char_p]),
    ("code_name", c_char_p, [c_uint32]),
    ("detect", c_size_t, [Bytes, POINTER(Guess), c_size_t]),
    ("open", c_void_p, [Bytes, c_char_p, _OPT, c_size_t, _ERR]),
    ("close", None, [c_void_p]),
    ("module_format", c_char_p, [c_void_p]),
    ("module_damage", _ERR, [c_void_p]),
    ("describe_json", c_bool, [c_void_p, _BUF, _ERR]),
    ("info_json", c_bool, [c_void_p, _BUF, _ERR]),
    ("validate", c_bool, [c_void_p, Report, c_void_p]),
    ("encode", c_bool, [c_void_p, _BUF, _ERR]),
    ("print", c_bool, [c_void_p, _OPT, c_size_t, _BUF, _ERR]),
    ("assemble", c_void_p, [Bytes, c_char_p, _OPT, c_size_t, Report, c_void_p]),
    ("vm_new", c_void_p, [c_void_p, c_char_p, _OPT, c_size_t, _ERR]),
    ("vm_free", None, [c_void_p]),
    ("vm_run", None, [c_void_p, c_uint64, POINTER(RawStop)]),
    ("vm_answer", c_bool, [c_void_p, POINTER(c_uint64), c_size_t, _ERR]),
    ("vm_interrupt", None, [c_void_p]),
    ("vm_describe_json", c_bool, [c_void_p, _BUF, _ERR]),
    ("vm_peek", c_bool, [c_void_p, c_uint64, c_void_p, c_size_t]),
    ("vm_poke", c_bool, [c_void_p, c_uint64, c_void_p, c_size_t]),
    ("vm_mark", c_bool, [c_void_p, c_uint64, c_bool]),
    ("vm_save", c_bool, [c_void_p, _BUF, _ERR]),
    ("vm_load", c_bool, [c_void_p, Bytes, _ERR]),
    ("pvm_link", c_bool, [POINTER(PvmObject), c_size_t, _OPT, c_size_t, _BUF, _BUF, LinkReport, c_void_p]),
]:
    _function = getattr(lib, "penta_" + _name)
    _function.restype, _function.argtypes = _result, _arguments
