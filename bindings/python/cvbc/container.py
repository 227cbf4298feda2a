"""Container: made, loaded, changed and written."""
from __future__ import annotations

import ctypes
import hashlib
import os
import tempfile
import time
from dataclasses import asdict, fields
from typing import Any, Iterable, List, Optional, Sequence, Tuple, Union

from . import _library as _c
from .constants import CRIT_ENFORCED, ENC_AES256_GCM, FLAG_COMPRESSED, FLAG_DETERMINISTIC, HASH_SHA256, Status
from .errors import DecryptError, FormatError, error_of
from .keys import KeyLike, Path, load_key, private_pem
from .records import (Dependency, HardwareRequirements, Hint, Instruction, Line, Metadata, Pin, Signature, Symbol,
                      Text, Variable)

Code = Union[bytes, bytearray, memoryview, "Container", Iterable[Sequence[int]]]
SecretLike = Union[bytes, Path]
_RAW, _HKDF, _PBKDF2 = range(3)
_DERIVATIONS = {"raw": _RAW, "hkdf": _HKDF, "pbkdf2": _PBKDF2}


def _bytes(text: Text) -> bytes:
    return text.encode("utf-8", "surrogateescape") if isinstance(text, str) else bytes(text)


def _secret(key: SecretLike) -> bytes:
    """Key bytes as they are; a str or path names a file of 32 bytes or 64 hex digits."""
    if isinstance(key, (bytes, bytearray)):
        return bytes(key)
    with open(key, "rb") as file:
        data = file.read(1 << 16)
    text = data.strip()
    if len(data) != 32 and len(text) == 64:
        try:
            return bytes.fromhex(text.decode("ascii"))
        except ValueError:
            pass
    if len(data) != 32:
        raise DecryptError(f"{os.fspath(key)!r} holds neither 32 bytes nor 64 hex digits", Status.KEY)
    return data


def _any_secret(key: Optional[SecretLike], password: Optional[Text]) -> Optional[bytes]:
    if key is not None and password is not None:
        raise ValueError("either a key or a password")
    return _bytes(password) if password is not None else None if key is None else _secret(key)


def read(source: Union[Path, bytes]) -> bytes:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    with open(source, "rb") as file:
        return file.read()


class Module:
    """An opened file of the library, closed with this object."""

    def __init__(self, data: bytes, trusted: Iterable[bytes] = (), secret: Optional[bytes] = None,
                 require_signature: bool = False, program: Optional[str] = None) -> None:
        self.data, self.program = data, program
        self._view = _c.view(data)
        keys = [_c.view(pem) for pem in trusted]
        policy = _c.types.penta_cvbc_policy(trusted_count=len(keys), require_signature=require_signature)
        if keys:
            policy.trusted = (_c.types.penta_bytes * len(keys))(*keys)
        kept = _c.view(secret) if secret is not None else None
        if kept is not None:
            policy.secret = kept
        if program is not None:
            policy.program = program.encode()
        error = _c.types.penta_error()
        self.handle = _c.lib.penta_cvbc_open(self._view, ctypes.byref(policy), ctypes.byref(error))
        if not self.handle:
            raise error_of([_c.finding_of(error)], _c.lib.penta_cvbc_status(error.code))

    def __del__(self) -> None:
        handle, self.handle = getattr(self, "handle", None), None
        if handle:
            _c.lib.penta_close(handle)

    def verdict(self) -> Any:
        out = _c.types.penta_cvbc_verdict()
        _c.lib.penta_cvbc_verify(self.handle, False, False, ctypes.byref(out))
        return out

    def programs(self) -> List[str]:
        """The names of the programs, the first one first; none when there is only one."""
        names: List[str] = []
        while True:
            name = _c.lib.penta_cvbc_program_name(self.handle, len(names))
            if not name:
                return names
            names.append(name.decode())

    def part(self, name: str) -> bytes:
        """A part of the file, b"" when it has none."""
        out, error = _c.types.penta_bytes(), _c.types.penta_error()
        found = _c.lib.penta_cvbc_part(self.handle, name.encode(), ctypes.byref(out), ctypes.byref(error))
        return _c.taken(out) if found else b""


class Container:
    """A container as it will be written. A loaded one also says who signed it."""

    def __init__(self) -> None:
        self.metadata = Metadata()
        self.pins: List[Pin] = []
        self.dependencies: List[Dependency] = []
        self.hints: List[Hint] = []
        self.custom_metadata = b""
        self.entry = 0
        self.stack: Optional[int] = None
        self.variables: Optional[int] = None
        self.timestamp: Optional[int] = None
        self.secure_timestamp = 0
        self.build_number = 0
        self.source_sha256 = bytes(32)
        self.flags = 0
        self.signature: Optional[Signature] = None
        self.findings: List[Any] = []
        self._code = b""
        self._strings: List[bytes] = []
        self._debug_section = b""
        self._debug: Tuple[List[Symbol], List[Line], List[Variable]] = ([], [], [])
        self._module: Optional[Module] = None
        self._sealed = False
        self._as_loaded: Any = None

    # ---- what it is for

    def set_target(self, architecture: int = 0, family: int = 0, variant: int = 0, features: Optional[int] = None,
                   min_flash_kb: int = 0, min_ram_kb: int = 0) -> None:
        """0 is any. Features that pins need are added automatically."""
        m = self.metadata
        m.target_architecture, m.target_family, m.target_variant = architecture, family, variant
        m.target_features, m.min_flash_kb, m.min_ram_kb = features or 0, min_flash_kb, min_ram_kb
        m.feature_requirements = 0

    def add_pin_config(self, pin_number: int, port: Union[str, int], function: int, mode: int, pull: int = 0,
                       drive_strength: int = 0, frequency_hz: int = 0, alternate_function: int = 0,
                       initial_state: int = 0, flags: int = 0) -> None:
        """port is a letter or a number; above 65535 Hz the frequency is stored in kHz."""
        if isinstance(port, str):
            if len(port) != 1 or not "A" <= port.upper() <= "Z":
                raise ValueError(f"a port is one letter or a number, not {port!r}")
            port = ord(port.upper()) - 65
        if frequency_hz > 65535 and not frequency_hz % 1000:
            frequency_hz, flags = frequency_hz // 1000, flags | 4
        pin = Pin(pin_number, port, function, mode, pull, drive_strength, frequency_hz, alternate_function,
                  initial_state, flags)
        pin._pack()
        self.pins.append(pin)

    def add_dependency(self, name: str, version: Tuple[int, int] = (0, 0), features: int = 0,
                       compatibility: int = 1, criticality: int = 3) -> None:
        dependency = Dependency(name, version[0], version[1], features, compatibility, criticality)
        dependency._pack()
        self.dependencies.append(dependency)

    def add_hint(self, type: int, priority: int = 1, data: bytes = b"") -> None:  # noqa: A002
        self.hints.append(Hint(type, priority, bytes(data)))

    def set_custom_metadata(self, data: bytes) -> None:
        self.custom_metadata = bytes(data)

    def set_build_info(self, *, timestamp: Optional[int] = None, build_number: Optional[int] = None,
                       sources: Optional[Sequence[Text]] = None, source_sha256: Optional[bytes] = None,
                       secure_timestamp: Optional[int] = None,
                       compiler_version: Union[None, int, str, Tuple[int, int, int]] = None, **core: Any) -> None:
        """sources: the texts, for the hashes and counts. Other keywords are fields of the metadata."""
        if timestamp is not None:
            self.timestamp = int(timestamp)
        if build_number is not None:
            self.build_number = build_number
        if secure_timestamp is not None:
            self.secure_timestamp = secure_timestamp
        if sources is not None:
            texts = [_bytes(text) for text in sources]
            source_sha256 = hashlib.sha256(b"".join(texts)).digest()
            self.metadata.source_tree_hash = source_sha256[:8]
            self.metadata.source_file_count = len(texts)
            self.metadata.source_lines_total = sum(len(text.splitlines()) for text in texts)
        if source_sha256 is not None:
            if len(source_sha256) != 32:
                raise ValueError("a SHA-256 has 32 bytes")
            self.source_sha256 = bytes(source_sha256)
        if isinstance(compiler_version, str):
            parts = [int(part) for part in compiler_version.split(".")]
            compiler_version = (parts + [0, 0, 0])[0], (parts + [0, 0])[1], (parts + [0])[2]
        if isinstance(compiler_version, tuple):
            compiler_version = int("".join(f"{part:02d}" for part in compiler_version), 16)
        if compiler_version is not None:
            core["compiler_version"] = compiler_version
        known = {f.name for f in fields(Metadata)}
        for name, value in core.items():
            if name not in known:
                raise TypeError(f"the metadata has no field {name!r}")
            setattr(self.metadata, name, value)

    # ---- the program

    def set_bytecode(self, code: Code, strings: Iterable[Text] = (), entry: int = 0, stack: Optional[int] = None,
                     variables: Optional[int] = None) -> None:
        """Bytes in file order (opcode, flags, immediate), a list of (opcode, flags, immediate), or an
        assembled or compiled program. stack and variables: what the program needs, when not what the
        verifier finds."""
        if isinstance(code, Container):
            code._readable()
            self._code, self._strings, self.entry = code._code, list(code._strings), code.entry
            self.stack, self.variables = code.stack, code.variables
            self._debug, self._debug_section = code._debug, code._debug_section
            self._sealed = False
            return
        if isinstance(code, (bytes, bytearray, memoryview)):
            packed = bytes(code)
        else:
            packed = b"".join(_pack_instruction(one) for one in code)
        if len(packed) % 4:
            raise FormatError(f"{len(packed)} bytes are not a number of instructions", Status.BYTECODE)
        self._code, self._strings, self.entry = packed, [_bytes(text) for text in strings], entry
        self.stack, self.variables = stack, variables
        self._sealed = False

    def set_debug(self, symbols: Iterable[Sequence[Any]] = (), lines: Iterable[Sequence[int]] = (),
                  variables: Iterable[Sequence[Any]] = ()) -> None:
        """Rows as of Symbol, Line and Variable."""
        self._debug = ([Symbol(*row) for row in symbols], [Line(*row) for row in lines],
                       [Variable(*row) for row in variables])
        self._debug_section = b""

    @property
    def instructions(self) -> List[Instruction]:
        self._readable()
        return [Instruction(self._code[i], self._code[i + 1], self._code[i + 2] | self._code[i + 3] << 8)
                for i in range(0, len(self._code), 4)]

    @property
    def bytecode(self) -> bytes:
        """The instructions, 4 bytes each."""
        self._readable()
        return self._code

    @property
    def strings(self) -> List[str]:
        self._readable()
        return [text.decode("utf-8", "surrogateescape") for text in self._strings]

    @property
    def encrypted(self) -> bool:
        """Loaded without its key: metadata is readable, the program is not."""
        return self._sealed

    @property
    def debug(self) -> bytes:
        """The debug section of a loaded container."""
        return self._debug_section

    def hardware_requirements(self) -> HardwareRequirements:
        """As the format's extraction call gives them; features that the pins imply are included."""
        features = self.metadata.target_features
        for pin in self.pins:
            features |= _c.lib.penta_cvbc_pin_features(pin.function)
        switches = [d.features for d in self.dependencies if d.criticality == CRIT_ENFORCED]
        return HardwareRequirements(len(self.pins), list(self.pins), features, features, bool(switches),
                                    any(bits & 2 for bits in switches))

    def line_of(self, pc: int) -> Optional[Tuple[str, int]]:
        """Source file and line of an instruction of a loaded container, when it has debug tables."""
        line = _c.types.penta_line()
        if not self._module or not _c.lib.penta_line_at(self._module.handle, pc, ctypes.byref(line)):
            return None
        return _c.taken(line.file).decode("utf-8", "surrogateescape"), line.line

    def _state(self) -> Any:
        debug: Any = self._debug
        return (asdict(self.metadata), [asdict(pin) for pin in self.pins], [asdict(d) for d in self.dependencies],
                [asdict(hint) for hint in self.hints], self.custom_metadata, self.entry, self.stack, self.variables,
                self.timestamp, self.secure_timestamp, self.build_number, self.source_sha256, self._code,
                tuple(self._strings), self._debug_section, tuple(tuple(rows) for rows in debug))

    def _unchanged(self) -> Optional[Module]:
        """The file that this was loaded from, as long as nothing has been changed since."""
        return self._module if self._module and self._as_loaded == self._state() else None

    def _readable(self) -> None:
        if self._sealed:
            raise DecryptError("the bytecode is encrypted; decrypt(key) first", Status.DECRYPT)

    # ---- writing

    def to_bytes(self, sign_with_key: Optional[KeyLike] = None, compression: Union[bool, str] = False,
                 encrypt_with_key: Optional[SecretLike] = None, encryption: int = ENC_AES256_GCM,
                 password: Optional[Text] = None, embed_public_key: bool = True, hash: int = HASH_SHA256,  # noqa: A002
                 deterministic: bool = False, derivation: Optional[str] = None, iterations: int = 600_000,
                 keep_debug: bool = False) -> bytes:
        """The file. sign_with_key: a path, PEM bytes or a Key. compression: True when that makes it
        smaller, "force" always. encrypt_with_key: 32 bytes, or a path. password: stretched with PBKDF2,
        iterations in whole thousands. deterministic: two builds give the same bytes."""
        self._readable()
        secret = _any_secret(encrypt_with_key, password)
        builder = _Builder()
        self._fill(builder, deterministic)
        if compression not in (False, True, "force"):
            raise ValueError('compression is False, True or "force"')
        _c.lib.penta_cvbc_builder_compress(builder.handle, bool(compression), compression == "force")
        if secret is not None:
            builder.seal(secret, encryption, derivation or ("pbkdf2" if password is not None else "raw"), iterations,
                         keep_debug)
        signing = _c.types.penta_cvbc_signing(hash=hash, external=not embed_public_key)
        if sign_with_key is not None:
            pem = _c.view(private_pem(sign_with_key))
            signing.key = pem
        builder.call("sign", ctypes.byref(signing))
        return _c.filled("builder_finish", builder.handle)

    def save(self, path: Path, sign_with_key: Optional[KeyLike] = None, compression: Union[bool, str] = False,
             encrypt_with_key: Optional[SecretLike] = None, encryption: int = ENC_AES256_GCM,
             password: Optional[Text] = None, embed_public_key: bool = True, hash: int = HASH_SHA256,  # noqa: A002
             deterministic: bool = False, derivation: Optional[str] = None, iterations: int = 600_000,
             keep_debug: bool = False) -> None:
        """Writes what to_bytes gives, all of it or nothing."""
        data = self.to_bytes(sign_with_key, compression, encrypt_with_key, encryption, password, embed_public_key,
                             hash, deterministic, derivation, iterations, keep_debug)
        target = os.path.realpath(os.fspath(path))
        mask = os.umask(0)
        os.umask(mask)
        fd, temporary = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".cvbc-")
        try:
            with os.fdopen(fd, "wb") as out:
                out.write(data)
            os.chmod(temporary, 0o666 & ~mask)
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise

    def _fill(self, b: "_Builder", deterministic: bool) -> None:
        b.call("core", _c.view(_c.pack("core", asdict(self.metadata))))
        for pin in self.pins:
            b.call("pin", _c.view(pin._pack()))
        for dependency in self.dependencies:
            b.call("dependency", _c.view(dependency._pack()))
        for hint in self.hints:
            if not (0 <= hint.type < 256 and 0 <= hint.priority < 256):
                raise ValueError("type and priority of a hint are bytes")
            b.call("hint", hint.type, hint.priority, _c.view(hint.data))
        b.call("custom", _c.view(self.custom_metadata))
        b.call("code", _c.view(self._code))
        for text in self._strings:
            b.call("string", _c.view(text))
        b.call("entry", self.entry)
        b.call("needs", -1 if self.stack is None else self.stack, -1 if self.variables is None else self.variables)
        self._fill_debug(b)
        stamp, epoch = self.timestamp, os.environ.get("SOURCE_DATE_EPOCH")
        if stamp is None:
            stamp = int(epoch) if epoch else 0 if deterministic else int(time.time())
        _c.lib.penta_cvbc_builder_stamp(b.handle, stamp, 0 if deterministic else self.secure_timestamp,
                                        self.build_number, deterministic)
        _c.lib.penta_cvbc_builder_source(b.handle, self.source_sha256)

    def _fill_debug(self, b: "_Builder") -> None:
        if self._debug_section:
            b.call("debug", _c.view(self._debug_section))
        symbols, lines, variables = self._debug
        for symbol in symbols:
            b.call("symbol", symbol.kind, symbol.value, _c.view(_bytes(symbol.name)))
        for line in lines:
            b.call("line", line.instruction, line.file, line.line)
        for v in variables:
            raw = _c.types.penta_cvbc_variable(v.storage, v.type, v.slot, v.first, v.last, v.elements)
            b.call("variable", ctypes.byref(raw), _c.view(_bytes(v.name)))

    # ---- reading

    def decrypt(self, key: Optional[SecretLike] = None, *, password: Optional[Text] = None) -> None:
        """Makes the program of a container readable that was loaded without its key."""
        if not self._sealed or not self._module:
            return
        secret = _any_secret(key, password)
        if secret is None:
            raise DecryptError("a key or a password is needed", Status.DECRYPT)
        # Who signed it was checked when it was loaded, and these are the same bytes.
        module = Module(self._module.data, secret=secret, program=self._module.program)
        verdict = module.verdict()
        if verdict.status:
            raise error_of([_c.finding_of(verdict.failure)], verdict.status)
        changed = not self._unchanged()
        self._module, self._sealed = module, False
        self._read_program(module)
        if not changed:
            self._as_loaded = self._state()

    def _read_program(self, module: Module) -> None:
        program = _c.types.penta_cvbc_program()
        _c.call("program_get", module.handle, ctypes.byref(program))
        self._code, self.entry = _c.taken(program.code), program.entry
        self.stack, self.variables = program.stack, program.variables
        self._strings = []
        for i in range(program.string_count):
            text = _c.types.penta_bytes()
            _c.lib.penta_cvbc_string(module.handle, i, ctypes.byref(text))
            self._strings.append(_c.taken(text))

    def _read_metadata(self, module: Module) -> None:
        data = module.part("metadata")
        core = _c.unpack("core", data)
        self.metadata = Metadata(**core)
        at = _c.record_size("core")
        for _ in range(core["pin_config_count"]):
            self.pins.append(Pin._unpack(data, at))
            at += _c.record_size("pin")
        for _ in range(core["dependency_count"]):
            self.dependencies.append(Dependency._unpack(data, at))
            at += _c.record_size("dependency")
        for i in range(core["performance_hint_count"]):
            kind, priority, more = ctypes.c_uint8(), ctypes.c_uint8(), _c.types.penta_bytes()
            _c.lib.penta_cvbc_hint(module.handle, i, ctypes.byref(kind), ctypes.byref(priority), ctypes.byref(more))
            self.hints.append(Hint(kind.value, priority.value, _c.taken(more)))
        self.custom_metadata = module.part("custom")

    @classmethod
    def _of(cls, module: Module, verdict: Any) -> "Container":
        self = cls()
        header = _c.unpack("header", module.part("header"))
        self._module = module
        self.flags, self.timestamp = header["flags"], header["compilation_timestamp"]
        self.build_number = header["build_number"]
        security = module.part("security")
        if security:
            integrity = _c.unpack("integrity", security, _c.record_size("security"))
            self.source_sha256, self.secure_timestamp = integrity["source_sha256"], integrity["secure_timestamp"]
        if verdict.algorithm:
            self.signature = Signature(verdict.algorithm, bytes(verdict.fingerprint).hex(), verdict.trust == 2)
        self._read_metadata(module)
        self._debug_section = module.part("debug")
        self._sealed = verdict.status == Status.DECRYPT
        if not self._sealed:
            self._read_program(module)
        self._as_loaded = self._state()
        return self

    @property
    def compressed(self) -> bool:
        return bool(self.flags & FLAG_COMPRESSED)

    @property
    def deterministic(self) -> bool:
        return bool(self.flags & FLAG_DETERMINISTIC)


class _Builder:
    def __init__(self) -> None:
        error = _c.types.penta_error()
        self.handle = _c.lib.penta_cvbc_builder_new(ctypes.byref(error))
        if not self.handle:
            raise MemoryError

    def __del__(self) -> None:
        handle, self.handle = getattr(self, "handle", None), None
        if handle:
            _c.lib.penta_cvbc_builder_free(handle)

    def call(self, name: str, *arguments: Any) -> None:
        _c.call("builder_" + name, self.handle, *arguments)

    def seal(self, secret: bytes, cipher: int, derivation: str, iterations: int, keep_debug: bool) -> None:
        if derivation not in _DERIVATIONS:
            raise ValueError("derivation is raw, hkdf or pbkdf2")
        if derivation == "pbkdf2" and not 1000 <= iterations <= 65_535_000:
            raise ValueError("1000 to 65535000 iterations, in whole thousands")
        if derivation == "raw" and len(secret) != 32:
            raise DecryptError(f"a raw key has 32 bytes, not {len(secret)}", Status.KEY)
        kept = _c.view(secret)
        raw = _c.types.penta_cvbc_sealing(cipher=cipher, derivation=_DERIVATIONS[derivation], iterations=iterations // 1000,
                         keep_debug=keep_debug)
        raw.secret = kept
        self.call("seal", ctypes.byref(raw))


def _pack_instruction(one: Sequence[int]) -> bytes:
    values = tuple(one) if not isinstance(one, (int, str)) else ()
    if not 1 <= len(values) <= 3:
        raise TypeError(f"an instruction is (opcode, flags, immediate), not {one!r}")
    opcode, flags, immediate = (values + (0, 0))[:3]
    if -32768 <= immediate < 0:
        immediate &= 0xFFFF
    return _c.pack("inst", {"opcode": opcode, "flags": flags, "immediate": immediate})


def load(path_or_bytes: Union[Path, bytes], trusted_keys: Iterable[KeyLike] = (), key: Optional[SecretLike] = None,
         password: Optional[Text] = None, require_signature: bool = False, program: Optional[str] = None) -> Container:
    """Checks the file, its signature, digests and contents, and reads it. An encrypted file without
    its key loads, too: `encrypted` is true and decrypt() makes its program readable. program: which
    of several; without it the first."""
    if isinstance(trusted_keys, (str, bytes, os.PathLike)):
        trusted_keys = (trusted_keys,)
    trusted = [load_key(one).pem for one in trusted_keys]
    secret = _any_secret(key, password)
    module = Module(read(path_or_bytes), trusted, secret, require_signature, program)
    verdict = module.verdict()
    if verdict.status and not (verdict.status == Status.DECRYPT and secret is None):
        raise error_of([_c.finding_of(verdict.failure)], verdict.status)
    return Container._of(module, verdict)
