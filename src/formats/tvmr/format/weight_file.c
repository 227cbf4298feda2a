/* Parses, describes and checks weight files as modules (TVMR 15.1). weights.c reads their
 * entries, also for machines. */
#include "base/codec/checksum.h"
#include "base/utf8.h"
#include "core/describe.h"
#include "tvmr/format/verify.h"
#include "tvmr/format/weights.h"

bool tvmr_is_weights(penta_bytes file) { return file.size >= 4 && !memcmp(file.data, "TVMW", 4); }

static bool weight_file_damage(struct tvmr_module *m, uint64_t at, const char *what)
{
    return error_at(&m->base.damage, TVMR_WEIGHTS, at, "%s", what);
}

bool tvmr_weights_parse(struct tvmr_module *m, penta_error *err)
{
    penta_bytes file = m->base.file;
    m->is_weights = true;
    if (file.size < TVMW_HEAD + TVMW_SUM)
        return weight_file_damage(m, file.size, "the file ends inside the head of a weight file");
    struct reader r = {.in = bytes_slice(file, 0, file.size - TVMW_SUM), .pos = TVMW_HEAD};
    penta_error why = {0};
    r.err = &why;
    size_t count = reader_count(&r, bytes_get16(file.data + 6), TVMW_ENTRY_MIN);
    m->entries = arena_alloc(&m->arena, count, sizeof *m->entries, err);
    if (!m->entries) return false;
    while (m->entry_count < count && tvmr_entry_read(&r, &m->entries[m->entry_count]))
        m->entry_count++;
    if (why.code)
        return error_at(&m->base.damage, TVMR_WEIGHTS, why.offset, "entry %zu: %s", m->entry_count,
                        why.message);
    if (r.pos < r.in.size)
        return weight_file_damage(m, r.pos, "bytes between the entries and their sum");
    return true;
}

static void weight_file_leaf(const penta_visitor *v, const char *name, const uint8_t *file,
                             uint64_t at, uint64_t size, penta_kind kind, const char *note)
{
    describe_field(v, (penta_field){.name = name,
                                    .offset = at,
                                    .size = size,
                                    .kind = kind,
                                    .as.u = bytes_uint(file + at, (size_t)size, false),
                                    .note = note});
}

static void describe_entry(const struct tvmr_module *m, const struct tvmr_entry *e,
                           const penta_visitor *v)
{
    const uint8_t *file = m->base.file.data;
    uint64_t at = e->offset;
    penta_node node = {.name = "entry", .offset = at, .size = e->size};
    penta_node dims = {
        .name = "dims", .offset = at + 2 + e->key.size, .size = e->dims.size, .list = true};
    if (!describe_enter(v, node)) return;
    weight_file_leaf(v, "key_len", file, at, 1, PENTA_UINT, NULL);
    if (e->key.size)
        describe_field(v, (penta_field){.name = "key",
                                        .offset = at + 1,
                                        .size = e->key.size,
                                        .kind = PENTA_TEXT,
                                        .as.bytes = e->key});
    at += 1 + e->key.size;
    weight_file_leaf(v, "ndims", file, at, 1, PENTA_UINT, NULL);
    if (e->dims.size && describe_enter(v, dims)) {
        for (size_t i = 0; i < e->dims.size; i += 2)
            weight_file_leaf(v, "dim", file, at + 1 + i, 2, PENTA_UINT, NULL);
        describe_leave(v, dims);
    }
    at += 1 + e->dims.size;
    weight_file_leaf(v, "has_temperatures", file, at, 1, PENTA_UINT, NULL);
    at++;
    if (e->weights.size)
        describe_raw(v, "signals", e->weights, at, "polarity and magnitude of each");
    if (e->temps.size) describe_raw(v, "temperatures", e->temps, at + e->weights.size, NULL);
    describe_leave(v, node);
}

void tvmr_weights_describe(const struct tvmr_module *m, const penta_visitor *v)
{
    penta_bytes file = m->base.file;
    penta_node list = {.name = "entries", .offset = TVMW_HEAD, .list = true};
    uint64_t at = TVMW_HEAD;
    if (file.size < TVMW_HEAD + TVMW_SUM) {
        describe_raw(v, "damaged", file, 0, m->base.damage.message);
        return;
    }
    weight_file_leaf(v, "magic", file.data, 0, 4, PENTA_WORD, "TVMW");
    weight_file_leaf(v, "version", file.data, 4, 2, PENTA_UINT, NULL);
    weight_file_leaf(v, "entry_count", file.data, 6, 2, PENTA_UINT, NULL);
    for (size_t i = 0; i < m->entry_count; i++) at = m->entries[i].offset + m->entries[i].size;
    list.size = at - TVMW_HEAD;
    if (m->entry_count && describe_enter(v, list)) {
        for (size_t i = 0; i < m->entry_count; i++) describe_entry(m, &m->entries[i], v);
        describe_leave(v, list);
    }
    if (m->base.damage.code)
        describe_raw(v, "damaged", bytes_slice(file, (size_t)at, file.size), at,
                     m->base.damage.message);
    else
        weight_file_leaf(v, "checksum", file.data, at, TVMW_SUM, PENTA_WORD, "XXH64 of all before");
}

static void entry_info(const struct tvmr_entry *e, const penta_visitor *v)
{
    struct writer text = {0}, name = {0};
    size_t count = e->weights.size / 2, zeros = 0;
    for (size_t i = 0; i < count; i++)
        zeros += !e->weights.data[2 * i] || !e->weights.data[2 * i + 1];
    writer_text(&text, "ternary");
    for (size_t i = 0; i < e->dims.size; i += 2)
        writer_print(&text, "%c%u", i ? ',' : '[', bytes_get16(e->dims.data + i));
    if (e->dims.size) writer_char(&text, ']');
    writer_print(&text, ", %zu weights, %zu of them 0%s", count, zeros,
                 e->temps.size ? ", with temperatures" : "");
    writer_bytes(&name, e->key.data, e->key.size);
    writer_char(&name, 0);
    describe_written(
        v,
        (penta_field){.name = name.failed ? "?" : (const char *)name.out.data, .kind = PENTA_TEXT},
        &text);
    writer_free(&name);
}

void tvmr_weights_info(const struct tvmr_module *m, const penta_visitor *v)
{
    penta_bytes file = m->base.file;
    penta_node list = {.name = "entries"};
    describe_text(v, "kind", "TVMW, weights");
    if (file.size < TVMW_HEAD + TVMW_SUM) return;
    describe_uint(v, "version", bytes_get16(file.data + 4));
    describe_text(v, "checksum", tvmr_weights_sum_good(file) ? "XXH64, good" : "wrong");
    if (!m->entry_count || !describe_enter(v, list)) return;
    for (size_t i = 0; i < m->entry_count; i++) entry_info(&m->entries[i], v);
    describe_leave(v, list);
}

static void verify_entry(struct pass *p, const struct tvmr_entry *e)
{
    uint64_t signals = e->offset + 3 + e->key.size + e->dims.size;
    if (!utf8_valid(e->key)) AT(TVMR_UTF8, e->offset + 1, "a key is not UTF-8");
    if (e->has_temps > 1)
        AT(TVMR_WEIGHT_VALUE, signals - 1, "has_temperatures is %u, not 0 or 1", e->has_temps);
    for (size_t i = 0; i < e->weights.size; i += 2) {
        int8_t polarity = (int8_t)e->weights.data[i];
        if (polarity >= -1 && polarity <= 1) continue;
        AT(TVMR_WEIGHT_VALUE, signals + i, "weight %zu has the polarity %d", i / 2, polarity);
        break; /* One finding for each entry is enough. */
    }
    for (size_t i = 0; i < e->temps.size; i++) {
        if (e->temps.data[i] <= 3) continue;
        AT(TVMR_WEIGHT_VALUE, signals + e->weights.size + i, "weight %zu has the temperature %u", i,
           e->temps.data[i]);
        break;
    }
}

void tvmr_weights_verify(const struct tvmr_module *m, struct findings *f)
{
    struct pass pass = {m, f}, *p = &pass;
    penta_bytes file = m->base.file;
    if (m->base.damage.code) {
        findings_pass(f, &m->base.damage);
        return;
    }
    if (bytes_get16(file.data + 4) != TVMW_VERSION)
        AT(TVMR_VERSION_NUMBER, 4, "version %u of a weight file, expected 1",
           bytes_get16(file.data + 4));
    if (!tvmr_weights_sum_good(file))
        AT(TVMR_CHECKSUM, file.size - TVMW_SUM, "the sum of the weight file does not match");
    for (size_t i = 0; i < m->entry_count; i++) {
        verify_entry(p, &m->entries[i]);
        for (size_t k = 0; k < i && i < 4096; k++)
            if (bytes_equal(m->entries[i].key, m->entries[k].key)) {
                AT(TVMR_KEY_TWICE, m->entries[i].offset,
                   "the key of entry %zu is that of entry %zu", i, k);
                break;
            }
    }
}
