/* Handles containers with several programs (CVBC 21). The first program is the file itself. The
 * others are whole containers after the security section, and the directory at the end of the
 * metadata names them. The digests in the directory connect the other programs to the metadata,
 * and so to the digests, the cipher and the signature of the file. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/suggest.h"
#include "core/describe.h"
#include "crypto/hash.h"
#include "cvbc/format/hardware/hardware.h"

bool cvbc_program_name_good(const uint8_t name[CVBC_NAME_BYTES])
{
    size_t size = strnlen((const char *)name, CVBC_NAME_BYTES);
    for (size_t i = 0; i < size; i++)
        if (!isalnum(name[i]) && !memchr("_-.", name[i], 3)) return false;
    for (size_t i = size; i < CVBC_NAME_BYTES; i++)
        if (name[i]) return false;
    return size && size < CVBC_NAME_BYTES;
}

static const uint8_t *name_field(const struct cvbc_module *m, size_t i)
{
    return i ? m->meta.entries[i - 1].program_name : m->meta.programs.first_name;
}

const char *cvbc_program_name(const struct cvbc_module *m, size_t i)
{
    if (!m->meta.entries || i > m->meta.entry_count) return NULL;
    const uint8_t *name = name_field(m, i);
    return cvbc_program_name_good(name) ? (const char *)name : NULL;
}

struct cvbc_module *cvbc_program_named(const struct cvbc_module *m, const char *name,
                                       penta_error *err)
{
    struct suggest near = {.word = bytes_of(name)};
    struct writer names = {0};
    for (size_t i = 0; m->inner && i <= m->meta.entry_count; i++) {
        const char *other = cvbc_program_name(m, i);
        if (!other) continue;
        suggest_offer(&near, other);
        writer_print(&names, "%s%s", i ? ", " : "", other);
        if (strcmp(other, name)) continue;
        writer_free(&names);
        return i ? m->inner[i - 1] : (struct cvbc_module *)m;
    }
    error_at(err, CVBC_PROGRAM_UNKNOWN, 0, "no program is called '%.40s'", name);
    if (near.best)
        error_note(err, "did you mean '%s'?", near.best);
    else if (!m->inner)
        error_note(err, "the file has one program, without a name");
    else
        error_note(err, "there are %.*s", BYTES_ARG(writer_view(&names), 90));
    writer_free(&names);
    return NULL;
}

bool cvbc_program_choose(struct cvbc_module *m, const char *name, penta_error *err)
{
    struct cvbc_module *found = name ? cvbc_program_named(m, name, err) : m;
    m->chosen = found == m ? NULL : found;
    return found != NULL;
}

const struct cvbc_module *cvbc_chosen(const struct cvbc_module *m)
{
    if (!m->chosen) return m;
    cvbc_open(m); /* Opening the file gives the program the policy. */
    return m->chosen;
}

/* The functions below find the other programs. */

static bool programs_overlap(penta_bytes a, penta_bytes b)
{
    return a.size && b.size && a.data < b.data + b.size && b.data < a.data + a.size;
}

/* Returns the bytes of all other programs, or empty bytes if some are missing. */
static penta_bytes programs_area(const struct cvbc_module *m)
{
    penta_bytes file = m->base.file, none = {0};
    if (!m->meta.directory_whole || !m->security.size) return none;
    uint64_t from = (cvbc_offset(m, m->security.data) + m->security.size + 3) & ~UINT64_C(3);
    uint64_t end = from;
    for (size_t i = 0; i < m->meta.entry_count; i++) {
        if (m->meta.entries[i].program_size < CVBC_SIZE_MIN) return none;
        end = ((end + 3) & ~UINT64_C(3)) + m->meta.entries[i].program_size;
    }
    if (end > file.size || end == from) return none;
    penta_bytes found = bytes_slice(file, (size_t)from, (size_t)(end - from));
    bool shared = programs_overlap(found, m->metadata) || programs_overlap(found, m->stored) ||
                  programs_overlap(found, m->debug);
    return shared ? none : found;
}

bool cvbc_programs_find(struct cvbc_module *m, penta_error *err)
{
    size_t count = m->meta.entry_count, at = 0;
    if (m->is_inner || !count || count > CVBC_PROGRAMS_MAX) return true;
    m->programs = programs_area(m);
    if (!m->programs.size) return true;
    m->inner = calloc(count, sizeof *m->inner);
    if (!m->inner) return error_at(err, BASE_MEMORY, 0, "no memory for programs");
    for (size_t i = 0; i < count; i++) {
        uint32_t size = m->meta.entries[i].program_size;
        m->inner[i] = cvbc_parse_inner(bytes_slice(m->programs, at, size), err);
        if (!m->inner[i]) return false;
        at = cvbc_program_next(at, size);
    }
    return true;
}

void cvbc_programs_free(struct cvbc_module *m)
{
    for (size_t i = 0; m->inner && i < m->meta.entry_count; i++) {
        if (!m->inner[i]) continue;
        m->inner[i]->policy = (struct cvbc_policy){0}; /* The policy belongs to the outer module. */
        cvbc_close(&m->inner[i]->base);
    }
    free(m->inner);
    m->inner = NULL;
}

/* The functions below give findings in other programs the offsets of the file. */

struct moved {
    const struct cvbc_module *outer, *inner;
    const char *name;
    struct findings *to;
};

static penta_error move_error(const struct moved *v, const penta_error *inner)
{
    penta_error e = *inner;
    if (e.decoded)
        e.offset = v->inner->stored.size ? cvbc_offset(v->inner, v->inner->stored.data) : 0;
    e.decoded = false;
    e.offset += cvbc_offset(v->outer, v->inner->base.file.data);
    if (v->name) error_note(&e, "in program '%s'", v->name);
    return e;
}

static void pass_moved(void *user, const penta_error *finding)
{
    const struct moved *v = user;
    penta_error e = move_error(v, finding);
    findings_pass(v->to, &e);
}

static bool check_entries(const struct cvbc_module *m, struct findings *f)
{
    const struct cvbc_metadata *meta = &m->meta;
    uint64_t at = cvbc_offset(m, meta->directory.data);
    size_t before = f->errors;
    if (meta->programs.reserved)
        findings_add(f, CVBC_PROGRAMS, at + 2, NULL, "0x%04x in reserved", meta->programs.reserved);
    if (!meta->entry_count)
        findings_add(f, CVBC_PROGRAMS, at, "without other programs there is no directory",
                     "the directory has no entry");
    if (meta->entry_count > CVBC_PROGRAMS_MAX) {
        findings_add(f, CVBC_LIMIT, at, NULL, "%zu programs besides the first, at most %d",
                     meta->entry_count, CVBC_PROGRAMS_MAX);
        return false; /* Each name is compared with all others, so their number is limited. */
    }
    for (size_t i = 0; i <= meta->entry_count; i++) {
        uint64_t field = i ? at + cvbc_directory_bytes + (i - 1) * cvbc_entry_bytes : at + 4;
        if (i && meta->entries[i - 1].program_size < CVBC_SIZE_MIN)
            findings_add(f, CVBC_PROGRAMS, field + CVBC_NAME_BYTES, NULL,
                         "program %zu has %u bytes, a container at least %d", i,
                         (unsigned)meta->entries[i - 1].program_size, CVBC_SIZE_MIN);
        if (!cvbc_program_name(m, i)) {
            findings_add(f, CVBC_PROGRAM_NAME, field, "letters, digits, '_', '-', '.'; at most 31",
                         "program %zu has no proper name", i);
            continue;
        }
        for (size_t k = 0; k < i; k++)
            if (!memcmp(name_field(m, i), name_field(m, k), CVBC_NAME_BYTES))
                findings_add(f, CVBC_PROGRAM_NAME, field, NULL, "two programs are called '%s'",
                             cvbc_program_name(m, i));
    }
    return f->errors == before;
}

static void check_kind(const struct cvbc_module *m, const struct cvbc_module *inner,
                       struct findings *f)
{
    const struct cvbc_security *a = &m->protection, *b = &inner->protection;
    enum { AT_FLAGS = 56 };
    unsigned flags = m->header.flags ^ inner->header.flags;
    if (inner->header.flags & CVBC_SIGNED)
        findings_add(f, CVBC_PROGRAM_KIND, AT_FLAGS, NULL, "a program inside is signed itself");
    if (inner->meta.has_directory)
        findings_add(f, CVBC_PROGRAM_KIND, AT_FLAGS, NULL, "a program inside holds programs");
    if (flags & CVBC_ENCRYPTED || a->encryption_algorithm != b->encryption_algorithm ||
        a->key_derivation_params != b->key_derivation_params)
        findings_add(f, CVBC_PROGRAM_KIND, AT_FLAGS, NULL,
                     "a program inside is not encrypted as the file is");
}

void cvbc_programs_check(const struct cvbc_module *m, struct findings *f)
{
    const struct cvbc_metadata *meta = &m->meta;
    if (!meta->has_directory || m->is_inner || !meta->whole) return;
    uint64_t at = cvbc_offset(m, m->metadata.data) + m->metadata.size;
    if (!meta->entries || !meta->directory_whole) {
        if (meta->entries)
            findings_add(f, CVBC_PROGRAMS, at - meta->rest.size, NULL,
                         "%zu bytes follow the directory", meta->rest.size);
        else
            findings_add(f, CVBC_PROGRAMS, at - meta->rest.size, NULL,
                         "the directory is cut short: %zu bytes", meta->rest.size);
        return;
    }
    if (!check_entries(m, f)) return;
    if (!m->inner) {
        findings_add(f, CVBC_PROGRAMS, at - meta->directory.size, NULL,
                     m->security.size ? "the programs do not lie between the sections"
                                      : "a file with several programs has a security section");
        return;
    }
    for (size_t i = 0; i < meta->entry_count; i++) {
        struct moved moved = {m, m->inner[i], cvbc_program_name(m, i + 1), f};
        struct findings inner = {.rules = cvbc_rules, .report = pass_moved, .user = &moved};
        cvbc_check_full(m->inner[i], &inner);
        if (!inner.errors) check_kind(m, m->inner[i], &inner);
    }
}

/* Gives an inner program the policy. Limits are for all programs together, so the program gets
 * what the others have left. */
static void programs_lend(struct cvbc_module *inner, struct cvbc_policy *left)
{
    inner->policy = *left;
    inner->policy.require_signature = false;
    inner->policy.board = NULL;
    uint64_t rounds = (uint64_t)(inner->protection.key_derivation_params >> 8 & 0xffff) * 1000;
    left->iterations_max -= rounds < left->iterations_max ? rounds : left->iterations_max;
}

bool cvbc_programs_digests(const struct cvbc_module *m, struct cvbc_opened *o)
{
    for (size_t i = 0; m->inner && i < m->meta.entry_count; i++) {
        penta_bytes bytes = m->inner[i]->base.file;
        uint8_t digest[HASH_BYTES];
        hash_sha256(bytes, digest);
        if (secret_equal(digest, m->meta.entries[i].program_sha256, sizeof digest)) continue;
        return error_at(&o->failure, CVBC_PROGRAM_DIGEST, cvbc_offset(m, bytes.data),
                        "program '%s' has another digest", cvbc_program_name(m, i + 1));
    }
    return true;
}

bool cvbc_programs_open(struct cvbc_module *m, struct cvbc_opened *o)
{
    if (!m->inner) return true;
    struct cvbc_policy left = m->policy;
    uint64_t own = (uint64_t)(m->protection.key_derivation_params >> 8 & 0xffff) * 1000;
    left.iterations_max -= own < left.iterations_max ? own : left.iterations_max;
    left.inflate_max -= m->image_size < left.inflate_max ? m->image_size : left.inflate_max;
    for (size_t i = 0; i < m->meta.entry_count; i++) {
        struct cvbc_module *inner = m->inner[i];
        struct moved moved = {m, inner, cvbc_program_name(m, i + 1), NULL};
        programs_lend(inner, &left);
        penta_error failure = cvbc_open(inner)->failure;
        left.inflate_max -=
            inner->image_size < left.inflate_max ? inner->image_size : left.inflate_max;
        if (!failure.code) continue;
        o->failure = move_error(&moved, &failure);
        return false;
    }
    return true;
}

void cvbc_programs_verify(const struct cvbc_module *m, struct findings *f)
{
    for (size_t i = 0; m->inner && i < m->meta.entry_count; i++) {
        const struct cvbc_module *inner = m->inner[i];
        struct moved moved = {m, inner, cvbc_program_name(m, i + 1), f};
        struct findings found = {.rules = cvbc_rules, .report = pass_moved, .user = &moved};
        struct cvbc_flow flow;
        penta_error err = {0};
        uint64_t origin = cvbc_plain(inner) ? cvbc_offset(inner, inner->stored.data) : 0;
        if (!cvbc_verify_program(&cvbc_open(inner)->program, &found, origin, !cvbc_plain(inner),
                                 &flow) ||
            !cvbc_declarations_check(inner, &found)) {
            error_at(&err, BASE_MEMORY, 0, "no memory to follow the program");
            findings_pass(f, &err);
        }
    }
}

void cvbc_programs_fit(const struct cvbc_module *m, const struct cvbc_board *board,
                       struct findings *f)
{
    cvbc_board_check(m, board, CVBC_STACK_MAX, f);
    for (size_t i = 0; m->inner && i < m->meta.entry_count; i++) {
        struct moved moved = {m, m->inner[i], cvbc_program_name(m, i + 1), f};
        struct findings found = {.rules = cvbc_rules, .report = pass_moved, .user = &moved};
        cvbc_board_check(m->inner[i], board, CVBC_STACK_MAX, &found);
    }
}

/* The functions below describe the other programs. */

struct moving {
    const penta_visitor *to;
    uint64_t origin;
    unsigned decoded; /* depth of nodes whose offsets are not those of the file */
};

static bool moving_enter(void *user, const penta_node *node)
{
    struct moving *v = user;
    penta_node n = *node;
    if (!v->decoded && !n.decoded) n.offset += v->origin;
    if (!describe_enter(v->to, n)) return false;
    if (v->decoded || n.decoded) v->decoded++;
    return true;
}

static void moving_field(void *user, const penta_field *field)
{
    struct moving *v = user;
    penta_field f = *field;
    if (!v->decoded && f.size) f.offset += v->origin;
    describe_field(v->to, f);
}

static void moving_leave(void *user, const penta_node *node)
{
    struct moving *v = user;
    penta_node n = *node;
    if (v->decoded) v->decoded--;
    if (!v->decoded && !n.decoded) n.offset += v->origin;
    describe_leave(v->to, n);
}

void cvbc_programs_describe(const struct cvbc_module *m, const penta_visitor *v)
{
    uint64_t at = cvbc_offset(m, m->programs.data);
    penta_node all = {.name = "programs", .offset = at, .size = m->programs.size};
    cvbc_open(m); /* Opening the file gives the programs the policy. */
    if (!describe_enter(v, all)) return;
    for (size_t i = 0; i < m->meta.entry_count; i++) {
        const struct cvbc_module *inner = m->inner[i];
        uint64_t from = cvbc_offset(m, inner->base.file.data);
        if (from > at)
            describe_raw(v, "padding", bytes_slice(m->base.file, (size_t)at, (size_t)(from - at)),
                         at, NULL);
        struct moving moving = {.to = v, .origin = from};
        penta_visitor inside = {
            .user = &moving, .enter = moving_enter, .field = moving_field, .leave = moving_leave};
        const char *name = cvbc_program_name(m, i + 1);
        penta_node node = {
            .name = name ? name : "program", .offset = from, .size = inner->base.file.size};
        at = from + inner->base.file.size;
        if (!describe_enter(v, node)) continue;
        cvbc_describe(&inner->base, &inside);
        describe_leave(v, node);
    }
    describe_leave(v, all);
}
