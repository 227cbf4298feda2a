/* Recognises, describes and converts programs older than the container. Converting repairs what
 * the old compiler did wrong, as far as the code shows it. */
#include "cvbc/format/legacy.h"
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "core/describe.h"
#include "core/nested.h"
#include "cvbc/format/hardware/board.h"

/* The functions below detect the layout (CVBC 17.4). */

enum { CONC_BYTES = 16, COUNTS_BYTES = 8 };
#define CONC UINT32_C(0x434F4E43)

static uint16_t crc_ccitt(penta_bytes b)
{
    uint16_t crc = 0xffff;
    for (size_t i = 0; i < b.size; i++) {
        crc = (uint16_t)(crc ^ b.data[i] << 8);
        for (int bit = 0; bit < 8; bit++)
            crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
    }
    return crc;
}

static uint16_t crc_modbus(penta_bytes b)
{
    uint16_t crc = 0xffff;
    for (size_t i = 0; i < b.size; i++) {
        crc ^= b.data[i];
        for (int bit = 0; bit < 8; bit++) crc = (uint16_t)(crc & 1 ? crc >> 1 ^ 0xa001 : crc >> 1);
    }
    return crc;
}

static struct cvbc_inst inst_of(const uint8_t *p, bool words)
{
    return words ? (struct cvbc_inst){p[3], p[2], bytes_get16(p)}
                 : (struct cvbc_inst){p[0], p[1], bytes_get16(p + 2)};
}

static bool legacy_valid(const uint8_t *p, bool words)
{
    struct cvbc_inst in = inst_of(p, words);
    const struct cvbc_op_info *op = &cvbc_ops[in.opcode];
    if (!op->mnemonic || (in.flags && !(in.flags == 1 && in.opcode == CVBC_OP_PUSH))) return false;
    return !in.immediate || op->operand != CVBC_OPERAND_NONE;
}

/* Counts the valid instructions from the start, and tells whether one of them is not HALT. */
static size_t valid_run(penta_bytes code, bool words, bool *does_something)
{
    size_t n = 0;
    *does_something = false;
    for (; 4 * n + 4 <= code.size && legacy_valid(code.data + 4 * n, words); n++)
        if (inst_of(code.data + 4 * n, words).opcode != CVBC_OP_HALT) *does_something = true;
    return n;
}

/* Returns the end of the string record at `at`, or 0 if there is no record. */
static size_t string_end(penta_bytes b, size_t at)
{
    if (b.size - at < 5) return 0;
    uint32_t length = bytes_get32(b.data + at);
    if (!length || length > b.size - at - 4) return 0;
    const uint8_t *text = b.data + at + 4;
    return memchr(text, 0, length) == text + length - 1 ? at + 4 + length : 0;
}

static bool detect_counted(penta_bytes b, struct cvbc_legacy *out)
{
    if (b.size < COUNTS_BYTES) return false;
    uint64_t n = bytes_get32(b.data), s = bytes_get32(b.data + 4);
    if (!n || n > UINT16_MAX || s > UINT16_MAX || COUNTS_BYTES + 4 * n > b.size) return false;
    size_t at = COUNTS_BYTES + 4 * (size_t)n;
    for (uint64_t i = 0; i < s; i++)
        if (!(at = string_end(b, at))) return false;
    if (at != b.size) return false;
    penta_bytes code = bytes_slice(b, COUNTS_BYTES, 4 * (size_t)n);
    for (int words = 1; words >= 0; words--) {
        bool does_something;
        if (valid_run(code, words, &does_something) != n || !does_something) continue;
        *out = (struct cvbc_legacy){.layout = words ? "counted-words" : "counted-struct",
                                    .code_offset = COUNTS_BYTES,
                                    .count = (size_t)n,
                                    .words = words,
                                    .string_offset = COUNTS_BYTES + 4 * (size_t)n,
                                    .string_count = (size_t)s};
        return true;
    }
    return false;
}

/* For every offset this has the place of the next NUL, and whether string records lead from the
 * offset exactly to the end. Both are computed once from the end, so that trying every place
 * takes linear time. */
struct chains {
    uint32_t *nul;
    bool *whole;
};

static bool find_chains(penta_bytes b, struct chains *c)
{
    c->nul = calloc(b.size + 1, sizeof *c->nul);
    c->whole = calloc(b.size + 1, sizeof *c->whole);
    if (!c->nul || !c->whole) return false;
    c->nul[b.size] = UINT32_MAX;
    c->whole[b.size] = true;
    for (size_t at = b.size; at-- > 0;) {
        c->nul[at] = b.data[at] ? c->nul[at + 1] : (uint32_t)at;
        if (b.size - at < 5) continue;
        uint32_t length = bytes_get32(b.data + at);
        if (length && length <= b.size - at - 4 && c->nul[at + 4] == at + 3 + length)
            c->whole[at] = c->whole[at + 4 + length];
    }
    return true;
}

/* Finds the end of raw code: the first multiple of 4 from 8 on that has only instructions before
 * it and only strings after it. */
static bool find_raw(penta_bytes b, const struct chains *c, struct cvbc_legacy *out)
{
    size_t run[2],
        /* `valid` is the number of valid instructions, and `does_something` the first that is
         * not HALT. */
        does_something[2] = {SIZE_MAX, SIZE_MAX};
    for (int words = 0; words < 2; words++) {
        bool any;
        run[words] = valid_run(b, words, &any);
        for (size_t i = 0; any && i < run[words] && does_something[words] == SIZE_MAX; i++)
            if (inst_of(b.data + 4 * i, words).opcode != CVBC_OP_HALT) does_something[words] = i;
    }
    for (size_t count = 2; count <= UINT16_MAX && 4 * count <= b.size; count++) {
        if (!c->whole[4 * count]) continue;
        for (int words = 0; words < 2; words++) {
            if (run[words] < count || does_something[words] >= count) continue;
            *out = (struct cvbc_legacy){.layout = words ? "raw-words" : "raw-struct",
                                        .count = count,
                                        .string_offset = 4 * count,
                                        .words = words};
            for (size_t at = 4 * count; at < b.size; at += 4 + bytes_get32(b.data + at))
                out->string_count++;
            return true;
        }
    }
    return false;
}

static bool detect_raw(penta_bytes b, struct cvbc_legacy *out)
{
    struct chains c = {0};
    bool ok = b.size >= 8 && b.size < UINT32_MAX && find_chains(b, &c) && find_raw(b, &c, out);
    free(c.nul);
    free(c.whole);
    return ok;
}

bool cvbc_legacy_detect(penta_bytes file, struct cvbc_legacy *out, const char **why)
{
    const char *wrapper = NULL;
    size_t skip = 0;
    *why = "no layout fits these bytes";
    if (file.size >= 4 && bytes_get32(file.data) == CVBC_MAGIC_NUMBER) {
        *why = "this is a container already";
        return false;
    }
    if (file.size >= CONC_BYTES && bytes_get32(file.data) == CONC) {
        uint32_t size = bytes_get32(file.data + 4);
        penta_bytes inner = bytes_slice(file, CONC_BYTES, size);
        uint16_t crc = bytes_get16(file.data + 14);
        if (inner.size != size) {
            *why = "the CONC wrapper announces more bytes than there are";
            return false;
        }
        wrapper = crc == crc_ccitt(inner)    ? "conc-ccitt"
                  : crc == crc_modbus(inner) ? "conc-modbus"
                                             : NULL;
        if (!wrapper) {
            *why = "the checksum of the CONC wrapper is wrong";
            return false;
        }
        file = inner;
        skip = CONC_BYTES;
        if (file.size >= 4 && bytes_get32(file.data) == CONC) return false;
    }
    if (!detect_counted(file, out) && !detect_raw(file, out)) return false;
    out->wrapper = wrapper;
    out->code_offset += skip;
    out->string_offset += skip;
    return true;
}

/* The functions below repair code (CVBC 17.5). */

struct code {
    struct cvbc_inst *at;
    size_t count;
    struct findings *f;
    const struct cvbc_legacy *layout;
    unsigned repairs;
};

static void legacy_repaired(struct code *c, unsigned which, size_t i, const char *what)
{
    static const char *const names[] = {"R1", "R2", "R3", "R4", "R5", "R6"};
    unsigned number = 0;
    while (which >> (number + 1)) number++;
    c->repairs |= which;
    if (c->f)
        findings_add(c->f, CVBC_REPAIRED, c->layout->code_offset + 4 * i, NULL, "%s: %s",
                     names[number], what);
}

static void repair_delays(struct code *c)
{
    for (size_t i = 0; i + 2 < c->count; i++) {
        struct cvbc_inst *in = &c->at[i];
        if (in->opcode != CVBC_OP_PUSH || (in->immediate != 16960 && in->immediate != 17000))
            continue;
        if (in[1].opcode != CVBC_OP_MUL || in[2].opcode != CVBC_OP_DELAY) continue;
        in->immediate = 1;
        legacy_repaired(c, CVBC_R1, i, "a delay was multiplied; it is in milliseconds now");
    }
}

static bool legacy_conditional(uint8_t opcode)
{
    return opcode == CVBC_OP_JMP_TRUE || opcode == CVBC_OP_JMP_FALSE;
}

static void repair_jumps(struct code *c)
{
    bool any = false;
    for (size_t i = 0; i < c->count; i++) {
        struct cvbc_inst *in = &c->at[i];
        if (in->opcode != CVBC_OP_JMP && !legacy_conditional(in->opcode)) continue;
        in->immediate = (uint16_t)(i + 1 + in->immediate);
        if (!any)
            legacy_repaired(c, CVBC_R2, i,
                            "jumps were relative to the next instruction; they are absolute now");
        any = true;
    }
}

static void repair_arrays(struct code *c)
{
    for (size_t i = 0; i + 1 < c->count; i++) {
        if (c->at[i].opcode != CVBC_OP_CREATE_ARRAY || c->at[i + 1].opcode != CVBC_OP_PUSH)
            continue;
        struct cvbc_inst push = c->at[i + 1];
        c->at[i + 1] = c->at[i];
        c->at[i++] = push;
        legacy_repaired(c, CVBC_R3, i, "the size of an array was pushed after its use");
    }
    for (size_t i = 0; i < c->count; i++)
        if (c->at[i].opcode == CVBC_OP_STORE_ARRAY) {
            c->at[i].flags |= CVBC_V;
            legacy_repaired(c, CVBC_R4, i, "the value lies above the index here");
        }
}

/* Repairs && and ||: a JMP to the instruction two after a POP, if the POP itself is the target
 * of a branch and PUSH 0 or 1 follows. The branch has popped the word already. Jumps are
 * absolute at this point. */
static void repair_short_circuits(struct code *c)
{
    bool *target = calloc(c->count + 1, sizeof *target);
    if (!target) return;
    for (size_t i = 0; i < c->count; i++)
        if (legacy_conditional(c->at[i].opcode) && c->at[i].immediate < c->count)
            target[c->at[i].immediate] = true;
    for (size_t i = 1; i + 1 < c->count; i++) {
        const struct cvbc_inst *before = &c->at[i - 1], *after = &c->at[i + 1];
        if (c->at[i].opcode != CVBC_OP_POP || !target[i] || before->opcode != CVBC_OP_JMP ||
            before->immediate != i + 2 || after->opcode != CVBC_OP_PUSH || after->immediate > 1)
            continue;
        c->at[i] = (struct cvbc_inst){CVBC_OP_JMP, 0, (uint16_t)(i + 1)};
        legacy_repaired(c, CVBC_R5, i, "a short circuit popped its condition twice");
    }
    free(target);
}

/* Resolves escapes in place. Returns true if there was one. */
static bool legacy_unescape(uint8_t *text, size_t *size)
{
    static const char from[] = "ntr\\\"'", to[] = "\n\t\r\\\"'";
    size_t w = 0;
    bool any = false;
    for (size_t r = 0; r < *size; r++) {
        const char *known = text[r] == '\\' && r + 1 < *size ? strchr(from, text[r + 1]) : NULL;
        if (known && *known) {
            text[w++] = (uint8_t)to[known - from];
            any = true;
            r++;
        } else {
            text[w++] = text[r];
        }
    }
    *size = w;
    return any;
}

/* Warns about code that looks like the result of statements which the old compiler translated
 * wrongly. */
static void legacy_warn(const struct code *c)
{
    if (!c->f) return;
    bool pair = false, params = false;
    size_t where = 0;
    for (size_t i = 0; i + 2 < c->count && !pair; i++)
        if (c->at[i].opcode == CVBC_OP_RET && c->at[i + 1].opcode == CVBC_OP_PUSH &&
            c->at[i + 2].opcode == CVBC_OP_STORE_GLOBAL) {
            params = true;
            where = i + 1;
        }
    if (c->at[1].opcode == CVBC_OP_HALT && c->count > 4 && c->at[0].immediate > 2 &&
        c->at[2].opcode == CVBC_OP_PUSH && c->at[3].opcode == CVBC_OP_STORE_GLOBAL) {
        params = true;
        where = 2;
    }
    if (params)
        findings_add(c->f, CVBC_NOT_REPAIRABLE, c->layout->code_offset + 4 * where, NULL,
                     "an initialiser of a global lies where nothing executes it");
}

static void legacy_repair(struct code *c)
{
    repair_delays(c);
    if (c->count < 2 || c->at[0].opcode != CVBC_OP_CALL || c->at[1].opcode != CVBC_OP_HALT) return;
    repair_jumps(c);
    repair_arrays(c);
    repair_short_circuits(c);
    legacy_warn(c);
}

static bool read_strings(penta_bytes file, struct code *c, bool keep, struct cvbc_build *b,
                         penta_error *err)
{
    size_t at = c->layout->string_offset;
    for (size_t i = 0; i < c->layout->string_count; i++) {
        size_t size = bytes_get32(file.data + at) - 1;
        struct writer text = {0};
        writer_bytes(&text, file.data + at + 4, size);
        if (!writer_ok(&text, err)) return false;
        if (!keep && legacy_unescape(text.out.data, &size)) {
            if (!(c->repairs & CVBC_R6) && c->f)
                findings_add(c->f, CVBC_REPAIRED, at + 4, NULL,
                             "R6: escapes in strings were stored as written");
            c->repairs |= CVBC_R6;
        }
        cvbc_build_string(b, (penta_bytes){text.out.data, size});
        writer_free(&text);
        at += 5 + (size_t)bytes_get32(file.data + at) - 1;
    }
    return true;
}

bool cvbc_legacy_read(penta_bytes file, const struct cvbc_legacy *layout, bool keep,
                      struct cvbc_build *b, unsigned *repairs, struct findings *f, penta_error *err)
{
    struct code c = {.count = layout->count, .f = f, .layout = layout};
    c.at = calloc(c.count + 1, sizeof *c.at);
    if (!c.at) return error_at(err, BASE_MEMORY, 0, "no memory for the program");
    for (size_t i = 0; i < c.count; i++)
        c.at[i] = inst_of(file.data + layout->code_offset + 4 * i, layout->words);
    if (!keep) legacy_repair(&c);
    for (size_t i = 0; i < c.count; i++)
        cvbc_build_inst(b, c.at[i].opcode, c.at[i].flags, c.at[i].immediate);
    free(c.at);
    bool ok = read_strings(file, &c, keep, b, err);
    *repairs = c.repairs;
    return ok;
}

/* The driver of these programs can only describe and convert them. */

struct legacy_module {
    penta_module base;
    struct cvbc_legacy layout;
};

static int legacy_probe(penta_bytes file, struct writer *evidence)
{
    struct cvbc_legacy layout;
    const char *why;
    if (file.size < CONC_BYTES || bytes_get32(file.data) != CONC) return 0;
    bool good = cvbc_legacy_detect(file, &layout, &why);
    if (evidence)
        writer_print(evidence, "starts with 43 4e 4f 43, %s", good ? "and its checksum fits" : why);
    return good ? 100 : 40;
}

/* The wrapper has nothing but its checksums that other bytes would not have. Both may be tried, bit
 * by bit, here, by the probe and by the parser, which counts as work for each byte. */
static bool legacy_head(penta_bytes rest, struct nested_head *head)
{
    struct cvbc_legacy layout;
    const char *why;
    if (rest.size < CONC_BYTES) return false;
    uint64_t size = bytes_get32(rest.data + 4);
    if (size > rest.size - CONC_BYTES) return false;
    *head = (struct nested_head){.size = CONC_BYTES + size, .dialect = "legacy", .work = 15 * size};
    return cvbc_legacy_detect(rest, &layout, &why);
}

static const struct driver_nested legacy_nested = {{CONC}, legacy_head};

static penta_module *legacy_parse(penta_bytes file, const penta_option *options, size_t count,
                                  penta_error *err)
{
    (void)options, (void)count;
    struct cvbc_legacy layout;
    const char *why;
    if (!cvbc_legacy_detect(file, &layout, &why)) {
        error_at(err, CVBC_LEGACY, 0, "%s", why);
        return NULL;
    }
    struct legacy_module *m = module_new(sizeof *m, &cvbc_legacy_driver, file, options, count, err);
    if (!m) return NULL;
    m->layout = layout;
    return &m->base;
}

static const struct legacy_module *legacy_of(const penta_module *m)
{
    return (const struct legacy_module *)m;
}

static void legacy_verify(const penta_module *module, struct findings *f) { (void)module, (void)f; }

static void legacy_describe(const penta_module *module, const penta_visitor *v)
{
    const struct cvbc_legacy *l = &legacy_of(module)->layout;
    const uint8_t *p = module->file.data;
    size_t at = 0;
    if (l->wrapper) {
        penta_node conc = {.name = "conc", .size = CONC_BYTES};
        if (describe_enter(v, conc)) {
            static const struct layout_field fields[] = {{"magic", 4, PENTA_WORD, ""},
                                                         {"program_size", 4, PENTA_UINT, ""},
                                                         {"instruction_count", 4, PENTA_UINT, ""},
                                                         {"string_count", 2, PENTA_UINT, ""},
                                                         {"crc16", 2, PENTA_WORD, ""},
                                                         {NULL, 0, PENTA_RAW, NULL}};
            layout_leaves(v, fields, p, 0, false, NULL);
            describe_leave(v, conc);
        }
        at = CONC_BYTES;
    }
    if (at < l->code_offset)
        describe_raw(v, "counts", bytes_slice(module->file, at, COUNTS_BYTES), at, NULL);
    penta_node code = {
        .name = "code", .offset = l->code_offset, .size = 4 * l->count, .list = true};
    if (describe_enter(v, code)) {
        for (size_t i = 0; i < l->count; i++) {
            const uint8_t *in = p + l->code_offset + 4 * i;
            describe_raw(v, "insn", (penta_bytes){in, 4}, l->code_offset + 4 * i,
                         cvbc_ops[inst_of(in, l->words).opcode].mnemonic);
        }
        describe_leave(v, code);
    }
    at = l->string_offset;
    penta_node strings = {.name = "strings", .offset = at, .list = true};
    for (size_t i = 0; i < l->string_count; i++)
        strings.size += 4 + bytes_get32(p + at + strings.size);
    if (l->string_count && describe_enter(v, strings)) {
        for (size_t i = 0; i < l->string_count; i++) {
            size_t size = 4 + (size_t)bytes_get32(p + at);
            describe_raw(v, "string", (penta_bytes){p + at, size}, at, NULL);
            at += size;
        }
        describe_leave(v, strings);
    }
    if (at < module->file.size)
        describe_raw(v, "trailing", bytes_slice(module->file, at, module->file.size), at, NULL);
}

static void legacy_info(const penta_module *module, const penta_visitor *v)
{
    const struct cvbc_legacy *l = &legacy_of(module)->layout;
    describe_text(v, "wrapper", l->wrapper ? l->wrapper : "none");
    describe_text(v, "layout", l->layout);
    describe_uint(v, "instructions", l->count);
    describe_uint(v, "strings", l->string_count);
}

static bool legacy_encode(const penta_module *module, struct writer *out, penta_error *err)
{
    writer_bytes(out, module->file.data, module->file.size);
    return writer_ok(out, err);
}

static bool legacy_convert(const penta_module *module, const penta_option *options, size_t count,
                           struct writer *out, struct findings *findings)
{
    struct findings f = {.rules = cvbc_rules, .report = findings->report, .user = findings->user};
    struct cvbc_build b = {.flags = CVBC_DETERMINISTIC};
    penta_error err = {0};
    unsigned repairs = 0;
    const char *from = option_text(options, count, "from"),
               *target = option_text(options, count, "target");
    if (from && strcmp(from, "legacy"))
        error_at(&err, BASE_OPTION_VALUE, 0, "from '%.40s' is not legacy", from);
    struct cvbc_board board;
    if (!err.code && target && cvbc_board_find(target, &board, &err)) {
        b.core.target_architecture = (uint8_t)board.architecture;
        b.core.target_family = (uint8_t)board.family;
        b.core.target_variant = (uint16_t)board.variant;
    }
    bool keep = option_text(options, count, "no-repair") != NULL;
    bool ok =
        !err.code &&
        cvbc_legacy_read(module->file, &legacy_of(module)->layout, keep, &b, &repairs, &f, &err) &&
        cvbc_build_write(&b, out, &err);
    if (err.code) findings_pass(&f, &err);
    cvbc_build_fini(&b);
    findings->errors += f.errors;
    findings->warnings += f.warnings;
    return ok;
}

static void close_module(penta_module *module) { free((struct legacy_module *)module); }

static const penta_rule no_rules[] = {{0}};
static const penta_option_info options[] = {
    OPTION_ROW("from", WORDS("legacy"), OPTION_CONVERT, "programs from before the container"),
    OPTION_ROW("no-repair", SWITCH, OPTION_CONVERT, "keep the defects of the old compiler"),
    OPTION_ROW("target", FILE_OR("BOARD", cvbc_board_name), OPTION_CONVERT,
               "target of the new file"),
    {.key = NULL}};

const struct driver cvbc_legacy_driver = {
    .name = "cvbc-legacy",
    .title = "CockpitVM program without a container",
    .number = CVBC_FORMAT | 0x100,
    .rules = no_rules,
    .options = options,
    .nested = &legacy_nested,
    .probe = legacy_probe,
    .parse = legacy_parse,
    .verify = legacy_verify,
    .describe = legacy_describe,
    .info = legacy_info,
    .encode = legacy_encode,
    .others = (const struct driver_other[]){{OPTION_CONVERT, legacy_convert}, {0}},
    .close = close_module,
};
