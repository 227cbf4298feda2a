"""What a container holds, as plain values."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import List, NamedTuple, Optional, Union

from penta import Finding

from . import _library as _c


class Instruction(NamedTuple):
    opcode: int
    flags: int = 0
    immediate: int = 0

    @property
    def mnemonic(self) -> Optional[str]:
        """As in assembly text, without operand; None when the opcode is not defined."""
        name = _c.lib.penta_cvbc_mnemonic(self.opcode)
        return name.decode() if name else None


class Symbol(NamedTuple):
    """kind is one of SYMBOL_*; value an instruction index, a slot, an array or a file number."""
    name: str
    kind: int
    value: int


class Line(NamedTuple):
    """From this instruction on, until the next row."""
    instruction: int
    file: int
    line: int


class Variable(NamedTuple):
    name: str
    storage: int
    slot: int
    first: int = 0
    last: int = 65535
    elements: int = 1
    type: int = 1


@dataclass
class Metadata:
    """The core record, field by field. Counts are computed when a container is written."""
    target_architecture: int = 0
    target_family: int = 0
    target_variant: int = 0
    target_features: int = 0
    min_flash_kb: int = 0
    min_ram_kb: int = 0
    gpio_pin_count: int = 0
    uart_instances_mask: int = 0
    i2c_instances_mask: int = 0
    spi_instances_mask: int = 0
    timer_instances_mask: int = 0
    adc_channels_mask: int = 0
    dac_channels_mask: int = 0
    interrupt_priority_mask: int = 0
    dma_channels_mask: int = 0
    external_interfaces: int = 0
    feature_requirements: int = 0
    compiler_version: int = 0
    source_language: int = 1
    optimization_level: int = 0
    source_file_count: int = 0
    source_lines_total: int = 0
    build_fingerprint: bytes = bytes(8)
    source_tree_hash: bytes = bytes(8)
    max_stack_depth_words: int = 0
    max_heap_bytes: int = 0
    max_execution_cycles: int = 0
    max_interrupt_latency_us: int = 0
    reserved_constraints: int = 0
    pin_config_count: int = 0
    dependency_count: int = 0
    performance_hint_count: int = 0
    custom_metadata_size: int = 0


@dataclass
class Pin:
    """port is 0 for A; `name` has both, as in C13."""
    number: int
    port: int
    function: int
    mode: int
    pull: int = 0
    drive_strength: int = 0
    frequency_hz: int = 0
    alternate_function: int = 0
    initial_state: int = 0
    flags: int = 0

    @property
    def name(self) -> str:
        return f"{chr(65 + self.port)}{self.number}" if self.port < 26 else f"{self.port}.{self.number}"

    def _pack(self) -> bytes:
        return _c.pack("pin", {
            "pin_number": self.number, "port_identifier": self.port, "pin_function": self.function,
            "pin_mode": self.mode, "pin_pull": self.pull, "pin_drive_strength": self.drive_strength,
            "pin_frequency_hz": self.frequency_hz, "pin_alternate_function": self.alternate_function,
            "pin_initial_state": self.initial_state, "pin_flags": self.flags})

    @classmethod
    def _unpack(cls, data: bytes, offset: int) -> "Pin":
        r = _c.unpack("pin", data, offset)
        return cls(r["pin_number"], r["port_identifier"], r["pin_function"], r["pin_mode"], r["pin_pull"],
                   r["pin_drive_strength"], r["pin_frequency_hz"], r["pin_alternate_function"],
                   r["pin_initial_state"], r["pin_flags"])


@dataclass
class Dependency:
    name: str
    version_major: int
    version_minor: int
    features: int = 0
    compatibility: int = 1
    criticality: int = 3

    def _pack(self) -> bytes:
        name = self.name.encode()
        if not 0 < len(name) < 16:
            raise ValueError(f"the name of a library has 1 to 15 bytes: {self.name!r}")
        return _c.pack("dependency", {
            "lib_name": name, "min_version_major": self.version_major, "min_version_minor": self.version_minor,
            "required_features": self.features, "compatibility_level": self.compatibility,
            "criticality": self.criticality})

    @classmethod
    def _unpack(cls, data: bytes, offset: int) -> "Dependency":
        r = _c.unpack("dependency", data, offset)
        name = r["lib_name"].split(b"\0")[0].decode("utf-8", "surrogateescape")
        return cls(name, r["min_version_major"], r["min_version_minor"], r["required_features"],
                   r["compatibility_level"], r["criticality"])


@dataclass
class Hint:
    type: int
    priority: int
    data: bytes = b""


@dataclass(frozen=True)
class Signature:
    """trusted: by a key that was given. fingerprint: SHA-256 of the key that fits, in hex."""
    algorithm: int
    fingerprint: str
    trusted: bool


@dataclass(frozen=True)
class HardwareRequirements:
    pin_count: int
    pin_configs: List[Pin]
    peripheral_mask: int
    feature_requirements: int
    enforced: bool = False  # minor version 3: the program is held to its declarations
    any_pin: bool = False   # except that it may use any pin


@dataclass(frozen=True)
class Report:
    """What a check found. code is that of the first error, messages are errors."""
    ok: bool
    code: int
    messages: List[str]
    warnings: List[str]
    findings: List[Finding] = field(default_factory=list, repr=False)

    def __bool__(self) -> bool:
        return self.ok


Text = Union[str, bytes]
