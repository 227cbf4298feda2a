"""CockpitVM containers by the options of the tool: penta/cvbc.h. The package `cvbc` has the interface that the format's
document describes, with records and a builder."""
from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from typing import Any, List, Mapping, Optional, Sequence, Tuple

from ._core import (Buffer, Error, Filled, Finding, Findings, OptionValue, View, checked, filled, finding, options, taken,
                    text, words)
from ._library import constants, lib, names, types
from .module import Module


def _container(module: Module) -> int:
    if module.format != "cvbc":
        raise TypeError(f"a module of format cvbc is needed, not {module.format}")
    return module._handle


# ---- keys ----

def key_types() -> List[str]:
    named = lib.penta_cvbc_key_name
    return words(lambda i: None if named(i + 1) is None else bytes(named(i + 1)))


def generate_key(type: str = "ed25519", parameters: Optional[str] = None) -> bytes:  # noqa: A002
    """A private key as PEM. `parameters` are those of an LMS key, such as "h10/w8"."""
    if type not in key_types():
        raise ValueError(f"a key is one of {', '.join(key_types())}, not {type!r}")
    out = Filled()
    try:
        checked(lib.penta_cvbc_key_generate_lms, key_types().index(type) + 1, parameters.encode() if parameters else None, out.ref)
        return out.take()
    finally:
        lib.penta_cvbc_wipe(out.ref)


def reserve_key(path: str, count: int, state: Optional[str] = None) -> bytes:
    """Takes `count` signatures from the LMS key in a file: a private key as PEM that makes only these. `state` is the folder
    of the option key_state."""
    out = Filled()
    try:
        checked(lib.penta_cvbc_key_reserve, os.fsencode(path), os.fsencode(state) if state else None, count, out.ref)
        return out.take()
    finally:
        lib.penta_cvbc_wipe(out.ref)


def signatures_left(pem: Buffer) -> Optional[int]:
    """How many signatures a private key can still make; None: there is no limit."""
    view, left = View(pem), ctypes.c_uint64()
    checked(lib.penta_cvbc_key_left, view.bytes, ctypes.byref(left))
    return None if left.value == 2 ** 64 - 1 else left.value


def public_key(pem: Buffer) -> bytes:
    """The public half of a key, as PEM."""
    view = View(pem)
    return filled(lib.penta_cvbc_key_public, view.bytes)


def fingerprint(pem: Buffer) -> str:
    """SHA-256 of the raw public key, in hex."""
    view, key = View(pem), types.penta_cvbc_key()
    checked(lib.penta_cvbc_key_read, view.bytes, ctypes.byref(key))
    return bytes(key.fingerprint).hex()


# ---- signatures ----

@dataclass(frozen=True)
class Verdict:
    """What is signed, by whom, and what was checked. good: signature and contents, under the policy of the module."""
    good: bool
    summary: str
    failure: Optional[Finding]
    trust: str               # none, embedded (a key in the file, which anybody can embed) or key
    algorithm: Optional[str]  # None: not signed
    fingerprint: Optional[str]
    trusted_key: Optional[int]  # which of the module's trusted keys
    contents_checked: bool


def verify(module: Module, require_signature: bool = True, require_low_s: bool = False) -> Verdict:
    """Under the policy of the module: penta.open(data, trusted_key=["key.pub"], key_file="key", ...)."""
    raw = types.penta_cvbc_verdict()
    lib.penta_cvbc_verify(_container(module), require_signature, require_signature and require_low_s, ctypes.byref(raw))
    name = lib.penta_cvbc_name(b"signature_algorithm", raw.algorithm) if raw.algorithm else None
    trust = names("penta_cvbc_trust", "PENTA_CVBC_TRUST_")[raw.trust]
    return Verdict(not raw.failure.code, raw.summary.decode(), finding(raw.failure) if raw.failure.code else None, trust,
                   name.decode() if name else None, bytes(raw.fingerprint).hex() if raw.signature_good else None,
                   raw.trusted_key if trust == "key" else None, raw.contents_checked)


def objection(module: Module) -> Optional[Finding]:
    """Why the file should not be used, even where its program does not matter."""
    raw = lib.penta_cvbc_objection(_container(module))
    return finding(raw.contents) if raw else None


def sealed_only(module: Module) -> Optional[Finding]:
    """A warning when the file is sealed and not signed: the fields that the seal does not cover may be anybody's."""
    raw = types.penta_error()
    return finding(raw) if lib.penta_cvbc_sealed_only(_container(module), ctypes.byref(raw)) else None


def check_source(module: Module, source: List[str]) -> bool:
    """Whether the file was built from these files, in this order."""
    try:
        checked(lib.penta_cvbc_check_source, _container(module), *options({"source": source}))
        return True
    except Error as error:
        if error.name != "HASH":
            raise
        return False


def sign(module: Module, replaced: Optional[List[Finding]] = None, **sign_options: OptionValue) -> bytes:
    """Options: sign_key, or public_key to leave space for a signature made elsewhere; external_key, hash, resign. What
    resign replaced is appended to replaced."""
    found, out = Findings(), Filled()
    checked(lib.penta_cvbc_sign_options, _container(module), *options(sign_options), out.ref, found.report, None)
    if replaced is not None:
        replaced += found.found
    return out.take()


def to_be_signed(module: Module) -> bytes:
    """The 40 bytes that are signed."""
    out = ctypes.create_string_buffer(40)
    checked(lib.penta_cvbc_tbs, _container(module), out)
    return out.raw


def attach(module: Module, signature: Buffer) -> bytes:
    """Puts a signature over to_be_signed(), raw or DER, into the space left for it."""
    view = View(signature)
    return filled(lib.penta_cvbc_attach, _container(module), view.bytes)


# ---- what is inside, and new files ----

def parts() -> List[str]:
    return words(lib.penta_cvbc_part_name)


def part(module: Module, name: str = "bytecode") -> bytes:
    out = types.penta_bytes()
    checked(lib.penta_cvbc_part, _container(module), text(name), ctypes.byref(out))
    return taken(out)


def _created(programs: Sequence[Tuple[Optional[str], Module]], create_options: Mapping[str, OptionValue]) -> bytes:
    named = (types.penta_cvbc_named * max(len(programs), 1))()
    for one, (name, module) in zip(named, programs):
        one.name, one.module = text(name), _container(module)
    return filled(lib.penta_cvbc_create, named, len(programs), *options(create_options))


def create(module: Module, **create_options: OptionValue) -> bytes:
    """A container from another one, with the target, pins, signature and encryption that the options name."""
    return _created([(None, module)], create_options)


def programs(module: Module) -> List[str]:
    """The names of the programs of a file that has several, the first one first; penta.open(data, program=NAME) chooses."""
    container = _container(module)

    def name(i: int) -> Optional[bytes]:
        found: Optional[bytes] = lib.penta_cvbc_program_name(container, i)
        return found
    return words(name)


def create_programs(modules: Mapping[str, Module], **create_options: OptionValue) -> bytes:
    """One container with several programs, the first one first, with the signature and encryption that the options name."""
    return _created(list(modules.items()), create_options)


def compile(source: str, name: str = "program.ino", **create_options: OptionValue) -> bytes:  # noqa: A001
    """A container from a program in the small C-like language."""
    view, found, out = View(source.encode()), Findings(), Filled()
    error = types.penta_error()
    if not lib.penta_cvbc_compile(view.bytes, text(name), *options(create_options), None, out.ref, found.report, None,
                                  ctypes.byref(error)):
        raise Error([finding(error)] if error.code else found.found)
    return out.take()


# ---- boards ----

def boards() -> List[str]:
    return words(lib.penta_cvbc_board_name)


def board_text(name: str) -> str:
    """The file of a board with a name, which can be the start of one's own."""
    return filled(lib.penta_cvbc_board_text, text(name)).decode()


def check_board(module: Module, board: str) -> List[Finding]:
    """Every reason why the program does not fit a board, by name or as the path of a board file."""
    found = Findings()
    lib.penta_cvbc_board_check(_container(module), text(board), found.report, None)
    return found.found


def board_files(modules: List[Module], board: Optional[str] = None) -> List[Tuple[str, bytes]]:
    """Name and contents of the files for the board of a firmware with these containers."""
    handles = (ctypes.c_void_p * max(len(modules), 1))(*[_container(module) for module in modules])
    out: Any = (types.penta_buffer * constants["PENTA_CVBC_TRINITY_FILES"])()
    try:
        checked(lib.penta_cvbc_trinity, handles, len(modules), text(board), out)
        return [(lib.penta_cvbc_trinity_name(i).decode(), taken(one)) for i, one in enumerate(out)]
    finally:
        for one in out:
            lib.penta_buffer_free(ctypes.byref(one))
