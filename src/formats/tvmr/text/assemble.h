/* Declares what the parts of the assembler share. The parts are lines and sections (assemble.c),
 * instructions (assemble_insn.c), the metadata (assemble_metadata.c) and the image
 * (assemble_image.c). */
#pragma once
#include "text/labels.h"
#include "tvmr/tvmr.h"

/* A part of the source, without blanks around it. */
struct span {
    const uint8_t *at;
    size_t size;
};

struct required {
    struct span name; /* the name as the text writes it */
    struct tvmr_extension_entry entry;
};

struct regdef_override {
    size_t index;
    penta_bytes bytes;
};

enum asm_section {
    ASM_NONE,
    ASM_META,
    ASM_REQUIRES,
    ASM_REGISTERS,
    ASM_PROGRAM,
    ASM_PROJECTION,
    ASM_SKIP,
    ASM_IMAGE
};

struct assembly {
    struct source *s;
    struct findings *findings;
    struct arena arena;
    penta_error err;
    enum asm_section section;
    size_t last_line; /* the offset of the last line, where errors of the end are reported */

    struct tvmr_meta meta;
    bool has_name, has_version, skull[3];
    struct tvmr_projection projection;
    bool in_projection;
    size_t projection_capacity;

    struct required *required;
    size_t required_count, required_capacity;

    struct writer regs; /* the definitions of registers */
    size_t *reg_starts, reg_count, reg_capacity;

    struct writer code;
    struct labels labels;
    int input_reg, output_reg; /* the registers of the first LOAD_INPUT and STORE_OUTPUT, or -1 */

    /* These are the values that the section .image gives. */
    int64_t version, flags; /* -1 when the text does not give it */
    bool has_checksum, has_reserved, has_exts, has_metadata, has_stored, has_file;
    uint64_t checksum, reserved;
    struct tvmr_extension_entry *exts;
    size_t ext_count, ext_capacity;
    struct regdef_override *overrides;
    size_t override_count, override_capacity;
    penta_bytes metadata, trailing, stored, tail, file;
    uint64_t plain_size;
};

/* Makes an error at a place of the source. Returns false, so that a caller fails in one line. */
#define asm_at(a, at) ((uint64_t)((at) - (a)->s->text.data))
#define asm_fail(a, code, at, ...) error_at(&(a)->err, code, asm_at(a, at), __VA_ARGS__)
#define asm_warn(a, code, at, ...)                                                                 \
    findings_add((a)->findings, code, asm_at(a, at), NULL, __VA_ARGS__)
/* Makes room for one more item of an array in the arena. Returns NULL when memory ran out. */
void *asm_grow(struct assembly *a, void *items, size_t count, size_t *capacity, size_t item);

/* assemble.c defines what this block declares. */
struct span span_trim(struct span s);
struct span
span_word(struct span *rest); /* Takes the first word; *rest becomes what follows, trimmed. */
bool span_is(struct span s, const char *text);              /* The comparison ignores case. */
bool span_uint(struct span s, uint64_t max, uint64_t *out); /* Reads a number, decimal or
                                                             * hexadecimal after 0x. */
bool span_register(struct span s, uint8_t *reg);
bool asm_registers_declared(const struct assembly *a, uint8_t reg, const uint8_t **def);

/* assemble_insn.c defines what this block declares. */
bool tvmr_asm_instruction(struct assembly *a, struct span line);
void asm_resolve(struct assembly *a); /* Puts the targets of labels into the instructions that
                                       * use them, at the end of the text. */

/* assemble_metadata.c defines what this block declares. */
void asm_metadata(struct assembly *a, struct writer *out); /* Writes the JSON that the text
                                                            * describes. */
/* Changes the JSON of the section that .image gives. Returns false when the text changes nothing
 * in it. */
bool asm_metadata_edit(struct assembly *a, struct writer *out);

/* Tells whether a text can be written in a line of the language, in quotes or not. print.c
 * defines it. */
bool tvmr_line_text(penta_bytes text);

/* assemble_image.c defines what this block declares. */
bool asm_image_line(struct assembly *a, struct span line);
bool asm_finish(struct assembly *a, bool metadata, bool compress, struct writer *out);
