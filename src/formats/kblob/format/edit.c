/* What an edit of a blob repairs: the counts and places of the header, of the trailer and of its names, and the CRC. */
#include "base/codec/checksum.h"
#include "core/edit/edit.h"
#include "kblob/kblob.h"

enum { ENTRY_OFFSET = 8, INST_COUNT = 12, CRC = 4, METADATA_LENGTH = 8 };
enum { NAME_COUNT = 8, LINE_COUNT = 12, TEXT_SIZE = 16, FILE_NAME = 20, NAME_TEXT = 16 };

static struct edit_number number_at(uint64_t at)
{
    return (struct edit_number){at, 4, PENTA_LITTLE};
}

static uint64_t trailer_offset(const struct kblob_module *m)
{
    return m->base.file.size - m->tail.size;
}

static void symbols_measure(struct edit *e, const struct kblob_module *m, uint64_t at)
{
    const struct kblob_symbols *s = &m->symbols;
    uint64_t names = at + kblob_ksym_bytes, names_size = s->name_count * kblob_name_bytes;
    uint64_t lines_size = s->line_count * kblob_line_bytes;
    uint64_t text = names + names_size + lines_size;
    edit_length(e, number_at(at + NAME_COUNT), names, names_size, kblob_name_bytes);
    edit_length(e, number_at(at + LINE_COUNT), names + names_size, lines_size, kblob_line_bytes);
    edit_length(e, number_at(at + TEXT_SIZE), text, s->text.size, 1);
    edit_place(e, number_at(at + FILE_NAME),
               text + (uint64_t)((const uint8_t *)s->file - s->text.data), text);
    for (size_t i = 0; i < s->name_count; i++) {
        uint64_t row = names + i * kblob_name_bytes;
        uint32_t name = bytes_get32(s->names + i * kblob_name_bytes + NAME_TEXT);
        edit_place(e, number_at(row + NAME_TEXT), text + name, text);
    }
}

static void blob_measures(struct edit *e)
{
    const struct kblob_module *m = kblob_module(e->module);
    edit_place(e, number_at(ENTRY_OFFSET), m->code_offset, 0);
    edit_length(e, number_at(INST_COUNT), m->code_offset, m->count * kblob_inst_bytes,
                kblob_inst_bytes);
    if (!m->tail_is_trailer) return;
    uint64_t at = trailer_offset(m), metadata = at + kblob_trailer_bytes;
    edit_length(e, number_at(at + METADATA_LENGTH), metadata, kblob_metadata(m).size, 1);
    if (m->symbols.file) symbols_measure(e, m, metadata);
}

static void blob_sums(const struct edit *e, uint8_t *data, size_t size)
{
    const struct kblob_module *m = kblob_module(e->module);
    if (size < kblob_header_bytes) return;
    if (m->tail_is_trailer && edit_asked(e, trailer_offset(m) + CRC, 4)) return;
    uint64_t end = bytes_get32(data + ENTRY_OFFSET) +
                   bytes_get32(data + INST_COUNT) * (uint64_t)kblob_inst_bytes;
    if (end > size || size - end < kblob_trailer_bytes || bytes_get32(data + end) != KBLOB_TRAILER)
        return;
    bytes_put32(data + end + CRC, checksum_crc32((penta_bytes){data, (size_t)end}));
}

const struct driver_edit kblob_edit = {.measures = blob_measures, .sums = blob_sums};
