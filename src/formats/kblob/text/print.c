/* The disassembler; assemble.c has the language. */
#include "base/codec/checksum.h"
#include "kblob/kblob.h"
#include "kblob/text/names.h"
#include "text/hex.h"

static void print_address(struct writer *out, const struct labels *names, uint64_t address)
{
    for (size_t i = 0; names && i < names->count; i++) {
        const struct label *l = &names->items[i];
        if (address < l->value || address - l->value >= l->size) continue;
        writer_bytes(out, l->name.data, l->name.size);
        if (address > l->value) {
            writer_char(out, '+');
            writer_dec(out, address - l->value);
        }
        return;
    }
    writer_0x(out, address);
}

/* Whether a plain line gives the same bytes: a defined opcode, no flags, unused operands zero. */
static bool plain(const struct kblob_inst *in)
{
    if (in->opcode == KBLOB_OP_BAD || in->opcode >= KBLOB_OP_DEFINED || in->flags || in->reserved)
        return false;
    switch (kblob_ops[in->opcode].shape) {
    case KBLOB_SHAPE_NONE: return !in->arg0 && !in->arg1;
    case KBLOB_SHAPE_ADDRESS: return !in->arg1;
    case KBLOB_SHAPE_TIME: return !in->arg0;
    default: return true;
    }
}

static void print_inst(struct writer *out, const struct labels *names, const struct kblob_inst *in)
{
    if (!plain(in)) {
        writer_print(out, ".inst   0x%02x, 0x%02x, 0x%04x, 0x%llx, 0x%x", in->opcode, in->flags,
                     in->reserved, (unsigned long long)in->arg0, (unsigned)in->arg1);
        return;
    }
    const struct kblob_op_info *op = &kblob_ops[in->opcode];
    writer_text(out, op->mnemonic);
    if (op->shape == KBLOB_SHAPE_NONE) return;
    writer_fill(out, ' ', 8 - strlen(op->mnemonic));
    if (op->shape == KBLOB_SHAPE_TIME) {
        writer_dec(out, in->arg1);
        return;
    }
    print_address(out, names, in->arg0);
    if (op->shape == KBLOB_SHAPE_ADDRESS) return;
    writer_text(out, ", ");
    if (op->shape == KBLOB_SHAPE_ADDRESS_LENGTH)
        writer_dec(out, in->arg1);
    else
        writer_0x(out, in->arg1);
}

static void print_bytes(struct writer *out, const char *directive, penta_bytes bytes)
{
    hex_rows(out, directive, directive, bytes);
}

static void print_tail(struct writer *out, const struct kblob_module *m)
{
    if (m->tail_is_trailer) { /* the short form, when assembling it gives these bytes */
        penta_bytes metadata = bytes_slice(m->tail, kblob_trailer_bytes, m->tail.size);
        penta_bytes before = bytes_slice(m->base.file, 0, m->base.file.size - m->tail.size);
        if (get32(m->tail.data + 4) == checksum_crc32(before) &&
            get32(m->tail.data + 8) == metadata.size && !get32(m->tail.data + 12)) {
            if (metadata.size)
                print_bytes(out, ".trailer ", metadata);
            else
                writer_text(out, ".trailer\n");
            return;
        }
    }
    print_bytes(out, ".tail   ", m->tail);
}

bool kblob_print(const penta_module *module, const penta_option *options, size_t count,
                 struct writer *out, penta_error *err)
{
    const struct kblob_module *m = kblob_module(module);
    const struct kblob_header *h = &m->header;
    struct labels names = {0};
    if (!kblob_define_names(&names, options, count, err)) {
        labels_free(&names);
        return false;
    }
    for (size_t i = 0; i < names.count; i++)
        writer_print(out, ".extern %.*s\n", BYTES_ARG(names.items[i].name, INT_MAX));
    /* The assembler computes the header; .header is only needed for other values or without instructions. */
    if (h->magic != KBLOB_MAGIC || h->version != KBLOB_VERSION || h->flags || !m->count)
        writer_print(out, ".header %u, 0x%x, 0x%x\n", h->version, h->flags, (unsigned)h->magic);
    print_bytes(out, ".gap    ", m->gap);
    for (size_t i = 0; i < m->count; i++) {
        print_inst(out, &names, &m->insts[i]);
        writer_char(out, '\n');
    }
    print_tail(out, m);
    labels_free(&names);
    return writer_ok(out, err);
}

bool kblob_print_at(const penta_module *module, uint64_t pc, struct writer *out)
{
    const struct kblob_module *m = kblob_module(module);
    if (pc >= m->count) return false;
    print_inst(out, NULL, &m->insts[pc]);
    return true;
}
