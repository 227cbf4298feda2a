/* Describes a file as a tree whose leaves contain every byte (coil_describe), and gives a few
 * facts about it (coil_info). The pieces of the file come from pieces.c, and the fields of
 * records from layout.def. */
#include "core/describe.h"
#include "coil/coil.h"
#include "coil/format/pieces.h"
#include "coil/format/target.h"
#include "coil/format/proto.h"
#include <stdio.h>
#include <stdlib.h>

const char *const coil_section_names[COIL_SECTION_TYPES] = {
#define SECTION(name) #name,
#include "coil/kinds.def"
};
const char *const coil_symbol_names[COIL_SYMBOL_TYPES] = {
#define SYMBOL(name) #name,
#include "coil/kinds.def"
};
const char *const coil_bind_names[COIL_BINDINGS] = {
#define BINDING(name) #name,
#include "coil/kinds.def"
};
const char *const coil_visibility_names[COIL_VISIBILITIES] = {
#define VISIBILITY(name) #name,
#include "coil/kinds.def"
};

const char *const coil_unit_names[COIL_UNITS] = {
#define UNIT(name) #name,
#include "coil/kinds.def"
};

static const char *header_note(const char *field, uint64_t value)
{
    if (!strcmp(field, "flags"))
        return value == COIL_FILE_EXEC     ? "EXEC"
               : value == COIL_FILE_RELOC  ? "RELOC"
               : value == COIL_FILE_SHARED ? "SHARED"
                                           : NULL;
    if (!strcmp(field, "target_pu")) {
        if (value == COIL_UNIT_ANY) return "any";
        return value < COIL_UNITS ? coil_unit_names[value] : NULL;
    }
    if (!strcmp(field, "target_arch")) return value < COIL_ARCHS ? coil_arch_names[value] : NULL;
    if (!strcmp(field, "endianness")) return value ? "big" : "little";
    return NULL;
}

static const char *section_note(const char *field, uint64_t value)
{
    return !strcmp(field, "type") && value < COIL_SECTION_TYPES ? coil_section_names[value] : NULL;
}

static const char *symbol_note(const char *field, uint64_t value)
{
    if (!strcmp(field, "type")) return value < COIL_SYMBOL_TYPES ? coil_symbol_names[value] : NULL;
    if (!strcmp(field, "bind")) return value < COIL_BINDINGS ? coil_bind_names[value] : NULL;
    if (!strcmp(field, "visibility"))
        return value < COIL_VISIBILITIES ? coil_visibility_names[value] : NULL;
    if (!strcmp(field, "section_idx"))
        return value == 0 ? "undefined" : value == COIL_ABSOLUTE ? "absolute" : NULL;
    return NULL;
}

static const char *reloc_note(const char *field, uint64_t value)
{
    static const char *const names[COIL_RELOC_TYPES] = {
#define RELOC(name) #name,
#include "coil/kinds.def"
    };
    return !strcmp(field, "type") && (value & 255) < COIL_RELOC_TYPES ? names[value & 255] : NULL;
}

static void describe_header(const struct coil_module *m, const penta_visitor *v)
{
    penta_node node = {.name = "header", .size = m->header_size};
    if (!describe_enter(v, node)) return;
    if (!m->natural) {
        layout_leaves(v, coil_header_fields, m->base.file.data, 0, m->big_endian, header_note);
        /* A header in natural layout is described in two parts, because it has four bytes of
         * padding in the middle. */
    } else {
        enum { BEFORE = 10 };
        struct layout_field head[BEFORE + 1];
        memcpy(head, coil_header_fields, BEFORE * sizeof *head);
        head[BEFORE] = (struct layout_field){NULL, 0, PENTA_RAW, NULL};
        layout_leaves(v, head, m->base.file.data, 0, m->big_endian, header_note);
        describe_raw(v, "hidden", bytes_slice(m->base.file, 44, 4), 44, "natural layout");
        layout_leaves(v, coil_header_fields + BEFORE, m->base.file.data + 48, 48, m->big_endian,
                      header_note);
    }
    describe_leave(v, node);
}

static void describe_sections(const struct coil_module *m, const penta_visitor *v,
                              const struct coil_piece *p)
{
    penta_node node = {.name = "sections", .offset = p->from, .size = p->size, .list = true};
    if (!describe_enter(v, node)) return;
    size_t step = m->natural ? COIL_NATURAL_SECTION : coil_section_bytes;
    for (size_t i = 0; i < m->section_count; i++) {
        uint64_t at = p->from + i * step;
        penta_node entry = {.name = "section", .offset = at, .size = step};
        if (!describe_enter(v, entry)) continue;
        describe_field(v, (penta_field){.name = "name",
                                        .kind = PENTA_TEXT,
                                        .as.bytes = coil_string(m, m->sections[i].name_idx)});
        layout_leaves(v, coil_section_fields, m->base.file.data + at, at, m->big_endian,
                      section_note);
        if (m->natural)
            describe_raw(v, "hidden", bytes_slice(m->base.file, (size_t)at + 52, 4), at + 52,
                         "natural layout");
        describe_leave(v, entry);
    }
    describe_leave(v, node);
}

static void describe_symbols(const struct coil_module *m, const penta_visitor *v,
                             const struct coil_piece *p)
{
    penta_node node = {.name = "symbols", .offset = p->from, .size = p->size, .list = true};
    if (!describe_enter(v, node)) return;
    for (size_t i = 0; i < m->symbol_count; i++) {
        uint64_t at = p->from + i * coil_symbol_bytes;
        penta_node entry = {.name = "symbol", .offset = at, .size = coil_symbol_bytes};
        if (!describe_enter(v, entry)) continue;
        describe_field(
            v,
            (penta_field){.name = "name", .kind = PENTA_TEXT, .as.bytes = coil_symbol_name(m, i)});
        layout_leaves(v, coil_symbol_fields, m->base.file.data + at, at, m->big_endian,
                      symbol_note);
        describe_leave(v, entry);
    }
    describe_leave(v, node);
}

static void describe_relocs(const struct coil_module *m, const penta_visitor *v,
                            const struct coil_piece *p)
{
    penta_node node = {.name = "relocations", .offset = p->from, .size = p->size, .list = true};
    if (!describe_enter(v, node)) return;
    for (size_t i = 0; i < m->reloc_count; i++) {
        uint64_t at = p->from + i * coil_reloc_bytes;
        layout_describe(v, "relocation", coil_reloc_fields, m->base.file.data + at, at,
                        m->big_endian, reloc_note);
    }
    describe_leave(v, node);
}

static void describe_strings(const struct coil_module *m, const penta_visitor *v,
                             const struct coil_piece *p)
{
    penta_node node = {.name = "strings", .offset = p->from, .size = p->size, .list = true};
    if (!describe_enter(v, node)) return;
    for (size_t at = 0; at < m->strings.size;) {
        penta_bytes text = coil_string(m, at);
        /* The size of a string includes the zero at its end, if there is one. */
        size_t size = text.size + (at + text.size < m->strings.size);
        describe_field(v, (penta_field){.name = "string",
                                        .offset = p->from + at,
                                        .size = size,
                                        .kind = PENTA_TEXT,
                                        .as.bytes = text});
        at += size;
    }
    describe_leave(v, node);
}

static const char *opcode_meaning(const char *field, uint64_t value)
{
    (void)field;
    return value < 256 ? coil_ops[value].name : NULL;
}

static void describe_insn(const struct coil_module *m, const penta_visitor *v,
                          const struct coil_insn *insn, uint64_t origin, struct writer *text)
{
    const uint8_t *bytes = m->base.file.data + origin;
    text->out.size = 0;
    coil_print_insn(text, m, insn);
    writer_uint(text, 0, 1);
    penta_node node = {.name = "insn", .offset = origin + insn->at, .size = insn->size};
    if (text->failed) describe_incomplete(v);
    if (text->failed || !describe_enter(v, node)) return;
    size_t head = insn->opcode == COIL_OP_VENDOR ? 3 : 2, at = insn->at;
    describe_field(v, (penta_field){.name = "opcode",
                                    .offset = origin + at,
                                    .size = 1,
                                    .kind = PENTA_WORD,
                                    .as.u = insn->opcode,
                                    .note = (const char *)text->out.data,
                                    .meaning = opcode_meaning});
    if (head == 3)
        describe_field(v, (penta_field){.name = "extended",
                                        .offset = origin + at + 1,
                                        .size = 1,
                                        .kind = PENTA_WORD,
                                        .as.u = insn->extended});
    describe_field(v, (penta_field){.name = "operand_count",
                                    .offset = origin + at + head - 1,
                                    .size = 1,
                                    .kind = PENTA_UINT,
                                    .as.u = insn->count});
    for (unsigned i = 0; i < insn->count; i++) {
        const struct coil_operand *o = &insn->operands[i];
        text->out.size = 0;
        coil_print_operand(text, m, o);
        writer_uint(text, 0, 1);
        if (text->failed) {
            describe_incomplete(v);
            break;
        }
        describe_raw(v, "operand", (penta_bytes){bytes + o->at, o->size}, origin + o->at,
                     (const char *)text->out.data);
    }
    describe_leave(v, node);
}

static void describe_code(const struct coil_module *m, const penta_visitor *v, size_t index)
{
    struct coil_insn *insn = calloc(1, sizeof *insn);
    struct writer text = {0};
    penta_error err = {0};
    struct reader r = coil_code_reader(m, index, &err);
    if (!insn) describe_incomplete(v);
    while (insn && reader_left(&r) && !text.failed) {
        size_t from = r.pos;
        if (coil_insn_read(&r, insn)) {
            describe_insn(m, v, insn, r.origin, &text);
            continue;
        }
        if (err.code == BASE_MEMORY) describe_incomplete(v);
        describe_raw(v, "undecoded", bytes_slice(r.in, from, r.in.size), r.origin + from,
                     err.message);
        break;
    }
    if (insn) coil_insn_free(insn);
    free(insn);
    writer_free(&text);
}

/* Makes the name of a node from the name of a section. The name becomes a part of paths, so it
 * has visible characters only, without those that separate the parts of a path. The section
 * table shows the name as it is in the file. */
static void node_name(penta_bytes text, char *name, size_t room)
{
    size_t n = text.size < room - 1 ? text.size : room - 1;
    for (size_t i = 0; i < n; i++) {
        uint8_t c = text.data[i];
        name[i] = c <= ' ' || c >= 0x7f || c == '/' || c == '[' || c == ']' ? '_' : (char)c;
    }
    name[n] = 0;
    if (!n) snprintf(name, room, "contents");
}

static void describe_contents(const struct coil_module *m, const penta_visitor *v,
                              const struct coil_piece *p)
{
    char name[80];
    node_name(coil_string(m, m->sections[p->index].name_idx), name, sizeof name);
    bool proto = coil_is_proto(m, p->index);
    if (!coil_is_code(&m->sections[p->index]) && !proto) {
        describe_raw(v, name, coil_contents(m, p->index), p->from, NULL);
        return;
    }
    penta_node node = {.name = name, .offset = p->from, .size = p->size, .list = true};
    if (!describe_enter(v, node)) return;
    if (proto)
        coil_proto_describe(m, p->index, v);
    else
        describe_code(m, v, p->index);
    describe_leave(v, node);
}

static void describe_piece(const struct coil_module *m, const penta_visitor *v,
                           const struct coil_piece *p)
{
    switch (p->kind) {
    case COIL_PIECE_HEADER: describe_header(m, v); break;
    case COIL_PIECE_SECTIONS: describe_sections(m, v, p); break;
    case COIL_PIECE_SYMBOLS: describe_symbols(m, v, p); break;
    case COIL_PIECE_STRINGS: describe_strings(m, v, p); break;
    case COIL_PIECE_RELOCS: describe_relocs(m, v, p); break;
    case COIL_PIECE_CONTENTS: describe_contents(m, v, p); break;
    }
}

void coil_describe(const penta_module *module, const penta_visitor *v)
{
    const struct coil_module *m = coil_module(module);
    penta_bytes file = module->file;
    if (module->damage.code) {
        if (m->header_size) describe_header(m, v);
        if (file.size > m->header_size)
            describe_raw(v, "damaged", bytes_slice(file, m->header_size, file.size), m->header_size,
                         module->damage.message);
        return;
    }
    size_t count;
    struct coil_piece *pieces = coil_pieces(m, &count);
    if (!pieces) describe_incomplete(v);
    uint64_t end = 0;
    for (size_t i = 0; pieces && i < count; i++) {
        if (pieces[i].from > end)
            describe_raw(v, "padding",
                         bytes_slice(file, (size_t)end, (size_t)(pieces[i].from - end)), end, NULL);
        describe_piece(m, v, &pieces[i]);
        end = pieces[i].from + pieces[i].size;
    }
    if (end < file.size)
        describe_raw(v, "unused", bytes_slice(file, (size_t)end, file.size), end,
                     "after the last table and section");
    free(pieces);
}

static void info_insns(const struct coil_module *m, const penta_visitor *v)
{
    struct coil_insn *insn = calloc(1, sizeof *insn);
    uint64_t count = 0;
    for (size_t i = 0; insn && i < m->section_count; i++) {
        penta_error err = {0};
        struct reader r = coil_code_reader(m, i, &err);
        while (coil_is_code(&m->sections[i]) && reader_left(&r) && coil_insn_read(&r, insn))
            count++;
        if (err.code == BASE_MEMORY) describe_incomplete(v);
    }
    if (!insn) describe_incomplete(v);
    describe_uint(v, "instructions", count);
    if (insn) coil_insn_free(insn);
    free(insn);
}

static void info_symbols(const struct coil_module *m, const penta_visitor *v, const char *name,
                         bool imports)
{
    penta_node list = {.name = name, .list = true};
    if (!describe_enter(v, list)) return;
    for (size_t i = 0; i < m->symbol_count; i++) {
        const struct coil_symbol *s = &m->symbols[i];
        bool undefined = !s->section_idx && s->type != COIL_COMMON;
        if (imports ? undefined : s->type == COIL_FUNC && s->section_idx)
            describe_field(v, (penta_field){.name = "name",
                                            .kind = PENTA_TEXT,
                                            .as.bytes = coil_symbol_name(m, i)});
    }
    describe_leave(v, list);
}

/* Adds a value as its name, or as a number if it has no name. */
static void info_target(const penta_visitor *v, const char *field, uint32_t value, const char *name)
{
    if (name)
        describe_text(v, field, name);
    else
        describe_word(v, field, value);
}

void coil_info(const penta_module *module, const penta_visitor *v)
{
    const struct coil_module *m = coil_module(module);
    const struct coil_header *h = &m->header;
    if (module->damage.code) {
        describe_uint(v, "bytes", module->file.size);
        return;
    }
    char version[16];
    snprintf(version, sizeof version, "%u.%u.%u", (unsigned)(h->version >> 16 & 255),
             (unsigned)(h->version >> 8 & 255), (unsigned)(h->version & 255));
    describe_text(v, "kind",
                  m->raw                        ? "bare instructions"
                  : h->flags & COIL_FILE_EXEC   ? "executable"
                  : h->flags & COIL_FILE_SHARED ? "shared"
                                                : "relocatable");
    describe_text(v, "version", version);
    describe_text(v, "byte_order", m->big_endian ? "big" : "little");
    describe_text(v, "layout", m->natural ? "natural" : "packed");
    info_target(v, "target_pu", h->target_pu,
                h->target_pu < COIL_UNITS ? coil_unit_names[h->target_pu] : NULL);
    info_target(v, "target_arch", h->target_arch, coil_arch_name(h->target_pu, h->target_arch));
    info_target(v, "target_mode", h->target_mode,
                coil_mode_name(h->target_pu, h->target_arch, h->target_mode));
    if (h->flags & COIL_FILE_EXEC) describe_word(v, "entry_point", h->entry_point);
    info_insns(m, v);
    describe_uint(v, "symbols", m->symbol_count);
    describe_uint(v, "relocations", m->reloc_count);
    penta_node list = {.name = "sections", .list = true};
    if (!m->raw && describe_enter(v, list)) {
        for (size_t i = 0; i < m->section_count; i++) {
            penta_node node = {.name = "section"};
            if (!describe_enter(v, node)) continue;
            describe_field(v, (penta_field){.name = "name",
                                            .kind = PENTA_TEXT,
                                            .as.bytes = coil_string(m, m->sections[i].name_idx)});
            describe_uint(v, "bytes", m->sections[i].size);
            describe_word(v, "address", m->sections[i].addr);
            describe_leave(v, node);
        }
        describe_leave(v, list);
    }
    info_symbols(m, v, "functions", false);
    info_symbols(m, v, "undefined", true);
}
