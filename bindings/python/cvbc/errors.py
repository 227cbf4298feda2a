"""The exceptions of this package."""
from __future__ import annotations

from typing import Dict, List, Type

from penta import Finding

from .constants import Status


class CVBCError(Exception):
    """`code` is a Status, `findings` has everything that the library reported."""

    def __init__(self, message: str, code: int = Status.ARG, findings: List[Finding] = []) -> None:
        super().__init__(message)
        self.code = Status(code)
        self.findings = list(findings)


class FormatError(CVBCError):
    """The bytes, text or values are not a container, program or record."""


class SignatureError(CVBCError):
    """Unsigned, signed by nobody who is trusted, or changed after signing."""


class DecryptError(CVBCError):
    """No key, or not the right one."""


class TargetError(CVBCError):
    """The program does not fit the board."""


_KINDS: Dict[int, Type[CVBCError]] = {
    Status.ARG: CVBCError, Status.IO: CVBCError, Status.NOMEM: CVBCError,
    Status.UNSIGNED: SignatureError, Status.KEY: SignatureError, Status.SIGNATURE: SignatureError,
    Status.DECRYPT: DecryptError, Status.TARGET: TargetError,
}


def error_of(findings: List[Finding], status: int) -> CVBCError:
    status = status or Status.ARG
    text = "; ".join(f"{f.message} ({f.note})" if f.note else f.message for f in findings) or "failed"
    return _KINDS.get(status, FormatError)(text, status, findings)
