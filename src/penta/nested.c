/* Searches any bytes for files of all formats. A magic number makes a place a candidate, the head
 * after it tells the size, and then the file must open. The work has a limit that is proportional
 * to the bytes searched, because files that overlap may claim any number of bytes each. */
#include "core/nested.h"
#include "core/describe.h"
#include "penta/registry.h"

/* LEAST lets small files hold compressed images, which become larger when they are opened. */
enum { WORK_PER_BYTE = 16, WORK_LEAST = 64 << 20, WORK_OF_MAGIC = 16, DEPTH_MAX = 64 };

struct nested_scan {
    penta_bytes file;
    penta_nested_report *report;
    void *user;
    penta_nested_search search;
    uint64_t limit;
    penta_error *err;
    uint64_t ends[DEPTH_MAX]; /* where the found files end that are around this place */
    unsigned depth;
};

const char *penta_nested_state_name(penta_nested_state state)
{
    static const char *const names[] = {"valid", "invalid", "header"};
    return (size_t)state < sizeof names / sizeof *names ? names[state] : NULL;
}

static void nested_keep_error(void *user, const penta_error *finding)
{
    const penta_rule *rule = penta_rule_find(finding->code);
    if (!rule || rule->severity == PENTA_ERROR) error_keep_first(user, finding);
}

/* Opens and validates what may be a file. Returns false when memory ran out. */
static bool nested_open(struct nested_scan *s, const struct driver *driver, penta_bytes bytes,
                        penta_nested *found, penta_error *why)
{
    penta_module *module = driver->parse(bytes, NULL, 0, why);
    found->state = PENTA_NESTED_HEADER;
    if (!module && why->code == BASE_MEMORY) *s->err = *why;
    if (!module) return why->code != BASE_MEMORY;
    if (module->damage.code) {
        *why = module->damage;
    } else {
        struct findings f = {.rules = driver->rules, .report = nested_keep_error, .user = why};
        module_verify(module, &f);
        found->state = f.errors ? PENTA_NESTED_INVALID : PENTA_NESTED_VALID;
    }
    driver->close(module);
    if (why->code == BASE_MEMORY) *s->err = *why;
    return why->code != BASE_MEMORY;
}

static void nested_tell(struct nested_scan *s, penta_nested *found, penta_error *why)
{
    while (s->depth && s->ends[s->depth - 1] <= found->offset) s->depth--;
    found->depth = s->depth;
    found->error = why->code ? why : NULL;
    s->report(s->user, found);
    if (found->state != PENTA_NESTED_HEADER && s->depth < DEPTH_MAX && found->size)
        s->ends[s->depth++] = found->offset + found->size;
}

/* Looks at a place with the magic number of a format. Returns false when memory ran out. */
static bool nested_candidate(struct nested_scan *s, const struct driver *driver, size_t at)
{
    penta_bytes rest = bytes_slice(s->file, at, s->file.size);
    struct nested_head head = {0};
    s->search.work += WORK_OF_MAGIC;
    bool fits = driver->nested->head(rest, &head);
    s->search.work += head.work;
    if (!fits) return true;
    penta_nested found = {.format = driver->name,
                          .dialect = head.dialect,
                          .offset = at,
                          .size = head.size,
                          .state = PENTA_NESTED_HEADER};
    penta_error why = {0};
    penta_bytes bytes = head.size ? bytes_slice(rest, 0, (size_t)head.size) : rest;
    struct writer evidence = {0};
    bool ok = true;
    if (driver->probe(bytes, &evidence) <= 0) {
        writer_free(&evidence);
        return true;
    }
    writer_char(&evidence, 0);
    if (head.broken) {
        error_at(&why, BASE_DAMAGED, 0, "%s", head.broken);
    } else if (head.size > rest.size) {
        error_at(&why, BASE_TRUNCATED, rest.size, "it has %llu bytes, and %zu are there",
                 (unsigned long long)head.size, rest.size);
    } else if (s->search.work > s->limit || bytes.size + head.made > s->limit - s->search.work) {
        error_at(&why, BASE_LIMIT, 0, "it was not opened: too much was claimed before it");
    } else {
        s->search.work += bytes.size + head.made;
        ok = nested_open(s, driver, bytes, &found, &why);
    }
    ok = ok && writer_ok(&evidence, s->err);
    found.evidence = (const char *)evidence.out.data;
    if (ok) nested_tell(s, &found, &why);
    writer_free(&evidence);
    return ok;
}

/* Returns the driver of the magic number, or NULL. */
static const struct driver *nested_driver(uint32_t magic)
{
    for (size_t i = 0; drivers[i]; i++)
        for (size_t k = 0; drivers[i]->nested && drivers[i]->nested->magics[k]; k++)
            if (drivers[i]->nested->magics[k] == magic) return drivers[i];
    return NULL;
}

bool penta_detect_deep(penta_bytes file, penta_nested_report *report, void *user,
                       penta_nested_search *search, penta_error *err)
{
    *err = (penta_error){0};
    struct nested_scan s = {
        .file = file, .report = report, .user = user, .err = err, .search.work = file.size};
    s.limit = WORK_LEAST + WORK_PER_BYTE * (uint64_t)file.size;
    bool first[256] = {false}, ok = true;
    for (size_t i = 0; drivers[i]; i++)
        for (size_t k = 0; drivers[i]->nested && drivers[i]->nested->magics[k]; k++)
            first[drivers[i]->nested->magics[k] & 255] = true;
    for (size_t at = 0; ok && at + NESTED_MAGIC <= file.size; at++) {
        if (!first[file.data[at]]) continue;
        const struct driver *driver = nested_driver(bytes_get32(file.data + at));
        if (!driver) continue;
        if (s.search.work < s.limit)
            ok = nested_candidate(&s, driver, at);
        else if (!s.search.skipped++)
            s.search.skipped_first = at;
    }
    if (search) *search = s.search;
    return ok;
}
