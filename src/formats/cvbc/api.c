/* Implements include/penta/cvbc.h with the functions of the format: statuses, keys, opening
 * files, and their contents. */
#include "cvbc/api.h"
#include "base/bytes.h"
#include "base/codec/checksum.h"
#include "crypto/hash.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const struct cvbc_module *module_container(const penta_module *module)
{
    assert(module->driver == &cvbc_driver);
    return cvbc_module(module);
}

enum { STATUS_ARG = 1, STATUS_IO = 25, STATUS_MEMORY = 26, STATUSES };

static const char *const status_names[STATUSES] = {
    [0] = "CVBC_OK",
    [STATUS_ARG] = "CVBC_ERR_ARG",
    [STATUS_IO] = "CVBC_ERR_IO",
    [STATUS_MEMORY] = "CVBC_ERR_NOMEM",
#define STATUS(number, name, ...) [number] = "CVBC_ERR_" #name,
#define RULE(...)
#include "cvbc/rules.def"
};

/* Returns the status of a rule. A rule without a status of its own has that of the rule to which
 * it belongs. */
uint32_t penta_cvbc_status(uint32_t code)
{
    const penta_rule *rule = rule_find(cvbc_rules, code);
    uint32_t number = code & 0xffff;
    switch (code) {
    case 0: return 0;
    case BASE_IO: return STATUS_IO;
    case BASE_MEMORY: return STATUS_MEMORY;
    case BASE_TRUNCATED: return CVBC_TRUNCATED & 0xffff;
    case BASE_LIMIT: return CVBC_LIMIT & 0xffff;
    case BASE_DAMAGED: return CVBC_BOUNDS & 0xffff;
    case CVBC_UNTRUSTED: return CVBC_KEY & 0xffff;
    case CVBC_SEALED:
    case CVBC_PROGRAM_KIND: return CVBC_SECURITY & 0xffff;
    case CVBC_PROGRAMS:
    case CVBC_PROGRAM_NAME: return CVBC_METADATA & 0xffff;
    case CVBC_PROGRAM_DIGEST: return CVBC_HASH & 0xffff;
    default: break;
    }
    if (!rule || code >> 16 != CVBC_FORMAT) return STATUS_ARG;
    if (rule->scope == PENTA_SCOPE_PROGRAM) return CVBC_BYTECODE & 0xffff;
    return number < STATUSES ? number : STATUS_ARG;
}

const char *penta_cvbc_status_name(uint32_t status)
{
    return status < STATUSES && status_names[status] ? status_names[status] : "CVBC_ERR_UNKNOWN";
}

uint32_t penta_cvbc_crc32(penta_bytes bytes) { return checksum_crc32(bytes); }

/* The functions below give the tables of the format as data. */

bool penta_cvbc_record(const char *record, size_t i, penta_cvbc_field *out)
{
    for (const struct layout_record *r = cvbc_records; r->name; r++) {
        if (strcmp(r->name, record)) continue;
        uint32_t offset = 0;
        for (const struct layout_field *f = r->fields; f->name; offset += f++->size)
            if (!i--) {
                *out = (penta_cvbc_field){f->name, offset, f->size, f->kind};
                return true;
            }
    }
    return false;
}

const char *penta_cvbc_name(const char *field, uint64_t value) { return cvbc_name(field, value); }

bool penta_cvbc_value(const char *field, const char *name, uint64_t *value)
{
    return cvbc_value(field, bytes_of(name), value);
}

const char *penta_cvbc_mnemonic(uint8_t opcode) { return cvbc_ops[opcode].mnemonic; }

uint32_t penta_cvbc_pin_features(uint8_t function) { return cvbc_pin_features(function); }

_Static_assert((int)PENTA_CVBC_ED25519 == KEY_ED25519 && (int)PENTA_CVBC_P256 == KEY_P256 &&
                   (int)PENTA_CVBC_RSA2048 == KEY_RSA2048 && (int)PENTA_CVBC_LMS == KEY_LMS &&
                   (int)PENTA_CVBC_ED25519_LMS == KEY_ED25519_LMS,
               "signature_algorithm is a key_type");

const char *penta_cvbc_key_name(uint32_t type)
{
    return type && type < KEY_TYPES ? key_type_name((enum key_type)type) : NULL;
}

bool penta_cvbc_key_generate(uint32_t type, penta_buffer *pem, penta_error *err)
{
    return penta_cvbc_key_generate_lms(type, NULL, pem, err);
}

bool penta_cvbc_key_generate_lms(uint32_t type, const char *parameters, penta_buffer *pem,
                                 penta_error *err)
{
    *err = (penta_error){0};
    if (!type || type >= KEY_TYPES)
        return error_at(err, CVBC_KEY, 0, "no key has the type %u", (unsigned)type);
    struct private_key *key = key_generate((enum key_type)type, parameters, err);
    struct writer w = {0};
    if (key) key_private_pem(key, &w);
    bool ok = writer_give(&w, key, pem, err);
    key_private_free(key);
    return ok;
}

bool penta_cvbc_key_reserve(const char *path, const char *state, uint64_t count, penta_buffer *pem,
                            penta_error *err)
{
    *err = (penta_error){0};
    struct writer w = {0};
    bool ok = key_private_reserve(path, state, count, CVBC_KEY, &w, err);
    return writer_give(&w, ok, pem, err);
}

bool penta_cvbc_key_left(penta_bytes pem, uint64_t *left, penta_error *err)
{
    *err = (penta_error){0};
    struct private_key *key = key_private_read(pem, CVBC_KEY, err);
    if (key) *left = key_private_left(key);
    key_private_free(key);
    return key;
}

bool penta_cvbc_key_public(penta_bytes pem, penta_buffer *public_pem, penta_error *err)
{
    struct public_key key;
    *err = (penta_error){0};
    if (!key_public_read(pem, &key, CVBC_KEY, err)) return false;
    struct writer w = {0};
    key_public_pem(&key, &w);
    return writer_give(&w, true, public_pem, err);
}

bool penta_cvbc_key_read(penta_bytes pem, penta_cvbc_key *out, penta_error *err)
{
    struct public_key key;
    *err = (penta_error){0};
    *out = (penta_cvbc_key){0};
    if (!key_public_read(pem, &key, CVBC_KEY, err)) return false;
    out->type = key.type;
    out->size = (uint32_t)key.size;
    memcpy(out->raw, key.bytes, key.size);
    key_fingerprint(&key, out->fingerprint);
    return true;
}

void penta_cvbc_wipe(penta_buffer *buffer)
{
    if (buffer->data) secret_wipe(buffer->data, buffer->capacity);
    penta_buffer_free(buffer);
}

bool cvbc_secret_copy(penta_bytes from, struct cvbc_secret *out, penta_error *err)
{
    out->bytes = malloc(from.size ? from.size : 1);
    if (!out->bytes) return error_at(err, BASE_MEMORY, 0, "no memory for a key");
    bytes_copy(out->bytes, from);
    out->size = from.size;
    return true;
}

static bool fill_policy(struct cvbc_policy *to, const penta_cvbc_policy *from, penta_error *err)
{
    to->require_signature = from->require_signature;
    to->require_low_s = from->require_low_s;
    if (from->inflate_max) to->inflate_max = from->inflate_max;
    if (from->iterations_max) to->iterations_max = from->iterations_max;
    if (from->trusted_count) {
        to->trusted = calloc(from->trusted_count, sizeof *to->trusted);
        if (!to->trusted) return error_at(err, BASE_MEMORY, 0, "no memory for keys");
    }
    for (size_t i = 0; i < from->trusted_count; i++) {
        if (!key_public_read(from->trusted[i], &to->trusted[i], CVBC_KEY, err))
            return error_note(err, "trusted key %zu", i);
        to->trusted_count++;
    }
    if (!from->secret.data) return true;
    to->has_secret = cvbc_secret_copy(from->secret, &to->secret, err);
    return to->has_secret;
}

penta_module *penta_cvbc_open(penta_bytes file, const penta_cvbc_policy *policy, penta_error *err)
{
    *err = (penta_error){0};
    penta_module *module = cvbc_parse(file, NULL, 0, err);
    if (!module || !policy) return module;
    /* The policy may still change, because nothing was verified before this point. */
    struct cvbc_module *m = (struct cvbc_module *)module;
    if (fill_policy(&m->policy, policy, err) && cvbc_program_choose(m, policy->program, err))
        return module;
    cvbc_close(module);
    return NULL;
}

bool penta_cvbc_check(const penta_module *module, bool quick, penta_report *report, void *user)
{
    struct findings f = {.rules = cvbc_rules, .report = report, .user = user};
    if (quick)
        cvbc_check_quick(module_container(module), &f);
    else
        cvbc_check_full(module_container(module), &f);
    return !f.errors;
}

static const char *verdict_summary(const struct cvbc_module *m, const penta_cvbc_verdict *v)
{
    uint32_t code = v->failure.code;
    if (!code)
        return v->signature_good ? "signature and contents good" : "contents good, not signed";
    if (code == CVBC_UNTRUSTED) return "untrusted";
    bool sealed = code == CVBC_DECRYPT && !m->policy.has_secret;
    return sealed && v->trust == PENTA_CVBC_TRUST_KEY ? "signature good, contents not checked"
                                                      : "not verified";
}

void penta_cvbc_verify(const penta_module *module, bool require_signature, bool require_low_s,
                       penta_cvbc_verdict *out)
{
    const struct cvbc_module *m = module_container(module);
    penta_error unmet = {0};
    /* Contents are opened only if the signature is as required. */
    bool met = cvbc_meets(m, require_signature || m->policy.require_signature,
                          require_low_s || m->policy.require_low_s, &unmet);
    const struct cvbc_opened *o = met ? cvbc_open(m) : &m->opened;
    penta_error failure = met ? o->failure : unmet;
    *out = (penta_cvbc_verdict){
        .failure = failure,
        .status = penta_cvbc_status(failure.code),
        .trust = (penta_cvbc_trust)o->trust,
        .signature_good = o->signature_good && failure.code != CVBC_SIGNATURE,
        .contents_checked = met && o->contents_checked,
        .trusted_key = o->trusted_key,
        .algorithm = m->header.flags & CVBC_SIGNED ? m->protection.signature_algorithm : 0};
    out->summary = verdict_summary(m, out);
    struct public_key key;
    const char *why;
    if (!out->signature_good) return;
    if (o->trust == CVBC_TRUST_KEY)
        key_fingerprint(&m->policy.trusted[o->trusted_key], out->fingerprint);
    else if (key_public_raw((enum key_type)out->algorithm, m->public_key, &key, &why))
        key_fingerprint(&key, out->fingerprint);
}

bool penta_cvbc_sealed_only(const penta_module *module, penta_error *warning)
{
    return cvbc_sealed_only(module_container(module), warning);
}

const penta_error *penta_cvbc_objection(const penta_module *module)
{
    return cvbc_objection(module_container(module));
}

bool penta_cvbc_check_source(const penta_module *module, const penta_option *options, size_t count,
                             penta_error *err)
{
    const struct cvbc_module *m = module_container(module);
    uint8_t digest[32] = {0};
    *err = (penta_error){0};
    if (!options_check(options, count, cvbc_driver.options, OPTION_VERIFY, err) ||
        !cvbc_source_hash(options, count, digest, err))
        return false;
    if (!option_text(options, count, "source") ||
        (m->has_protection && !memcmp(digest, m->integrity.source_sha256, sizeof digest)))
        return true;
    return error_at(err, CVBC_HASH,
                    m->has_protection ? cvbc_offset(m, m->security.data) + cvbc_security_bytes : 0,
                    "source_sha256 is not that of these sources");
}

static const struct cvbc_opened *module_verified(const penta_module *module, penta_error *err)
{
    const struct cvbc_opened *o = cvbc_open(module_container(module));
    *err = o->failure;
    return o->failure.code ? NULL : cvbc_open(cvbc_chosen(module_container(module)));
}

enum part {
    PART_BYTECODE,
    PART_STORED,
    PART_HEADER,
    PART_METADATA,
    PART_SECURITY,
    PART_DEBUG,
    PART_PUBLIC_KEY,
    PART_SIGNATURE,
    PART_CUSTOM,
    PART_PROGRAM,
    PARTS
};
static const char *const part_names[PARTS] = {"bytecode", "stored", "header",     "metadata",
                                              "security", "debug",  "public-key", "signature",
                                              "custom",   "program"};

const char *penta_cvbc_part_name(size_t i) { return i < PARTS ? part_names[i] : NULL; }

/* Tells whether the policy allows contents of the file to be given out. */
static bool module_allowed(const struct cvbc_module *m, penta_error *err)
{
    const penta_error *objection = m->policy.require_signature ? cvbc_objection(m) : NULL;
    if (objection) *err = *objection;
    return !objection;
}

bool penta_cvbc_part(const penta_module *module, const char *part, penta_bytes *out,
                     penta_error *err)
{
    const struct cvbc_module *file = module_container(module), *m = cvbc_chosen(file);
    const penta_bytes parts[PARTS] = {[PART_STORED] = m->stored,
                                      [PART_HEADER] =
                                          bytes_slice(m->base.file, 0, cvbc_header_bytes),
                                      [PART_METADATA] = m->metadata,
                                      [PART_SECURITY] = m->security,
                                      [PART_DEBUG] = m->debug,
                                      [PART_PUBLIC_KEY] = file->public_key,
                                      [PART_SIGNATURE] = file->signature,
                                      [PART_CUSTOM] = m->meta.custom,
                                      [PART_PROGRAM] = m == file ? (penta_bytes){0} : m->base.file};
    *err = (penta_error){0};
    if (!module_allowed(file, err)) return false;
    if (!strcmp(part, part_names[PART_BYTECODE])) {
        const struct cvbc_opened *o = module_verified(module, err);
        if (o) *out = o->program.image;
        return o;
    }
    for (size_t i = 0; i < PARTS; i++) {
        if (strcmp(part_names[i], part)) continue;
        *out = parts[i];
        if (out->size) return true;
        error_at(err, BASE_OPTION_VALUE, 0, "the file has no %s", part);
        return i == PART_PROGRAM ? error_note(err, "option 'program' names one besides the first")
                                 : false;
    }
    return error_not_in(err, "part", part, penta_cvbc_part_name);
}

bool penta_cvbc_tbs(const penta_module *module, uint8_t out[40], penta_error *err)
{
    const struct cvbc_module *m = module_container(module);
    *err = (penta_error){0};
    if (!module_allowed(m, err)) return false;
    if (!m->signature.size) return error_at(err, CVBC_UNSIGNED, 56, "the file is not signed");
    cvbc_tbs(m->base.file, cvbc_offset(m, m->signature.data), m->signature.size,
             m->protection.hash_algorithm, out);
    return true;
}

bool penta_cvbc_program_get(const penta_module *module, penta_cvbc_program *out, penta_error *err)
{
    const struct cvbc_opened *o = module_verified(module, err);
    if (!o) return false;
    const struct cvbc_program *p = &o->program;
    *out = (penta_cvbc_program){{p->code, 4 * p->count},      (uint32_t)p->count,
                                p->head.entry_point_offset,   p->head.stack_size_required,
                                p->head.local_variable_count, (uint32_t)p->string_count};
    return true;
}

const char *penta_cvbc_program_name(const penta_module *module, size_t i)
{
    return cvbc_program_name(module_container(module), i);
}

bool penta_cvbc_string(const penta_module *module, size_t id, penta_bytes *text)
{
    penta_error err;
    const struct cvbc_opened *o = module_verified(module, &err);
    if (!o || id >= o->program.string_count) return false;
    *text = o->program.strings[id];
    return true;
}

bool penta_cvbc_hint(const penta_module *module, size_t i, uint8_t *type, uint8_t *priority,
                     penta_bytes *data)
{
    const struct cvbc_metadata *meta = &cvbc_chosen(module_container(module))->meta;
    if (i >= meta->hint_count) return false;
    *type = meta->hints[i].head.hint_type;
    *priority = meta->hints[i].head.priority;
    *data = meta->hints[i].data;
    return true;
}

bool penta_cvbc_symbol(const penta_module *module, size_t i, uint8_t *kind, uint32_t *value,
                       penta_bytes *name)
{
    penta_bytes table = cvbc_debug_split(cvbc_chosen(module_container(module))->debug).symbols;
    struct cvbc_symbol row;
    for (size_t pos = 0; cvbc_symbol_next(table, &pos, &row, name);)
        if (!i--) {
            *kind = row.kind;
            *value = row.value;
            return true;
        }
    return false;
}

bool penta_cvbc_verify_code(penta_bytes code, uint32_t entry, uint32_t string_count,
                            uint32_t *stack, uint32_t *variables, penta_report *report, void *user)
{
    struct findings f = {.rules = cvbc_rules, .report = report, .user = user};
    struct cvbc_flow flow = {0};
    penta_error err = {0};
    struct cvbc_program p = {.code = code.data,
                             .count = code.size / 4,
                             .string_count = string_count,
                             .minor = CVBC_MINOR_ENFORCED};
    if (!code.size || code.size % 4 || p.count > UINT16_MAX)
        error_at(&err, CVBC_BYTECODE, 0, "%zu bytes are not 1 to 65535 instructions of 4",
                 code.size);
    else if (entry >= p.count)
        error_at(&err, CVBC_BYTECODE, 0, "the entry point is %u, of %zu instructions",
                 (unsigned)entry, p.count);
    p.head.entry_point_offset = (uint16_t)entry;
    if (!err.code && !cvbc_verify_program(&p, &f, 0, true, &flow))
        error_at(&err, BASE_MEMORY, 0, "no memory to follow the program");
    if (err.code) findings_pass(&f, &err);
    if (stack) *stack = flow.stack;
    if (variables) *variables = flow.globals;
    return !f.errors;
}
