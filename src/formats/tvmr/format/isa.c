/* Makes the tables of isa.def and of the files in extensions/, and finds their rows. */
#include "core/describe.h"
#include "tvmr/tvmr.h"
#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The core: its rows are sorted by group (the upper four bits of the opcode) and number. */

static const struct tvmr_op core_ops[] = {
#define CORE(code, name, mnemonic, bytes, base, text, handler, meaning)                            \
    {0, code, #name, mnemonic, bytes, text, base, TVMR_PATTERN_CUSTOM, NULL, NULL, NULL, meaning},
#include "tvmr/isa.def"
};

static const struct tvmr_op reserved_ops[] = {
#define RESERVED(code, name)                                                                       \
    {0, code, #name, NULL, "----", NULL, 0, TVMR_PATTERN_CUSTOM, NULL, NULL, NULL, "reserved"},
#include "tvmr/reserved.def"
};

enum core_index { /* the row numbers of core_ops */
#define CORE(code, name, ...) CORE_##name,
#include "tvmr/isa.def"
};
enum reserved_index {
#define RESERVED(code, name) RESERVED_##name,
#include "tvmr/reserved.def"
};
enum { NUMBERS = 32 };
#define CELL(code) [TVMR_GROUP(code)][(code) & (NUMBERS - 1)]

static const struct tvmr_op *const core_cells[TVMR_GROUPS][NUMBERS] = {
#define CORE(code, name, ...) CELL(code) = &core_ops[CORE_##name],
#include "tvmr/isa.def"
#define RESERVED(code, name) CELL(code) = &reserved_ops[RESERVED_##name],
#include "tvmr/reserved.def"
};

/* The opcodes of an extension count from 0, so the number of a row is its opcode. */

#define OP(code, name, pattern, bytes, handler, meaning)                                           \
    {EXT, code, #name, NULL, bytes, NULL, 0, TVMR_PATTERN_##pattern, NULL, NULL, NULL, meaning},
#define YIELD(code, name, pattern, bytes, handler, domain, fields, meaning)                        \
    {EXT,  code,    #name,  NULL,   bytes, NULL, 0, TVMR_PATTERN_##pattern,                        \
     NULL, #domain, fields, meaning},
#define EXT TVMR_ID_TENSOR
static const struct tvmr_op ops_TENSOR[] = {
#include "tvmr/extensions/tensor.def"
};
#undef EXT
#define EXT TVMR_ID_TERNARY
static const struct tvmr_op ops_TERNARY[] = {
#include "tvmr/extensions/ternary.def"
};
#undef EXT
#define EXT TVMR_ID_ACTIVATION
static const struct tvmr_op ops_ACTIVATION[] = {
#include "tvmr/extensions/activation.def"
};
#undef EXT
#define EXT TVMR_ID_LEARNING
static const struct tvmr_op ops_LEARNING[] = {
#include "tvmr/extensions/learning.def"
};
#undef EXT
#define EXT TVMR_ID_NEURO
static const struct tvmr_op ops_NEURO[] = {
#include "tvmr/extensions/neuro.def"
};
#undef EXT
#define EXT TVMR_ID_ARCH
static const struct tvmr_op ops_ARCH[] = {
#include "tvmr/extensions/arch.def"
};
#undef EXT
#define EXT TVMR_ID_ORCHESTRATION
static const struct tvmr_op ops_ORCHESTRATION[] = {
#include "tvmr/extensions/orchestration.def"
};
#undef EXT
#define EXT TVMR_ID_LIFECYCLE
static const struct tvmr_op ops_LIFECYCLE[] = {
#include "tvmr/extensions/lifecycle.def"
};
#undef EXT
#define EXT TVMR_ID_IPC
static const struct tvmr_op ops_IPC[] = {
#include "tvmr/extensions/ipc.def"
};
#undef EXT
#define EXT TVMR_ID_TEST
static const struct tvmr_op ops_TEST[] = {
#include "tvmr/extensions/test.def"
};
#undef EXT
#define EXT TVMR_ID_BANK
static const struct tvmr_op ops_BANK[] = {
#include "tvmr/extensions/bank.def"
};
#undef EXT
#define EXT TVMR_ID_POOL
static const struct tvmr_op ops_POOL[] = {
#include "tvmr/extensions/pool.def"
};
#undef EXT
#define EXT TVMR_ID_SAMPLING
static const struct tvmr_op ops_SAMPLING[] = {
#include "tvmr/extensions/sampling.def"
};
#undef EXT
#define ops_CORE core_ops

const struct tvmr_extension tvmr_standard[] = {
#define EXTENSION(id, name, text, title)                                                           \
    {id, 1, 0, 0, text, title, ops_##name, sizeof ops_##name / sizeof *ops_##name, NULL, 0, 0},
#include "tvmr/extensions.def"
    {0, 0, 0, 0, NULL, NULL, NULL, 0, NULL, 0, 0}};

/* Extensions that C programs add are a list that only grows, so that readers need no lock. */

struct added {
    const struct tvmr_extension *extension;
    struct added *next;
};
static _Atomic(struct added *) added_list;

bool tvmr_extension_add(const struct tvmr_extension *extension, penta_error *err)
{
    if (extension->id < TVMR_ID_USER || extension->id == 0xffff)
        return error_at(err, BASE_RANGE, 0, "extension ids of users are 0x0100 to 0xfffe");
    if (tvmr_extension_find(extension->id))
        return error_at(err, BASE_NAME_TWICE, 0, "extension 0x%04x is registered already",
                        extension->id);
    if (tvmr_extension_named(bytes_of(extension->name)))
        return error_at(err, BASE_NAME_TWICE, 0, "an extension '%.40s' is registered already",
                        extension->name);
    struct added *item = malloc(sizeof *item);
    if (!item) return error_at(err, BASE_MEMORY, 0, "no memory for an extension");
    item->extension = extension;
    item->next = atomic_load(&added_list);
    while (!atomic_compare_exchange_weak(&added_list, &item->next, item)) {
    }
    return true;
}

const struct tvmr_extension *tvmr_extension_find(uint16_t id)
{
    for (const struct tvmr_extension *e = tvmr_standard; e->name; e++)
        if (e->id == id) return e;
    for (const struct added *a = atomic_load(&added_list); a; a = a->next)
        if (a->extension->id == id) return a->extension;
    return NULL;
}

const struct tvmr_extension *tvmr_extension_at(size_t i)
{
    size_t standard = sizeof tvmr_standard / sizeof *tvmr_standard - 1;
    if (i < standard) return &tvmr_standard[i];
    const struct added *a = atomic_load(&added_list);
    for (i -= standard; a && i; i--) a = a->next;
    return a ? a->extension : NULL;
}

static bool same_word(penta_bytes word, const char *name)
{
    if (strlen(name) != word.size) return false;
    for (size_t i = 0; i < word.size; i++)
        if (tolower(word.data[i]) != tolower((unsigned char)name[i])) return false;
    return true;
}

const struct tvmr_extension *tvmr_extension_named(penta_bytes name)
{
    for (const struct tvmr_extension *e = tvmr_standard + 1; e->name; e++)
        if (same_word(name, e->name)) return e;
    for (const struct added *a = atomic_load(&added_list); a; a = a->next)
        if (same_word(name, a->extension->name)) return a->extension;
    return NULL;
}

struct tvmr_extension_entry tvmr_required_version(uint16_t id)
{
    const struct tvmr_extension *e = tvmr_extension_find(id);
    if (!e || !e->manifest) return (struct tvmr_extension_entry){id, 1, 0, 0};
    return (struct tvmr_extension_entry){id, e->major, e->minor, e->patch};
}

const struct tvmr_op *tvmr_op_find(uint16_t ext, uint16_t opcode)
{
    if (!ext) {
        bool cell = TVMR_GROUP(opcode) < TVMR_GROUPS && !(opcode & 0x0fff & ~(NUMBERS - 1));
        return cell ? core_cells[TVMR_GROUP(opcode)][opcode & (NUMBERS - 1)] : NULL;
    }
    const struct tvmr_extension *e = tvmr_extension_find(ext);
    if (!e) return NULL;
    if (opcode < e->count && e->ops[opcode].opcode == opcode) return &e->ops[opcode];
    for (size_t i = 0; i < e->count; i++)
        if (e->ops[i].opcode == opcode) return &e->ops[i];
    return NULL;
}

uint32_t tvmr_domain_id(const struct tvmr_op *op)
{
    const struct tvmr_extension *e = tvmr_extension_find(op->ext);
    for (size_t i = 0; e && i < e->count; i++)
        if (e->ops[i].domain && !strcmp(e->ops[i].domain, op->domain))
            return (uint32_t)op->ext << 16 | e->ops[i].opcode;
    return (uint32_t)op->ext << 16 | op->opcode;
}

const struct tvmr_op *tvmr_domain_op(uint32_t id)
{
    const struct tvmr_op *op = tvmr_op_find((uint16_t)(id >> 16), (uint16_t)id);
    return op && op->domain ? op : NULL;
}

void tvmr_mnemonic(const struct tvmr_op *op, char *text)
{
    size_t n = 0;
    if (op->ext) {
        const struct tvmr_extension *e = tvmr_extension_find(op->ext);
        n = (size_t)(e ? snprintf(text, 24, "%.20s.", e->name)
                       : snprintf(text, 24, "0x%04x.", op->ext));
    }
    const char *name = op->mnemonic ? op->mnemonic : op->name;
    for (; *name && *name != '|' && n < 63; name++) text[n++] = (char)tolower((unsigned char)*name);
    text[n] = 0;
}

static const char *const profiles[] = {"penta", "ternsig"};

const char *tvmr_profile_name(size_t i)
{
    return i < sizeof profiles / sizeof *profiles ? profiles[i] : NULL;
}

bool tvmr_profile_option(const penta_option *options, size_t count, enum tvmr_profile *profile,
                         penta_error *err)
{
    const char *name = option_text(options, count, "profile");
    if (!name) return true;
    for (size_t i = 0; tvmr_profile_name(i); i++)
        if (!strcmp(name, tvmr_profile_name(i))) {
            *profile = (enum tvmr_profile)i;
            return true;
        }
    return error_not_in(err, "profile", name, tvmr_profile_name);
}

const struct tvmr_pattern_info tvmr_patterns[] = {
#define PATTERN(name, text, used) {text, used},
#include "tvmr/patterns.def"
};

static const struct tvmr_type types[] = {
#define TYPE(id, upper, name, bytes, aliases) {id, name, bytes, aliases},
#include "tvmr/types.def"
};
enum { TYPES = sizeof types / sizeof *types };

const struct tvmr_type *tvmr_type_at(size_t i)
{
    if (i < TYPES) return &types[i];
    i -= TYPES;
    for (const struct added *a = atomic_load(&added_list); a; a = a->next) {
        if (i < a->extension->type_count) return &a->extension->types[i];
        i -= a->extension->type_count;
    }
    return NULL;
}

const struct tvmr_type *tvmr_type_find(uint16_t id)
{
    const struct tvmr_type *t;
    for (size_t i = 0; (t = tvmr_type_at(i)); i++)
        if (t->id == id) return t;
    return NULL;
}

static bool isa_among(penta_bytes word, const char *names)
{
    while (*names) {
        size_t n = strcspn(names, " "), i = 0;
        while (n == word.size && i < n && tolower(word.data[i]) == names[i]) i++;
        if (n == word.size && i == n) return true;
        names += n + strspn(names + n, " ");
    }
    return false;
}

const struct tvmr_type *tvmr_type_named(penta_bytes name)
{
    const struct tvmr_type *t;
    for (size_t i = 0; (t = tvmr_type_at(i)); i++)
        if (same_word(name, t->name) || isa_among(name, t->aliases)) return t;
    return NULL;
}

static const char banks[] = "HCPS";
static const char null_name[] = "null";

bool tvmr_is_register(penta_bytes name)
{
    if (bytes_equal(name, bytes_of(null_name))) return true;
    return name.size > 1 && name.size < 4 && memchr(banks, name.data[0], sizeof banks - 1) &&
           name.data[1] >= '0' && name.data[1] <= '9' &&
           (name.size == 2 || (name.data[2] >= '0' && name.data[2] <= '9'));
}

void tvmr_register_name(uint8_t reg, char *text)
{
    unsigned index = reg & 63u;
    if (reg == TVMR_NULL) {
        memcpy(text, null_name, sizeof null_name);
        return;
    }
    *text++ = banks[reg >> 6];
    if (index > 9) *text++ = (char)('0' + index / 10);
    *text++ = (char)('0' + index % 10);
    *text = 0;
}

/* The functions below list the instructions for `penta formats --instructions`. */

static void describe_op(const struct tvmr_op *op, const penta_visitor *v)
{
    penta_node node = {.name = "instruction"};
    char mnemonic[64];
    tvmr_mnemonic(op, mnemonic);
    if (!describe_enter(v, node)) return;
    describe_word(v, "extension", op->ext);
    describe_word(v, "opcode", op->opcode);
    describe_text(v, "mnemonic", mnemonic);
    if (op->ext) describe_text(v, "pattern", tvmr_patterns[op->pattern].name);
    describe_text(v, "bytes", op->bytes);
    if (op->domain) describe_text(v, "yields", op->domain);
    describe_text(v, "meaning", op->meaning);
    describe_leave(v, node);
}

void tvmr_isa(const penta_visitor *v)
{
    for (const struct tvmr_extension *e = tvmr_standard; e->name; e++)
        for (size_t i = 0; i < e->count; i++) describe_op(&e->ops[i], v);
}
