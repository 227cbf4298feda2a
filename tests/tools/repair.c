#include "repair.h"
#include <string.h>
#include "base/bytes.h"
#include "base/codec/checksum.h"
/* The headers of formats are not made to be included together. */
#include "coil/coil.h"
#undef LAYOUT
#undef LAYOUT_FILE
#include "cvbc/format/build.h"
#undef LAYOUT
#undef LAYOUT_FILE
#include "kblob/kblob.h"
#undef LAYOUT
#undef LAYOUT_FILE
#include "tvmr/tvmr.h"

static penta_module *repair_opened(const char *format, const uint8_t *data, size_t size)
{
    penta_error err;
    return penta_open((penta_bytes){data, size}, format, NULL, 0, &err);
}

static void repair_container(uint8_t *data, size_t size)
{
    if (size < cvbc_header_bytes) return;
    bytes_put32(data + 8, (uint32_t)size);
    cvbc_build_crcs(data, size);
}

/* Repairs the size of the file and both CRCs, after those of its other programs, with their
 * digests. */
static void repair_cvbc(uint8_t *data, size_t size)
{
    penta_module *module = repair_opened("cvbc", data, size);
    const struct cvbc_module *m = module ? cvbc_module(module) : NULL;
    for (size_t i = 0; m && m->inner && i < m->meta.entry_count; i++) {
        enum { SHA256 = CVBC_NAME_BYTES + 4 };
        penta_bytes inner = m->inner[i]->base.file;
        uint8_t *container = data + cvbc_offset(m, inner.data);
        uint8_t *entry = data + cvbc_offset(m, m->meta.directory.data) + cvbc_directory_bytes +
                         i * cvbc_entry_bytes;
        repair_container(container, inner.size);
        cvbc_digest(inner, entry + SHA256);
    }
    penta_close(module);
    repair_container(data, size);
}

/* Repairs the count of instructions, so that they fit, and the CRC of a trailer after them. */
static void repair_kblob(uint8_t *data, size_t size)
{
    enum { ENTRY = 8, COUNT = 12 };
    if (size < kblob_header_bytes) return;
    uint32_t entry = bytes_get32(data + ENTRY);
    if (entry > size) bytes_put32(data + ENTRY, entry = kblob_header_bytes);
    if (bytes_get32(data + COUNT) > (size - entry) / kblob_inst_bytes)
        bytes_put32(data + COUNT, (uint32_t)((size - entry) / kblob_inst_bytes));
    size_t end = entry + (size_t)bytes_get32(data + COUNT) * kblob_inst_bytes;
    if (size - end < kblob_trailer_bytes || bytes_get32(data + end) != KBLOB_TRAILER) return;
    bytes_put32(data + end + 4, checksum_crc32((penta_bytes){data, end}));
    if (bytes_get32(data + end + 8) > size - end - kblob_trailer_bytes)
        bytes_put32(data + end + 8, (uint32_t)(size - end - kblob_trailer_bytes));
}

/* Repairs the XXH64 of a plain image. The parser knows which bytes it covers. */
static void repair_tvmr(uint8_t *data, size_t size)
{
    enum { SUM = 0x20 };
    penta_module *module = repair_opened("tvmr", data, size);
    if (module && size >= SUM + 8 && !tvmr_module(module)->is_card)
        bytes_put64(data + SUM, tvmr_module(module)->checksum);
    penta_close(module);
}

static void repair_put(uint8_t *at, uint64_t value, size_t n, bool big_endian)
{
    for (size_t i = 0; i < n; i++) at[big_endian ? n - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

/* Repairs sections so that they lie in the file. There is no checksum. */
static void repair_coil(uint8_t *data, size_t size)
{
    enum { OFFSET = 8, SIZE = 16 };
    penta_module *module = repair_opened("coil", data, size);
    const struct coil_module *m = module ? coil_module(module) : NULL;
    for (size_t i = 0; m && !m->raw && i < m->section_count; i++) {
        uint64_t entry = m->header.section_offset + i * coil_section_bytes;
        if (entry > size || size - entry < coil_section_bytes) break;
        const struct coil_section *s = &m->sections[i];
        uint64_t offset = s->offset <= size ? s->offset : s->offset % size;
        uint64_t bytes = s->size <= size - offset ? s->size : size - offset;
        repair_put(data + entry + OFFSET, offset, 8, m->big_endian);
        if (s->type != COIL_S_BSS) repair_put(data + entry + SIZE, bytes, 8, m->big_endian);
    }
    penta_close(module);
}

/* Repairs the length of a blob. The other dialects have no length for the whole file. */
static void repair_pvm(uint8_t *data, size_t size)
{
    enum { LENGTH = 5 };
    if (size >= LENGTH + 8 && !memcmp(data, "PVM", 4)) bytes_put64(data + LENGTH, size);
}

static const struct {
    const char *format;
    void (*repair)(uint8_t *data, size_t size);
} repairs[] = {{"cvbc", repair_cvbc},
               {"kblob", repair_kblob},
               {"tvmr", repair_tvmr},
               {"coil", repair_coil},
               {"pvm", repair_pvm}};

void repair(const char *format, uint8_t *data, size_t size)
{
    for (size_t i = 0; i < sizeof repairs / sizeof *repairs; i++)
        if (!strcmp(repairs[i].format, format)) repairs[i].repair(data, size);
}
