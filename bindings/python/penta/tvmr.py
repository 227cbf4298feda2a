"""Ternary networks: registers, inputs and outputs as buffers, and training (penta/tvmr.h, penta/train.h).

    network = penta.tvmr.Network(module)
    output = network.run([1, 2, 3])           # a read-only memoryview of 32-bit numbers
    numpy.asarray(network.register("H0"))     # the same memory, no copy

Views show the machine's own memory. It moves when the machine runs or is changed, so those raise BufferError as long as a
view, or an array made of one, is alive: copy what is to be kept.
"""
from __future__ import annotations

import array
import ctypes
import sys
import warnings
from dataclasses import dataclass
from typing import Any, Callable, List, Optional, Sequence, Tuple, Union

from ._core import Buffer, OptionValue, Stop, View, checked, options, text, word
from ._library import lib, lists, types
from .module import Module
from .session import Machine

# A list of numbers, or a buffer of whole numbers; 32-bit ones are not copied on the way in.
Numbers = Union[Sequence[int], Buffer, Any]
Shape = Tuple[int, ...]
_BANKS = "HCPS"


def _register(name: str) -> int:
    """The byte of "H0" or "C12"."""
    if len(name) < 2 or name[0] not in _BANKS or not name[1:].isdecimal() or int(name[1:]) > 63:
        raise ValueError(f"a register is H, C, P or S and a number 0 to 63, not {name!r}")
    return _BANKS.index(name[0]) << 6 | int(name[1:])


class _Int32:
    """Numbers as 32-bit ones in memory, with their shape."""

    def __init__(self, data: Numbers) -> None:
        self.shape: Shape
        held: Any = data
        try:
            given = memoryview(held)
        except TypeError:
            held = array.array("i", list(data))
            given = memoryview(held)
        self.shape = tuple(given.shape or (1,))
        if given.format.lstrip("@=<") not in ("i", "l") or given.itemsize != 4 or not given.c_contiguous:
            if given.format.lstrip("@=<>|") not in tuple("bBhHiIlLqQ?"):
                raise TypeError(f"whole numbers are needed, not elements of type {given.format!r}")
            held = array.array("i", _flat(given.tolist()))
        self.view = View(held)
        self.count = self.view.size // 4
        self.pointer = ctypes.cast(self.view.address or 0, ctypes.POINTER(ctypes.c_int32))


def _flat(nested: Any) -> List[int]:
    if not isinstance(nested, list):
        return [nested]
    return [number for item in nested for number in _flat(item)]


@dataclass(frozen=True)
class Epoch:
    """What an epoch of training gave; right counts are out of trained and tested."""
    number: int
    trained: int
    right: int
    tested: int
    tested_right: int
    error: float
    tested_error: float
    best: bool
    seconds: float


@dataclass(frozen=True)
class Judged:
    """How well a network does; confusion[what it is][what it was taken for]."""
    rows: int
    right: int
    accuracy: float
    error: float
    confusion: List[List[int]]


@dataclass(frozen=True)
class Trained:
    epochs: int
    best: int     # the epoch of these weights; 0: those of the start
    ended: str    # epochs, goal, patience or stopped
    seconds: float
    judged: Judged


def _judged(raw: Any) -> Judged:
    n = raw.classes
    return Judged(raw.rows, raw.right, raw.accuracy, raw.error, [[int(raw.confusion[i * n + k]) for k in range(n)] for i in range(n)])


class _Table:
    """A penta_table of rows of numbers."""

    def __init__(self, data: Numbers) -> None:
        numbers = _Int32(data if _has_buffer(data) else _flat(list(data)))
        rows = numbers.shape[0] if _has_buffer(data) else len(data)
        columns = numbers.count // rows if rows else 0
        if rows * columns != numbers.count:
            raise ValueError("rows of different length")
        self.handle = checked(lib.penta_table_new, numbers.pointer, rows, columns)

    def __del__(self) -> None:
        lib.penta_table_free(getattr(self, "handle", None))


def read_table(path: str, scale: float = 1.0) -> List[List[int]]:
    """Rows of a CSV, NPY or IDX file, as train() and judge() take them; numbers are multiplied by scale and rounded."""
    table = checked(lib.penta_table_read, path.encode(), scale)
    try:
        columns = lib.penta_table_columns(table)
        return [lib.penta_table_row(table, row)[:columns] for row in range(lib.penta_table_rows(table))]
    finally:
        lib.penta_table_free(table)


def domain(number: int) -> Optional[Tuple[str, str]]:
    """Name and fields ("target=rA chem_id=B", in the order of Stop.args) of an operation of the host, by Stop.detail."""
    fields = ctypes.c_char_p()
    name = lib.penta_tvmr_domain(number, ctypes.byref(fields))
    return (name.decode(), (fields.value or b"").decode()) if name else None


# ---- learning outside of programs ----

@dataclass(frozen=True)
class Rule:
    """How weights learn (penta/tvmr.h)."""
    step: int
    threshold: int
    divisor: int
    scale: int
    keep: int
    of: int


DEFAULT, FAST, STABLE = (Rule(*lists["PENTA_TVMR_RULE_" + name]) for name in ("DEFAULT", "FAST", "STABLE"))


def _signals(values: Sequence[int]) -> Any:
    if any(not -255 <= value <= 255 for value in values):
        raise ValueError("weights are -255 to 255")
    return (types.penta_tvmr_signal * max(len(values), 1))(*(((v > 0) - (v < 0), abs(v)) for v in values))


def _values(signals: Any, count: int) -> List[int]:
    return [signals[i].polarity * signals[i].magnitude for i in range(count)]


def learn(weights: Sequence[int], pressures: Sequence[int], activations: Numbers, direction: int,
          rule: Rule = DEFAULT) -> Tuple[List[int], List[int]]:
    """One step: the weights and pressures after it. direction: -1, 0 or 1."""
    given, signals = _Int32(activations), _signals(weights)
    if not len(weights) == len(pressures) == given.count or rule.divisor <= 0 or rule.of <= 0:
        raise ValueError("as many weights as pressures and activations, and a divisor and `of` above 0")
    pressed = (ctypes.c_int32 * max(len(pressures), 1))(*pressures)
    raw = types.penta_tvmr_rule(rule.step, rule.threshold, rule.divisor, rule.scale, rule.keep, rule.of)
    lib.penta_tvmr_learn(ctypes.byref(raw), signals, pressed, given.pointer, given.count, direction)
    return _values(signals, given.count), list(pressed[:given.count])


def participants(activations: Numbers, divisor: int = 4) -> List[bool]:
    """Which activations take part in learning."""
    if divisor <= 0:
        raise ValueError("a divisor above 0 is needed")
    given = _Int32(activations)
    took = (ctypes.c_bool * max(given.count, 1))()
    lib.penta_tvmr_participants(given.pointer, given.count, divisor, took)
    return list(took[:given.count])


def first_weights(count: int, seed: int, positive: bool = False) -> List[int]:
    """Weights to begin with: of both signs, 20 to 39; or positive, 10 to 24."""
    signals = (types.penta_tvmr_signal * max(count, 1))()
    lib.penta_tvmr_init(signals, count, positive, word(seed, "a seed"))
    return _values(signals, count)


def _has_buffer(data: Any) -> bool:
    try:
        memoryview(data)
    except TypeError:
        return False
    return True


class Network:
    """A machine of the format tvmr without a host: operations of the host are answered with nothing, or by `answer`."""

    def __init__(self, module: Module, answer: Optional[Callable[["Network", Stop], None]] = None, **run_options: OptionValue) -> None:
        if module.format != "tvmr":
            raise TypeError(f"a module of format tvmr is needed, not {module.format}")
        self.machine: Machine = module.machine(None, **run_options)
        self._answer = answer
        self._shown: List[Any] = []  # memory that views show
        self._told = ""  # the last warning about weights
        self._tell_weights(3)

    def _tell_weights(self, level: int) -> None:
        """Warns where the program and its weight files have not the same keys."""
        for found in self.machine.findings():
            if found.name == "WEIGHTS_PARTLY" and found.message + found.note != self._told:
                self._told = found.message + found.note
                warnings.warn(f"{found.message}: {found.note}", stacklevel=level)

    # ---- memory ----

    def _free(self) -> int:
        """The machine, which may move its memory now."""
        shown, self._shown = self._shown, []
        while shown:
            memory = shown.pop()
            if sys.getrefcount(memory) > 2:  # besides this name and the argument: a view
                self._shown = shown + [memory]
                raise BufferError("a view of the machine's memory is still in use")
        return self.machine._handle

    def _show(self, address: Any, kind: Any, code: str, shape: Shape) -> memoryview:
        count = 1
        for dim in shape:
            count *= dim
        if not count:
            return memoryview(b"").cast(code)
        memory = (kind * count).from_address(ctypes.cast(address, ctypes.c_void_p).value)
        self._shown.append(memory)
        return memoryview(memory).cast("B").cast(code, shape).toreadonly()

    def _tensor(self, name: str) -> Any:
        raw = types.penta_tvmr_tensor()
        if not lib.penta_tvmr_register_get(self.machine._handle, _register(name), ctypes.byref(raw)):
            raise KeyError(f"{name} is not allocated")
        return raw

    def shape(self, name: str) -> Shape:
        raw = self._tensor(name)
        return tuple(raw.dims[i] for i in range(raw.rank))

    def register(self, name: str) -> memoryview:
        """A read-only view: 32-bit numbers of a hot register or the one of a param register; bytes of a cold one, polarity
        and magnitude of each weight in the last dimension."""
        raw = self._tensor(name)
        dims = tuple(raw.dims[i] for i in range(raw.rank))
        whole = 1
        for dim in dims:
            whole *= dim
        if whole != raw.count or not dims:
            dims = (raw.count,)
        if name[0] == "C":
            return self._show(raw.signals, ctypes.c_uint8, "B", dims + (2,))
        if name[0] == "S":
            raise ValueError("a shape register holds dimensions: shape()")
        return self._show(raw.numbers, ctypes.c_int32, "i", dims)

    def weights(self, name: str) -> List[int]:
        """The values of a cold register, -255 to 255."""
        raw = self._tensor(name)
        return _values(raw.signals, raw.count)

    def set(self, name: str, data: Numbers, shape: Optional[Sequence[int]] = None) -> None:
        """Replaces a register: by numbers, for a cold one values -255 to 255; with their own shape unless one is given."""
        reg, numbers = _register(name), _Int32(data)
        dims = tuple(shape) if shape is not None else numbers.shape
        raw = types.penta_tvmr_tensor(count=numbers.count, rank=len(dims))
        raw.dims = (ctypes.c_uint32 * max(len(dims), 1))(*dims)
        if name[0] == "C":
            raw.signals = _signals(numbers.pointer[:numbers.count])
        else:
            raw.numbers = numbers.pointer
        checked(lib.penta_tvmr_register_set, self._free(), reg, ctypes.byref(raw))

    # ---- running ----

    def run(self, data: Numbers, target: Numbers = ()) -> memoryview:
        """One run; the output, as a read-only view."""
        given, wanted = _Int32(data), _Int32(target)
        machine = self._free()
        checked(lib.penta_tvmr_target, machine, wanted.pointer, wanted.count)
        checked(lib.penta_tvmr_begin, machine, given.pointer, given.count)
        at = self.machine.run()
        while at.kind == "host":
            if self._answer:
                self._answer(self, at)
            self.machine.answer()
            at = self.machine.run()
        if at.kind != "halt":
            raise RuntimeError(f"{at.kind} at {at.pc}: {lib.penta_tvmr_failure(machine).decode('utf-8', 'replace')}")
        return self.output

    @property
    def output(self) -> memoryview:
        """What the program stored last, as a read-only view."""
        count = ctypes.c_size_t()
        data = lib.penta_tvmr_output(self.machine._handle, ctypes.byref(count))
        return self._show(data, ctypes.c_int32, "i", (count.value,))

    def chemicals(self, levels: Sequence[int]) -> None:
        """The four levels of the signals that learning instructions read, 0 to 255."""
        if len(levels) != 4:
            raise ValueError("there are four chemicals")
        lib.penta_tvmr_chemicals(self.machine._handle, bytes(levels))

    def babble(self, scale: int) -> None:
        """How much noise exploring instructions add."""
        lib.penta_tvmr_babble(self.machine._handle, scale)

    def stop(self) -> None:
        """For an answer: ends the run normally."""
        lib.penta_tvmr_stop(self.machine._handle)

    def fail(self, why: str) -> None:
        """For an answer: ends the run with an error of the host."""
        lib.penta_tvmr_fail(self.machine._handle, text(why))

    def reload(self, module: Module) -> bool:
        """Another program into this machine. Weights whose key and shape match stay; whether there were any."""
        if module.format != "tvmr":
            raise TypeError(f"a module of format tvmr is needed, not {module.format}")
        kept = ctypes.c_bool()
        checked(lib.penta_tvmr_reload, self._free(), module._handle, ctypes.byref(kept))
        self.machine.module = module
        return kept.value

    # ---- weights and training ----

    def load_weights(self, path: str) -> int:
        """How many registers a weight file had weights for: an error if there is none, a warning if some had none."""
        loaded = ctypes.c_size_t()
        checked(lib.penta_tvmr_weights_load, self._free(), path.encode(), ctypes.byref(loaded))
        self._tell_weights(3)
        return loaded.value

    def save_weights(self, path: str) -> None:
        checked(lib.penta_tvmr_weights_save, self.machine._handle, path.encode())

    def train(self, data: Numbers, targets: Numbers, test_data: Optional[Numbers] = None, test_targets: Optional[Numbers] = None,
              progress: Optional[Callable[[Epoch], Any]] = None, **train_options: OptionValue) -> Trained:
        """Trains on rows of numbers: epochs=10, batch=32, seed=1, goal=95, patience=3, init="random", save="net.tvmw" ... A
        progress function that returns False ends it."""
        tables = [None if one is None else _Table(one) for one in (data, targets, test_data, test_targets)]
        samples = types.penta_tvmr_samples(*(table.handle if table else None for table in tables))
        failure: List[BaseException] = []

        def told(_user: Any, raw: Any) -> bool:
            try:
                return progress is None or progress(Epoch(*(getattr(raw.contents, name) for name in Epoch.__dataclass_fields__))) is not False
            except BaseException as error:  # raised again below: it cannot pass through C
                failure.append(error)
                return False

        out = types.penta_tvmr_trained()
        pairs, count = options(train_options)
        checked(lib.penta_tvmr_train, self._free(), ctypes.byref(samples), pairs, count, ctypes.byref(out),
                types.penta_tvmr_progress(told), None)
        try:
            if failure:
                raise failure[0]
            return Trained(out.epochs, out.best, out.ended.decode(), out.seconds, _judged(out.judged))
        finally:
            lib.penta_tvmr_trained_free(ctypes.byref(out))

    def judge(self, data: Numbers, targets: Numbers, **train_options: OptionValue) -> Judged:
        """How well the network does on rows of numbers; nothing is learnt."""
        rows, wanted, out = _Table(data), _Table(targets), types.penta_tvmr_judged()
        pairs, count = options(train_options)
        checked(lib.penta_tvmr_judge, self._free(), rows.handle, wanted.handle, pairs, count, ctypes.byref(out))
        try:
            return _judged(out)
        finally:
            lib.penta_tvmr_judged_free(ctypes.byref(out))
