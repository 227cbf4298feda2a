"""Signing keys: PEM texts, generated, read and written."""
from __future__ import annotations

import ctypes
import os
from typing import Union

from penta.cvbc import key_types

from . import _library as _c
from .constants import Status
from .errors import SignatureError

Path = Union[str, "os.PathLike[str]"]
_TYPES = {name: number + 1 for number, name in enumerate(key_types())}


class Key:
    """A private or public key. `fingerprint` is the SHA-256 of its raw public form, in hex."""

    def __init__(self, pem: bytes) -> None:
        raw = _c.types.penta_cvbc_key()
        _c.call("key_read", _c.view(pem), ctypes.byref(raw))
        self.pem = pem
        self.algorithm: int = raw.type
        self.raw: bytes = bytes(raw.raw[:raw.size])
        self.fingerprint: str = bytes(raw.fingerprint).hex()

    def __repr__(self) -> str:
        return f"<cvbc.Key {'private' if self.private else 'public'} {self.fingerprint[:16]}>"

    @property
    def private(self) -> bool:
        return b"PRIVATE KEY-----" in self.pem

    @property
    def public_pem(self) -> bytes:
        return _c.filled("key_public", _c.view(self.pem))

    def public(self) -> "Key":
        return Key(self.public_pem)

    def save(self, path: Path) -> None:
        """Never over another file; a private key is readable by its owner alone."""
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if self.private else 0o644)
        with os.fdopen(fd, "wb") as out:
            out.write(self.pem)


KeyLike = Union[Key, Path, bytes]


def generate_key(type: str = "ed25519") -> Key:  # noqa: A002
    """A new private key: ed25519, p256, rsa2048, lms or ed25519+lms. Keys of LMS sign only as files."""
    if type not in _TYPES:
        raise ValueError(f"a key is one of {', '.join(_TYPES)}, not {type!r}")
    return Key(_c.filled("key_generate", _TYPES[type], secret=True))


def load_key(key: KeyLike) -> Key:
    """From a file, or from a PEM text as bytes."""
    if isinstance(key, Key):
        return key
    if isinstance(key, (bytes, bytearray)):
        return Key(bytes(key))
    if isinstance(key, str) and key.lstrip().startswith("-----BEGIN"):
        return Key(key.encode())
    with open(key, "rb") as file:
        return Key(file.read())


def private_pem(key: KeyLike) -> bytes:
    loaded = load_key(key)
    if not loaded.private:
        raise SignatureError("this is a public key; signing needs the private one", Status.KEY)
    return loaded.pem
