/* Assembles labels, and `if` and `loop` with their ends (KBLOB 4.5).
 *
 *     if r1 ltu r2        BGEU r1, r2, ELSE       the opposite branch
 *         ...                 ...
 *     else                JMP END
 *         ...         ELSE:   ...
 *     endif           END:
 *
 *     loop r3, 10         LOOP r3, 10, END
 *         ...         BODY:   ...
 *     endloop             NEXT r3, 10, BODY
 *                     END:                                                              */
#include "kblob/text/assembly.h"
#include "base/array.h"

enum { TARGET_AT = 12 }; /* offset of the target in an instruction */

static void set_target(struct assembly *a, uint32_t index, uint32_t target)
{
    writer_patch(&a->code, (size_t)index * kblob_inst_bytes + TARGET_AT, target, 4);
}

bool assembly_label(struct assembly *a, struct token name)
{
    return labels_define(&a->labels, token_text(a->s, name), a->count, name.offset, a->s->err);
}

bool assembly_target(struct assembly *a, uint32_t *target)
{
    struct token t = source_peek(a->s);
    if (t.kind == TOKEN_NAME) {
        source_next(a->s);
        uint64_t place = (uint64_t)a->count * kblob_inst_bytes + TARGET_AT;
        return labels_use(&a->labels, token_text(a->s, t), place, 4, t.offset, a->s->err);
    }
    uint64_t value = 0;
    bool ok = assembly_number(a, 32, &value);
    *target = (uint32_t)value;
    return ok;
}

static bool open_block(struct assembly *a, const struct kblob_inst *in, uint64_t offset)
{
    if (!ARRAY_GROW(a->blocks, a->block_capacity, a->block_count, a->s->err)) return false;
    a->blocks[a->block_count++] = (struct block){in->opcode, a->count, offset};
    return assembly_emit(a, in);
}

static bool is_branch(unsigned opcode) { return opcode >= KBLOB_OP_BEQ && opcode <= KBLOB_OP_BGES; }

static struct block *blocks_innermost(struct assembly *a)
{
    return a->block_count ? &a->blocks[a->block_count - 1] : NULL;
}

/* Parses a condition, which is the mnemonic of a branch without its B. */
static bool blocks_condition(struct assembly *a, unsigned *opcode)
{
    struct token t = source_next(a->s);
    for (*opcode = KBLOB_OP_BEQ; *opcode <= KBLOB_OP_BGES; ++*opcode)
        if (t.kind == TOKEN_NAME && token_is(a->s, t, kblob_ops[*opcode].mnemonic + 1)) return true;
    return source_unexpected(a->s, t, "eq, ne, ltu, geu, lts or ges");
}

bool assembly_if(struct assembly *a, uint64_t offset)
{
    unsigned ra, b, opcode;
    struct kblob_inst in = {0};
    if (!assembly_register(a, &ra) || !blocks_condition(a, &opcode) ||
        !assembly_register_or_constant(a, &b, &in.arg0))
        return false;
    in.opcode = (uint8_t)(opcode ^ 1); /* The opposite branch skips the block. */
    in.reserved = (uint16_t)(ra | b << 8);
    return open_block(a, &in, offset);
}

bool assembly_else(struct assembly *a, uint64_t offset)
{
    struct block *b = blocks_innermost(a);
    if (!b || !is_branch(b->opcode))
        return error_at(a->s->err, BASE_SYNTAX, offset, "else without if");
    set_target(a, b->at, a->count + 1);
    *b = (struct block){KBLOB_OP_JMP, a->count, b->offset};
    struct kblob_inst in = {.opcode = KBLOB_OP_JMP};
    return assembly_emit(a, &in);
}

bool assembly_endif(struct assembly *a, uint64_t offset)
{
    struct block *b = blocks_innermost(a);
    if (!b || b->opcode == KBLOB_OP_LOOP)
        return error_at(a->s->err, BASE_SYNTAX, offset, "endif without if");
    set_target(a, b->at, a->count);
    a->block_count--;
    return true;
}

bool assembly_loop(struct assembly *a, const struct kblob_inst *in, uint64_t offset)
{
    return open_block(a, in, offset);
}

bool assembly_endloop(struct assembly *a, uint64_t offset)
{
    struct block *b = blocks_innermost(a);
    if (!b || b->opcode != KBLOB_OP_LOOP)
        return error_at(a->s->err, BASE_SYNTAX, offset, "endloop without loop");
    a->block_count--;
    /* At the end of the text, the failure is reported as lack of memory. */
    if (a->code.failed) return true;
    const uint8_t *loop = a->code.out.data + (size_t)b->at * kblob_inst_bytes;
    struct kblob_inst in = {KBLOB_OP_NEXT, loop[1], bytes_get16(loop + 2), bytes_get64(loop + 4),
                            b->at + 1};
    set_target(a, b->at, a->count + 1);
    return assembly_emit(a, &in);
}

void assembly_resolve(struct assembly *a, struct findings *findings)
{
    for (size_t i = 0; i < a->labels.fixup_count; i++) {
        const struct fixup *use = &a->labels.fixups[i];
        const struct label *label = &a->labels.items[use->label];
        if (label->defined)
            writer_patch(&a->code, (size_t)use->place, label->value, use->width);
        else
            findings_add(findings, BASE_NAME_UNKNOWN, use->offset, NULL, "no label '%.*s'",
                         BYTES_ARG(label->name, 60));
    }
    for (size_t i = 0; i < a->block_count; i++)
        findings_add(findings, BASE_SYNTAX, a->blocks[i].offset, NULL, "this %s has no end",
                     a->blocks[i].opcode == KBLOB_OP_LOOP ? "loop" : "if");
}
