/* What an edit of an image, a card or a weight file repairs: counts, places and lengths, and the checksums. A packed
 * image has nothing that could be changed below its envelope, and a legacy image keeps its sizes. */
#include "base/codec/checksum.h"
#include "core/edit/edit.h"
#include "tvmr/tvmr.h"

enum { EXT_OFFSET = 8, EXT_COUNT = 12, REG_OFFSET = 16, CODE_OFFSET = 24, CODE_COUNT = 28 };
enum { CHECKSUM = 32, TERN_CHECKSUM = 20, CARD_LENGTH = 8, CARD_JSON = 12, REGDEF_NDIMS = 4 };

static struct edit_number number_at(uint64_t at, unsigned size)
{
    return (struct edit_number){at, size, PENTA_LITTLE};
}

static bool image_packed(const struct tvmr_module *m)
{
    return m->header.flags & (TVMR_COMPRESSED | TVMR_ENCRYPTED);
}

/* `by` is the offset of the image in its card. */
static void image_measure(struct edit *e, const struct tvmr_module *m, uint64_t by)
{
    const struct tvmr_header *h = &m->header;
    uint64_t exts = by + tvmr_header_bytes, code = by + h->instr_offset;
    if (m->legacy)
        error_at(e->err, BASE_FIELD_VALUE, by,
                 "sizes cannot change in a legacy image; penta convert writes it as a TVMR image");
    if (m->legacy || m->is_weights || image_packed(m)) return;
    edit_length(e, number_at(by + EXT_COUNT, 4), exts, m->ext_count * 8, 8);
    edit_place(e, number_at(by + REG_OFFSET, 4), by + h->reg_defs_offset, by);
    edit_place(e, number_at(by + CODE_OFFSET, 4), code, by);
    edit_length(e, number_at(by + CODE_COUNT, 4), code, m->code.size, TVMR_INSN);
    for (size_t i = 0; i < m->reg_count; i++) {
        const struct tvmr_regdef *r = &m->regs[i];
        uint64_t dims = by + r->offset + REGDEF_NDIMS + 1, dims_size = 2 * (uint64_t)r->ndims;
        edit_length(e, number_at(dims - 1, 1), dims, dims_size, 2);
        edit_length(e, number_at(dims + dims_size, 1), dims + dims_size + 1, r->key.size, 1);
    }
    if (m->metadata.size)
        edit_length(e, number_at(code + m->code.size, 4), code + m->code.size + 4,
                    m->metadata.size - 12, 1);
}

static void tensor_measures(struct edit *e)
{
    const struct tvmr_module *m = tvmr_module(e->module);
    for (size_t i = 0; m->is_weights && i < m->entry_count; i++) {
        const struct tvmr_entry *entry = &m->entries[i];
        edit_length(e, number_at(entry->offset, 1), entry->offset + 1, entry->key.size, 1);
    }
    if (!m->is_card) {
        image_measure(e, m, 0);
        return;
    }
    edit_length(e, number_at(CARD_LENGTH, 4), CARD_JSON, m->card.json.size, 1);
    const struct tvmr_card *card = &m->card;
    uint64_t end = card->at + card->image.size;
    if (card->payload_size >= 0 && !edit_asked(e, CARD_JSON, card->json.size) &&
        edit_offset(e, end) - edit_start(e, card->at) != card->image.size)
        error_at(e->err, BASE_FIELD_VALUE, CARD_JSON,
                 "the JSON of the card has the size of the image; it must be changed, too");
    if (m->inner) image_measure(e, m->inner, card->at);
}

/* ---- checksums ---- */

static void sum_put(const struct edit *e, uint64_t old, uint8_t *at, uint64_t value)
{
    if (!edit_asked(e, old, 8)) bytes_put64(at, value);
}

/* The checksums of the image at data + by, whose module is `m`; `old` is the one before the edit, at old_by. */
static void image_sums(const struct edit *e, const struct tvmr_module *old, uint64_t old_by,
                       const struct tvmr_module *m, uint8_t *data, size_t by)
{
    if (m->base.damage.code || image_packed(m)) return;
    if (m->legacy) {
        sum_put(e, old_by + TERN_CHECKSUM, data + by + TERN_CHECKSUM, m->tern_mix);
        return;
    }
    size_t code = m->header.instr_offset + m->code.size;
    penta_bytes summed = {data + by + tvmr_header_bytes, code - tvmr_header_bytes};
    sum_put(e, old_by + CHECKSUM, data + by + CHECKSUM,
            old->mixed ? tvmr_mix(summed) : m->checksum);
    if (m->metadata.size < 12 || old->metadata.size < 12) return;
    size_t json = m->metadata.size - 12;
    uint64_t old_hash = old_by + old->header.instr_offset + old->code.size + old->metadata.size - 8;
    sum_put(e, old_hash, data + by + code + 4 + json,
            checksum_xxh64((penta_bytes){data + by + code + 4, json}));
}

static void card_sums(const struct edit *e, const struct tvmr_module *m, uint8_t *data)
{
    const struct tvmr_module *old = tvmr_module(e->module);
    size_t end = m->card.at + m->card.image.size;
    if (m->inner && old->is_card && old->inner)
        image_sums(e, old->inner, old->card.at, m->inner, data, m->card.at);
    if (m->card.sum_size && old->is_card && !edit_asked(e, old->card.at + old->card.image.size, 4))
        bytes_put32(data + end, checksum_crc32(m->card.image));
}

static void tensor_sums(const struct edit *e, uint8_t *data, size_t size)
{
    const struct tvmr_module *old = tvmr_module(e->module), *m;
    penta_error err = {0};
    penta_module *made = tvmr_parse((penta_bytes){data, size}, NULL, 0, &err);
    if (!made) return;
    m = tvmr_module(made);
    if (m->is_weights && size >= 16)
        sum_put(e, e->file.size - 8, data + size - 8,
                checksum_xxh64((penta_bytes){data, size - 8}));
    else if (m->is_card)
        card_sums(e, m, data);
    else
        image_sums(e, old, 0, m, data, 0);
    tvmr_close(made);
}

const struct driver_edit tvmr_edit = {.measures = tensor_measures, .sums = tensor_sums};
