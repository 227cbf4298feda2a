/* Makes line programs for code that was written anew. They have the same operations, and other
 * sizes of regions. */
#include "pvm/code/assembly.h"
#include "pvm/format/debug_info.h"
#include "base/codec/varint.h"

struct move {
    const struct pvm_program *from;
    const uint32_t *new_pc;
    struct writer lines, ranges;
    uint64_t budget; /* how many operations may still be copied, since ranges can share a program */
};

static uint32_t debug_move_moved(const struct move *m, uint32_t pc)
{
    size_t end = m->from->code.bytes.size;
    return m->new_pc[pc < end ? pc : end];
}

static void write_region(struct writer *out, uint8_t op, uint32_t bytes)
{
    uint8_t operand[VARINT_BYTES];
    op &= (uint8_t)~1u; /* An even operation is for a region of one byte. */
    writer_uint(out, bytes == 1 ? op : op + 1u, 1);
    if (bytes != 1) writer_bytes(out, operand, varint_prefix_write(operand, bytes));
}

/* Copies the line program of a range. Returns false when it is damaged or too long. */
static bool move_range(struct move *m, size_t range)
{
    struct pvm_debug_lines l;
    pvm_debug_start(m->from, range, &l);
    if (l.broken) return false;
    writer_uint(&m->ranges, debug_move_moved(m, l.pc), 4);
    uint32_t pc = l.pc, at = (uint32_t)writer_total(&m->lines);
    for (;;) {
        size_t op_at = l.at;
        uint32_t operand = 0;
        unsigned size = pvm_debug_op(bytes_slice(l.bytes, op_at, l.bytes.size), &operand);
        if (!size || !m->budget--) return false;
        uint8_t op = l.bytes.data[op_at];
        l.at += size;
        if (pvm_debug_finishes(op)) {
            uint32_t to = pc + (op % 2 ? operand : 1);
            if (to < pc) return false;
            write_region(&m->lines, op, debug_move_moved(m, to) - debug_move_moved(m, pc));
            pc = to;
        } else {
            writer_bytes(&m->lines, l.bytes.data + op_at, size);
        }
        if (!op) break;
    }
    writer_uint(&m->ranges, debug_move_moved(m, pc), 4);
    writer_uint(&m->ranges, at, 4);
    return true;
}

bool pvm_debug_move(const struct pvm_program *from, const uint32_t *new_pc, struct writer *lines,
                    struct writer *ranges)
{
    size_t count = from->debug_ranges.size / PVM_DEBUG_RANGE_BYTES;
    struct move m = {
        .from = from, .new_pc = new_pc, .budget = 64 + 4 * (uint64_t)from->debug_lines.size};
    bool ok = from->debug_ranges.size % PVM_DEBUG_RANGE_BYTES == 0;
    writer_uint(&m.lines, 1, 1); /* The first byte of the section is its version. */
    for (size_t i = 0; ok && i < count; i++) ok = move_range(&m, i);
    *lines = m.lines;
    *ranges = m.ranges;
    return ok && !lines->failed && !ranges->failed;
}
