/* Reads the head of an image, a packed image, a card, a weight file or a legacy file inside another
 * file. Weights tell no size: their entries are walked to the last. */
#include "core/nested.h"
#include "tvmr/format/weights.h"

enum { WEIGHTS = 0x574d5654, SUMMED = 1 };

static bool weights_head(penta_bytes rest, struct nested_head *head)
{
    if (rest.size < TVMW_HEAD || bytes_get16(rest.data + 4) != TVMW_VERSION) return false;
    penta_error why = {0};
    struct reader r = {.in = rest, .pos = TVMW_HEAD, .err = &why};
    struct tvmr_entry entry;
    *head = (struct nested_head){.dialect = "weights"};
    for (size_t i = bytes_get16(rest.data + 6); i; i--) {
        head->work += TVMW_ENTRY_MIN;
        if (!tvmr_entry_read(&r, &entry)) {
            head->broken = "an entry is wrong, or runs past the end of the file";
            return true;
        }
    }
    head->size = r.pos + TVMW_SUM;
    return true;
}

static bool legacy_head(penta_bytes rest, struct nested_head *head)
{
    struct tvmr_tern h;
    penta_error err = {0};
    struct reader r = {.in = rest, .err = &err};
    tvmr_tern_read(&r, &h);
    if (err.code || h.version != 2 || h.reserved) return false;
    *head = (struct nested_head){.size = tvmr_tern_bytes + (uint64_t)h.reg_defs_size +
                                         (uint64_t)TVMR_INSN * h.instr_count,
                                 .dialect = "legacy"};
    return true;
}

/* The places in the header of a packed image are those of the plain image, so only the envelope
 * tells the size. */
static bool packed_head(penta_bytes rest, struct nested_head *head)
{
    struct tvmr_envelope_head e;
    penta_error err = {0};
    struct reader r = {.in = rest, .pos = tvmr_header_bytes, .err = &err};
    tvmr_envelope_head_read(&r, &e);
    *head = (struct nested_head){.size = r.pos + (uint64_t)e.stored_size,
                                 .dialect = e.cipher ? "encrypted image" : "compressed image",
                                 .made = e.plain_size};
    return !err.code && e.codec <= 1 && e.cipher <= 1 && !e.zero;
}

static bool image_head(penta_bytes rest, struct nested_head *head)
{
    struct tvmr_header h;
    penta_error err = {0};
    struct reader r = {.in = rest, .err = &err};
    tvmr_header_read(&r, &h);
    uint64_t defs = tvmr_header_bytes + tvmr_extension_record_bytes * (uint64_t)h.ext_table_count;
    if (err.code || h.version != TVMR_VERSION || h.ext_table_offset != tvmr_header_bytes ||
        h.reg_defs_offset != defs || h.instr_offset < defs)
        return false;
    if (h.flags & (TVMR_COMPRESSED | TVMR_ENCRYPTED)) return packed_head(rest, head);
    uint64_t end = h.instr_offset + (uint64_t)TVMR_INSN * h.instr_count;
    *head = (struct nested_head){.size = end, .dialect = "image"};
    if (!(h.flags & TVMR_METADATA_FLAG) || end > rest.size || rest.size - end < 4) return true;
    head->size += 12 + (uint64_t)bytes_get32(rest.data + end);
    return true;
}

static bool tvmr_head(penta_bytes rest, struct nested_head *head)
{
    if (tvmr_is_weights(rest)) return weights_head(rest, head);
    if (bytes_get32(rest.data) == TERN_MAGIC) return legacy_head(rest, head);
    if (!tvmr_is_card(rest)) return image_head(rest, head);
    size_t at = tvmr_card_head_bytes + (size_t)bytes_get32(rest.data + 8);
    penta_bytes image = bytes_slice(rest, at, rest.size);
    if (tvmr_is_card(image) || !(bytes_get32(image.data) == TERN_MAGIC ? legacy_head(image, head)
                                                                       : image_head(image, head)))
        return false;
    head->size += at + (bytes_get16(rest.data + 6) & SUMMED ? 4 : 0);
    head->dialect = "card";
    return true;
}

const struct driver_nested tvmr_nested = {{TVMR_MAGIC, TERN_MAGIC, WEIGHTS}, tvmr_head};
