/* Makes another version of the same program, or the same program without its debug symbols. */
#include "base/codec/checksum.h"
#include "kblob/kblob.h"

/* Checks that version 1 has all instructions of the program. Version 2 has the same instructions
 * with the same meaning, so conversion to it always works. */
static void check_version_1(const struct kblob_module *m, struct findings *f)
{
    for (size_t i = 0; i < m->count; i++) {
        const struct kblob_op_info *op = kblob_op(KBLOB_VERSION_2, m->insts[i].opcode);
        if (!op || kblob_op(KBLOB_VERSION, m->insts[i].opcode)) continue;
        findings_add(f, KBLOB_BAD_OPCODE, m->code_offset + i * kblob_inst_bytes, NULL,
                     "version 1 has no %s", op->mnemonic);
        return;
    }
}

/* Writes the bytes after the code. If the CRC in the trailer was right before, the trailer gets
 * the CRC of the new bytes. */
static void write_tail(const struct kblob_module *m, bool strip, struct writer *out)
{
    penta_bytes before = bytes_slice(m->base.file, 0, m->base.file.size - m->tail.size);
    penta_bytes metadata = kblob_metadata(m);
    bool symbols = metadata.size >= 4 && bytes_get32(metadata.data) == KBLOB_SYMBOLS;
    if (!m->tail_is_trailer || bytes_get32(m->tail.data + 4) != checksum_crc32(before)) {
        writer_bytes(out, m->tail.data, m->tail.size);
        return;
    }
    kblob_write_trailer(out, strip && symbols ? (penta_bytes){NULL, 0} : metadata);
    size_t used = kblob_trailer_bytes + metadata.size;
    penta_bytes rest = bytes_slice(m->tail, used, m->tail.size);
    writer_bytes(out, rest.data, rest.size);
}

bool kblob_convert(const penta_module *module, const penta_option *options, size_t count,
                   struct writer *out, struct findings *findings)
{
    const struct kblob_module *m = kblob_module(module);
    const char *to = option_text(options, count, "to");
    struct kblob_header header = m->header;
    header.instCount = (uint32_t)m->count; /* fewer than a damaged header claims */
    if (to && strcmp(to, "1") && strcmp(to, "2")) {
        findings_add(findings, BASE_OPTION_VALUE, 0, NULL, "to '%.40s' is not 1 or 2", to);
        return false;
    }
    if (to && *to == '1' && header.version != KBLOB_VERSION) {
        check_version_1(m, findings);
        /* In a program without branches the flag has no meaning. */
        header.flags &= (uint16_t)~KBLOB_FUELLED;
    }
    if (to) header.version = *to == '1' ? KBLOB_VERSION : KBLOB_VERSION_2;
    kblob_write(out, &header, m->gap, m->insts, m->count);
    write_tail(m, option_text(options, count, "strip") != NULL, out);
    return !findings->errors;
}
