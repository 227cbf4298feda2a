"""Files: opened, described, checked, printed, converted, compared."""
from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, Union

from ._core import (Buffer, Document, Filled, Finding, Findings, OptionValue, View, checked, document, filled, finding,
                    options, reported, taken, text, word)
from ._library import lib, types


@dataclass(frozen=True)
class Line:
    """Instructions of one source line without a gap."""
    file: str
    line: int
    first: int  # pcs; `end` is after the last
    end: int


@dataclass(frozen=True)
class Branch:
    """Where control goes after an instruction."""
    next: bool  # to the next one, at least sometimes; after a call: on its return
    jump: bool  # or elsewhere
    call: bool
    ret: bool
    indirect: bool  # a value decides where to
    target: Optional[int]  # where the code itself says it


def _line(raw: Any) -> Line:
    return Line(_text(taken(raw.file)), raw.line, getattr(raw, "from"), raw.to)


def _sizes(handle: int, report: Any, user: Any) -> None:
    checked(lib.penta_sizes, handle, report, user)


class Module:
    """An opened file. Immutable; may be shared between threads."""

    def __init__(self, handle: int, keep: Any = None) -> None:
        self._handle, self._keep = handle, keep

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", 0), 0
        if handle:
            lib.penta_close(handle)

    def __repr__(self) -> str:
        return f"<penta.Module {self.format}, {len(self.data)} bytes>"

    @property
    def format(self) -> str:
        return str(lib.penta_module_format(self._handle).decode())

    @property
    def damage(self) -> Optional[Finding]:
        raw = lib.penta_module_damage(self._handle)
        return finding(raw.contents) if raw else None

    @property
    def data(self) -> memoryview:
        """What it was opened on, or what the assembler made, without a copy. Only read it, as long as the module lives."""
        size = ctypes.c_size_t()
        data = lib.penta_module_bytes(self._handle, ctypes.byref(size))
        held = (ctypes.c_ubyte * size.value).from_address(data) if size.value else (ctypes.c_ubyte * 0)()
        held._module = self  # type: ignore[attr-defined]
        return memoryview(held).cast("B").toreadonly()

    # ---- views ----

    def select(self, selector: str) -> List[Document]:
        """The parts that a selector selects, such as /code/insn[0..9]/opcode: dicts with path, offset, size and, for
        fields, value."""
        out: List[Document] = document(lib.penta_select_json, self._handle, text(selector))
        return out

    def extract(self, selector: str) -> bytes:
        """The bytes of these parts as they are stored, one after the other."""
        return filled(lib.penta_select_bytes, self._handle, text(selector))

    def edit(self, changes: Dict[str, object], repair: bool = True) -> Tuple[bytes, List[Finding]]:
        """The file with other values: {"/header/version": 2, "/code/insn[*]/flags": "0x1"}. What no longer fits is repaired;
        the findings say what was dropped, such as a signature."""
        given = (types.penta_option * max(len(changes), 1))()
        for i, (path, value) in enumerate(changes.items()):
            given[i].key, given[i].value = text(path), text(str(value))
        found = Findings()
        out = Filled()
        checked(lib.penta_edit, self._handle, given, len(changes), *options({"no-repair": not repair}), out.ref,
                found.report, None)
        return out.take(), found.found

    def inspect(self, select: Optional[str] = None, depth: Optional[int] = None) -> List[Document]:
        """The field tree: dicts with name, offset, size and children, or kind and value. select: what is at a path."""
        out: List[Document] = document(lib.penta_tree, self._handle,
                                       *options({"json": True, "select": select, "depth": depth}))
        return out

    def tree(self, select: Optional[str] = None, depth: Optional[int] = None) -> str:
        """The same as indented text."""
        return _text(filled(lib.penta_tree, self._handle, *options({"select": select, "depth": depth})))

    def hex(self, select: Optional[str] = None, coverage: bool = False) -> str:
        """Annotated hex. coverage: rows say what protects each byte."""
        return _text(filled(lib.penta_hex, self._handle, *options({"select": select, "coverage": coverage})))

    def info(self) -> Document:
        """One screen of facts."""
        out: Document = document(lib.penta_info_json, self._handle)
        return out

    def info_text(self) -> str:
        """The same as lines."""
        return _text(filled(lib.penta_info_text, self._handle, *options({})))

    def diff(self, other: "Module", select: Optional[str] = None) -> List[Document]:
        """Differences in structure: dicts with change, path, offset_a, offset_b, a and b. select: only in these parts."""
        out = Filled()
        checked(lib.penta_diff, self._handle, other._handle, *options({"json": True, "select": select}), out.ref, None)
        found: List[Document] = json.loads(out.take())
        return found

    def diff_code(self, other: "Module") -> List[Document]:
        """Differences of the code by instruction: dicts of functions with change, name_a, name_b, registers, instructions."""
        out = Filled()
        checked(lib.penta_diff_code, self._handle, other._handle, *options({"form": "json"}), out.ref, None)
        found: List[Document] = json.loads(out.take())
        return found

    def diff_code_text(self, other: "Module", form: str = "text", width: int = 80) -> str:
        """The same as lines ("text"), as two columns ("side") or as a page ("html")."""
        out = Filled()
        checked(lib.penta_diff_code, self._handle, other._handle, *options({"form": form, "width": width}), out.ref, None)
        return _text(out.take())

    def report(self, title: Optional[str] = None, counts: Iterable[Buffer] = (), folded: Buffer = b"",
               all: bool = False) -> str:  # noqa: A002
        """Everything about the file as one HTML page. counts: what penta cover --data wrote; folded: what penta profile
        --folded printed; all: long files as a whole, not only their beginning."""
        paths, given = View(folded), types.penta_report_input()
        given.module, given.title, given.folded, given.all = self._handle, text(title), paths.bytes, all
        profile = None
        try:
            for one in counts:
                profile = profile or checked(lib.penta_profile_empty, self._handle)
                view = View(one)
                checked(lib.penta_profile_read, profile, view.bytes)
            given.profile = profile
            return _text(filled(lib.penta_report_html, ctypes.byref(given)))
        finally:
            lib.penta_profile_free(profile)

    # ---- checks ----

    def validate(self) -> List[Finding]:
        found = Findings()
        lib.penta_validate(self._handle, found.report, None)
        return found.found

    @property
    def valid(self) -> bool:
        return bool(lib.penta_validate(self._handle, types.penta_report(), None))

    def roundtrip(self) -> None:
        """Raises an error if encoding, or printing and assembling, would not give back the same bytes."""
        checked(lib.penta_roundtrip, self._handle)

    def check_run(self, unverified: bool = False) -> List[Finding]:
        """Every reason why the program should not be run."""
        found = Findings()
        lib.penta_check_run(self._handle, unverified, found.report, None)
        return found.found

    def paths(self, findings: Sequence[Finding]) -> List[Optional[str]]:
        """Where findings are in the tree of the file: "/header/version"; None: nowhere."""
        raw = (types.penta_error * max(len(findings), 1))()
        for one, about in zip(raw, findings):
            one.code, one.offset, one.decoded = about.number, about.offset, about.decoded
        places, out = (types.penta_place * len(raw))(), Filled()
        checked(lib.penta_places, self._handle, raw, len(findings), places, out.ref)
        names = out.take()
        return [_text(names[place.path:names.index(0, place.path)]) if place.found else None
                for place in places[:len(findings)]]

    # ---- bytes and text ----

    def encode(self) -> bytes:
        return filled(lib.penta_encode, self._handle)

    def disassemble(self, **print_options: OptionValue) -> str:
        """Text that assemble() turns back into the same bytes."""
        return filled(lib.penta_print, self._handle, *options(print_options)).decode("utf-8", "surrogateescape")

    def plain(self) -> str:
        """The same with labels by function and number, for comparing the texts of two programs."""
        return filled(lib.penta_print_plain, self._handle).decode("utf-8", "surrogateescape")

    def disassemble_to(self, write: Callable[[bytes], Any], **print_options: OptionValue) -> None:
        """The same in pieces, for texts that need not be in memory as a whole: write is called with each."""
        failure: List[BaseException] = []

        def take(_user: Any, piece: Any) -> None:
            if failure:
                return
            try:
                write(ctypes.string_at(piece.data, piece.size))
            except BaseException as error:  # not through C code: raised again below
                failure.append(error)

        try:
            checked(lib.penta_print_pieces, self._handle, *options(print_options), types.penta_piece(take), None)
        finally:
            if failure:
                raise failure[0]

    def convert(self, **convert_options: OptionValue) -> bytes:
        """The same program in another dialect, byte order or version of its format."""
        return self._rewritten(lib.penta_convert, convert_options)

    def seal(self, **seal_options: OptionValue) -> bytes:
        """Encrypted; keys come from files that the options name."""
        return self._rewritten(lib.penta_seal, seal_options)

    def unseal(self, **unseal_options: OptionValue) -> bytes:
        return self._rewritten(lib.penta_unseal, unseal_options)

    def compile(self, **compile_options: OptionValue) -> bytes:
        """A COIL object as an ELF object for x86-64; emit="asm": as text for the assembler."""
        return filled(lib.penta_coil_compile, self._handle, *options(compile_options), None)

    def _rewritten(self, function: Callable[..., bool], values: Dict[str, OptionValue]) -> bytes:
        found, out = Findings(), Filled()
        found.check(function(self._handle, *options(values), out.ref, found.report, None))
        return out.take()

    # ---- code ----

    def parts(self) -> List[Document]:
        """Ranges of code, functions, exports and imports: dicts with kind, name, from and to."""
        out: List[Document] = document(lib.penta_parts_json, self._handle)
        return out

    def _named(self, kind: str) -> Dict[str, int]:
        return {part["name"]: part["from"] for part in self.parts() if part["kind"] == kind}

    @property
    def exports(self) -> Dict[str, int]:
        """Where what others may call starts, by name."""
        return self._named("export")

    @property
    def imports(self) -> Dict[str, int]:
        """The numbers of the host calls that it makes, by name."""
        return self._named("import")

    def instruction(self, pc: int) -> Optional[str]:
        """The instruction at pc as text, or None."""
        out = Filled()
        return _text(out.take()) if lib.penta_print_at(self._handle, word(pc, "a pc"), out.ref) else None

    def instructions(self, function: Optional[str] = None, range: Optional[str] = None,  # noqa: A002
                     select: Optional[str] = None, **print_options: OptionValue) -> List[Document]:
        """Dicts with pc, offset, bytes, text, mnemonic, operands, and where there are such, target, label, aliases, gas,
        file and line."""
        out: List[Document] = document(lib.penta_code_json, self._handle,
                                       *options({"function": function, "range": range, "select": select, **print_options}))
        return out

    def next_pc(self, pc: int) -> Optional[int]:
        out = ctypes.c_uint64()
        return out.value if lib.penta_next_pc(self._handle, word(pc, "a pc"), ctypes.byref(out)) else None

    def pc_of(self, offset: int) -> Optional[int]:
        """The instruction whose bytes hold this offset of the file."""
        out = ctypes.c_uint64()
        return out.value if lib.penta_pc_of(self._handle, word(offset, "an offset"), ctypes.byref(out)) else None

    def code(self, function: Optional[str] = None, range: Optional[str] = None,  # noqa: A002
             arrows: Optional[str] = None) -> str:
        """Instructions with their pcs, to read: of a function, of a range "A..B", or all. arrows: "utf8" or "ascii" draws
        the jumps."""
        chosen = {"function": function, "range": range, "arrows": arrows}
        return _text(filled(lib.penta_print_code, self._handle, *options(chosen)))

    def arrows(self, first: int = 0, last: int = 2**64 - 1, lanes: int = 8) -> List[Document]:
        """The jumps of the code from pc first to last, to be drawn beside a listing: dicts with from, to, kind and lane. Lane 0
        is next to the text; one without a lane found no free one, or has an end elsewhere."""
        structure = checked(lib.penta_structure_new, self._handle)
        try:
            out: List[Document] = document(lib.penta_structure_arrows_json, structure, word(first, "a pc"),
                                           word(last, "a pc"), lanes)
        finally:
            lib.penta_structure_free(structure)
        return out

    def offset_of(self, pc: int) -> Optional[Tuple[int, int]]:
        """Where the bytes of the instruction at pc are in the file, and how many; None: it is not there as it is."""
        offset, size = ctypes.c_uint64(), ctypes.c_uint64()
        found = lib.penta_offset_of(self._handle, word(pc, "a pc"), ctypes.byref(offset), ctypes.byref(size))
        return (offset.value, size.value) if found else None

    def branch(self, pc: int) -> Optional[Branch]:
        """Where control goes after the instruction at pc; None: none is there."""
        raw = types.penta_branch()
        if not lib.penta_branch_at(self._handle, word(pc, "a pc"), ctypes.byref(raw)):
            return None
        return Branch(raw.next, raw.jump, raw.call, raw.ret, raw.indirect, raw.target if raw.has_target else None)

    def structure(self) -> Document:
        """Functions with blocks and edges, and calls."""
        structure = checked(lib.penta_structure_new, self._handle)
        try:
            out: Document = document(lib.penta_structure_json, structure)
        finally:
            lib.penta_structure_free(structure)
        return out

    def sizes(self) -> List[Tuple[str, str, int]]:
        """Kind (file, section, function, data), name and bytes of what the file has."""
        return reported(types.penta_size_report, lambda raw: (
            lib.penta_size_name(raw.kind).decode(), _text(raw.name), raw.bytes), _sizes, self._handle)

    # ---- names and source lines ----

    def find(self, place: str) -> int:
        """The pc that a text means: a number, NAME, NAME+NUMBER or FILE:LINE."""
        pc = ctypes.c_uint64()
        checked(lib.penta_find_code, self._handle, text(place), ctypes.byref(pc))
        return pc.value

    def name_at(self, pc: int) -> Optional[str]:
        """The function or label that an instruction belongs to, as NAME or NAME+NUMBER."""
        out = Filled()
        return _text(out.take()) if lib.penta_name_at(self._handle, word(pc, "a pc"), out.ref) else None

    def lines(self) -> List[Line]:
        """The line table, in any order."""
        return reported(types.penta_line_report, _line, lib.penta_lines, self._handle)

    def line_at(self, pc: int) -> Optional[Line]:
        raw = types.penta_line()
        return _line(raw) if lib.penta_line_at(self._handle, word(pc, "a pc"), ctypes.byref(raw)) else None

    # ---- machines ----

    def machine(self, engine: Optional[str] = None, **run_options: OptionValue) -> "Machine":
        """A machine alone: every host call stops it, and the caller answers."""
        return Machine(checked(lib.penta_vm_new, self._handle, text(engine), *options(run_options), None), self)

    def session(self, engine: Optional[str] = None, host: Optional["HostCall"] = None,
                **run_options: OptionValue) -> "Session":
        """A machine with the default host of its format, and before that the caller's own."""
        return Session(self, engine, host, **run_options)

    def replay(self, recorded: "Buffer", engine: Optional[str] = None) -> "Replay":
        """Repeats a run that Session.record() or penta run --record wrote down."""
        return Replay(self, recorded, engine)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def open(data: Buffer, format: Optional[str] = None, **open_options: OptionValue) -> Module:  # noqa: A001
    """Opens the bytes of a file, without a copy: they must not change as long as the module lives. Broken files open
    too, and validate() says what is wrong."""
    view = View(data)
    return Module(checked(lib.penta_open, view.bytes, text(format), *options(open_options)), view)


def assemble(source: str, format: str, **assemble_options: OptionValue) -> Module:
    view, found = View(source.encode("utf-8", "surrogateescape")), Findings()
    return Module(found.check(lib.penta_assemble(view.bytes, text(format), *options(assemble_options), found.report,
                                                 None)))


def detect(data: Buffer) -> List[Tuple[str, int]]:
    """The formats that could have written these bytes, with confidence 1 to 100, best first."""
    view, guesses = View(data), (types.penta_guess * 16)()
    count = lib.penta_detect(view.bytes, guesses, len(guesses))
    return [(guess.format.decode(), guess.confidence) for guess in guesses[:count]]


def probe(data: Buffer, format: str) -> Tuple[int, str]:  # noqa: A002
    """The confidence of one format, 0: none; and what speaks for it."""
    view, evidence = View(data), Filled()
    sure: int = lib.penta_probe(view.bytes, text(format), evidence.ref)
    return sure, _text(evidence.take())


@dataclass(frozen=True)
class Nested:
    """A file inside other bytes, found by detect_deep. Its size is None where its format does not tell it."""
    offset: int
    size: Optional[int]
    format: str
    dialect: Optional[str]
    evidence: str
    depth: int
    state: str  # valid, invalid, or header: only its head fits
    error: Optional[Finding]  # the first error, with an offset inside the found file


def detect_deep(data: Buffer) -> List[Nested]:
    """The files of all formats inside any bytes, such as a firmware image or an archive, by their offsets."""
    view, found = View(data), []

    def report(_user: Any, raw: Any) -> None:
        one = raw.contents
        found.append(Nested(
            one.offset, one.size or None, _text(one.format), _text(one.dialect) if one.dialect else None,
            _text(one.evidence), one.depth, _text(lib.penta_nested_state_name(one.state)),
            finding(one.error.contents) if one.error else None))

    checked(lib.penta_detect_deep, view.bytes, types.penta_nested_report(report), None, None)
    return found


def source_place(source: str, offset: int) -> Tuple[int, int]:
    """Line and column, from 1 on, of an offset in a source text: where Error.offset is."""
    view, line, column = View(source.encode("utf-8", "surrogateescape")), ctypes.c_uint64(), ctypes.c_uint64()
    lib.penta_source_place(view.bytes, word(offset, "an offset"), ctypes.byref(line), ctypes.byref(column), None)
    return line.value, column.value


Object = Union[Tuple[str, Buffer], Tuple[str, Buffer, bool]]


def link(objects: Iterable[Object], map: Optional[List[str]] = None, **link_options: OptionValue) -> bytes:  # noqa: A002
    """Links objects and archives, each a name and its bytes, and perhaps True: taken only when it defines what is
    missing. The first decides: COIL objects (options relocatable, entry), or RISC-V ELF files to a PolkaVM or JAM
    program (isa, to, dispatch, metadata, strip, stack, optimize). A list of what went where is appended to map."""
    given = list(objects)
    kept = [View(one[1]) for one in given]
    raw = (types.penta_object * max(len(given), 1))(*[
        types.penta_object(text(one[0]), view.bytes, any(one[2:])) for one, view in zip(given, kept)])
    found, out, listed = Findings(), Filled(), Filled()
    coil = bool(given) and lib.penta_coil_links(kept[0].bytes)

    def report(_user: Any, name: Optional[bytes], error: Any) -> None:
        one = finding(error.contents)
        found.found.append(one if name is None else Finding(
            one.code, one.name, one.severity, one.offset, f"{_text(name)}: {one.message}", one.note, one.decoded,
            one.number))

    found.check((lib.penta_coil_link if coil else lib.penta_pvm_link)(
        raw, len(given), *options(link_options), out.ref, None if map is None else listed.ref,
        types.penta_link_report(report), None))
    if map is not None:
        map.append(_text(listed.take()))
    return out.take()


from .session import HostCall, Machine, Replay, Session  # noqa: E402  they need Module
