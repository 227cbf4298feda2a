/* Reads the debug sections (debug_info.h): runs the line programs, and checks them. A quick
 * check comes first, because most files have no findings. */
#include "pvm/format/debug_info.h"
#include "base/array.h"
#include "base/codec/varint.h"

enum { OPS_WITHOUT_REGION = 512 };

/* The table has the operations of line programs, by their numbers, and whether they have an
 * operand. */
static const struct {
    const char *name;
    bool operand;
    /* clang-format off */
} operations[] = {
    {"finish_program", false},      {"set_mutation_depth", true},
    {"set_kind_enter", false},      {"set_kind_call", false},
    {"set_kind_line", false},       {"set_namespace", true},
    {"set_function_name", true},    {"set_path", true},
    {"set_line", true},             {"set_column", true},
    {"set_stack_depth", true},      {"increment_line", false},
    {"add_line", true},             {"subtract_line", true},
    {"finish_instruction", false},  {"finish_instructions", true},
    {"finish_and_push", false},     {"finish_several_and_push", true},
    {"finish_and_pop", false},      {"finish_several_and_pop", true},
};
/* clang-format on */

unsigned pvm_debug_op(penta_bytes in, uint32_t *operand)
{
    *operand = 0;
    if (!in.size || in.data[0] >= sizeof operations / sizeof *operations) return 0;
    if (!operations[in.data[0]].operand) return 1;
    unsigned size = varint_prefix_read(bytes_slice(in, 1, in.size), operand);
    return size ? 1 + size : 0;
}

const char *pvm_debug_op_name(uint8_t op) { return operations[op].name; }

static size_t range_count(const struct pvm_program *program)
{
    return program->debug_ranges.size / PVM_DEBUG_RANGE_BYTES;
}

void pvm_debug_start(const struct pvm_program *program, size_t range, struct pvm_debug_lines *out)
{
    const uint8_t *record = program->debug_ranges.data + range * PVM_DEBUG_RANGE_BYTES;
    *out = (struct pvm_debug_lines){
        .bytes = program->debug_lines, .pc = bytes_get32(record), .at = bytes_get32(record + 8)};
    out->from = out->to = out->pc;
    /* The byte at offset 0 is the version, and no other version is known. */
    out->broken =
        !out->bytes.size || out->bytes.data[0] != 1 || !out->at || out->at >= out->bytes.size;
}

bool pvm_debug_find(const struct pvm_program *program, uint32_t pc, struct pvm_debug_lines *out)
{
    const uint8_t *ranges = program->debug_ranges.data;
    size_t i, count = range_count(program);
    ARRAY_SEARCH(i, 0, count, pc < bytes_get32(ranges + i * PVM_DEBUG_RANGE_BYTES + 4));
    if (i == count || pc < bytes_get32(ranges + i * PVM_DEBUG_RANGE_BYTES)) return false;
    pvm_debug_start(program, i, out);
    return !out->broken;
}

/* Does one operation of a line program. Returns true when it finishes a region, of *bytes bytes
 * of code. */
static bool debug_info_apply(struct pvm_debug_lines *l, uint8_t op, uint32_t operand,
                             uint32_t *bytes)
{
    struct pvm_debug_frame ignored = {0};
    struct pvm_debug_frame *f = l->mutation < PVM_DEBUG_FRAMES ? &l->frames[l->mutation] : &ignored;
    switch (op) {
    case 1: l->mutation = operand; break;
    case 2: f->kind = PVM_FRAME_ENTER; break;
    case 3: f->kind = PVM_FRAME_CALL; break;
    case 4: f->kind = PVM_FRAME_LINE; break;
    case 5: f->space = operand; break;
    case 6: f->function = operand; break;
    case 7: f->path = operand; break;
    case 8: f->line = operand; break;
    case 9: f->column = operand; break;
    case 10: l->next_depth = operand; break;
    case 11: f->line++; break;
    case 12: f->line += operand; break;
    case 13: f->line -= operand; break;
    case 14:
    case 15:
    case 16:
    case 17:
    case 18:
    case 19:
        *bytes = op % 2 ? operand : 1;
        l->depth = l->next_depth;
        if (op >= 18)
            l->next_depth -= l->next_depth > 0;
        else if (op >= 16)
            l->next_depth += l->next_depth < UINT32_MAX;
        return true;
    }
    return false;
}

bool pvm_debug_next(struct pvm_debug_lines *l)
{
    for (unsigned i = 0; !l->broken && i < OPS_WITHOUT_REGION; i++) {
        uint32_t operand = 0, bytes = 0;
        unsigned size = pvm_debug_op(bytes_slice(l->bytes, l->at, l->bytes.size), &operand);
        if (!size) break;
        uint8_t op = l->bytes.data[l->at];
        l->at += size;
        if (!op) return false;
        if (!debug_info_apply(l, op, operand, &bytes)) continue;
        l->from = l->pc;
        l->to = l->pc += bytes;
        return true;
    }
    l->broken = true;
    return false;
}

penta_bytes pvm_debug_string(const struct pvm_program *program, uint32_t offset)
{
    penta_bytes none = {NULL, 0}, in = program->debug_strings;
    uint32_t length = 0;
    if (!offset || offset >= in.size) return none;
    in = bytes_slice(in, offset, in.size);
    unsigned size = varint_prefix_read(in, &length);
    if (!size || length > in.size - size) return none;
    return bytes_slice(in, size, length);
}

static uint64_t file_offset(const struct pvm_module *m, penta_bytes part)
{
    return part.size ? (uint64_t)(part.data - m->base.file.data) : 0;
}

static void verify_strings(const struct pvm_module *m, struct findings *f)
{
    penta_bytes in = m->program.debug_strings;
    for (size_t at = 0; at < in.size;) {
        uint32_t length = 0;
        unsigned size = varint_prefix_read(bytes_slice(in, at, in.size), &length);
        if (!size || length > in.size - at - size) {
            findings_add(f, PVM_DEBUG_STRINGS, file_offset(m, in) + at, NULL,
                         "no debug string at offset %zu of its section", at);
            return;
        }
        at += size + length;
    }
}

/* Checks the line program of one range. Returns how many bytes of the line program it read. */
static size_t verify_program(const struct pvm_module *m, size_t range, struct findings *f)
{
    const struct pvm_program *p = &m->program;
    uint64_t at = file_offset(m, p->debug_ranges) + range * PVM_DEBUG_RANGE_BYTES;
    uint32_t end = bytes_get32(p->debug_ranges.data + range * PVM_DEBUG_RANGE_BYTES + 4);
    struct pvm_debug_lines lines;
    pvm_debug_start(p, range, &lines);
    if (lines.broken) {
        findings_add(f, PVM_DEBUG_LINES, at + 8, NULL, "no line program at offset %zu", lines.at);
        return 0;
    }
    size_t from = lines.at;
    while (pvm_debug_next(&lines)) continue;
    if (lines.broken)
        findings_add(f, PVM_DEBUG_LINES, file_offset(m, p->debug_lines) + lines.at, NULL,
                     "the line program of range %zu breaks off", range);
    else if (lines.pc != end)
        findings_add(f, PVM_DEBUG_LINES, at, NULL,
                     "the line program ends at pc %u, its range at %u", (unsigned)lines.pc,
                     (unsigned)end);
    return lines.at - from;
}

/* The functions from here on check all line programs quickly: they tell only whether there are
 * findings at all. */

/* A struct brief has the size of an operation and how much code the operation passes over, by
 * its first two bytes. Only BRIEF_LONG operations need their whole operand. */
struct brief {
    uint8_t length;
    uint8_t bytes; /* how many bytes of code the operation passes over */
    uint8_t flags;
    uint8_t keep; /* 1 when the operation finishes no region */
};
enum { BRIEF_END = 1, BRIEF_ODD = 2, BRIEF_LONG = 4 };
enum { OPERATIONS = sizeof operations / sizeof *operations };

static void fill_briefs(struct brief briefs[OPERATIONS + 1][256])
{
    for (unsigned op = 0; op <= OPERATIONS; op++) {
        bool operand = op < OPERATIONS && operations[op].operand, region = op >= 14;
        for (unsigned first = 0; first < 256; first++) {
            unsigned extra = first < 0x80 ? 0 : (unsigned)__builtin_clz(~((uint32_t)first << 24));
            struct brief b = {.length = (uint8_t)(operand ? 2 + extra : 1), .keep = !region};
            if (!op) b.flags |= BRIEF_END;
            if (op == OPERATIONS || (operand && extra > 4)) b.flags |= BRIEF_ODD;
            if (region && operand && extra) b.flags |= BRIEF_LONG;
            if (region) b.bytes = (uint8_t)(!operand ? 1 : extra ? 0 : first);
            briefs[op][first] = b;
        }
    }
}

/* A struct walk is a line program that is being checked. Several programs are checked in turns:
 * each operation must wait for the length of the one before it, but not for the operations of
 * other programs. */
struct walk {
    const uint8_t *at;
    uint32_t pc, idle; /* idle: how many operations there were since the last region */
    unsigned odd;
    /* `end` is the pc where the program must end, `from` the offset where it began. */
    uint32_t end, from;
    size_t range;
};

enum { WALKS = 6, NEAR_END = 16 };

/* Reads one operation. Returns false when it was the last one of its program. */
static inline bool walk_operation(struct brief briefs[OPERATIONS + 1][256], struct walk *w)
{
    unsigned op = w->at[0] < OPERATIONS ? w->at[0] : OPERATIONS;
    struct brief b = briefs[op][w->at[1]];
    _Static_assert(OPS_WITHOUT_REGION == 512, "one bit says that there are too many");
    w->odd |= (b.flags & BRIEF_ODD) | (w->idle & OPS_WITHOUT_REGION);
    w->idle = (w->idle + 1) & (0 - (uint32_t)b.keep);
    if (__builtin_expect(b.flags & BRIEF_LONG, 0)) {
        uint32_t operand = 0;
        varint_prefix_read((penta_bytes){w->at + 1, NEAR_END - 1}, &operand);
        w->pc += operand;
    }
    w->pc += b.bytes;
    w->at += b.length;
    return !(b.flags & BRIEF_END);
}

/* Checks the line program of one range operation by operation, as verify_program() does. */
static bool range_fine(const struct pvm_program *p, size_t range, uint64_t *spent)
{
    struct pvm_debug_lines lines;
    pvm_debug_start(p, range, &lines);
    size_t from = lines.at;
    while (!lines.broken && pvm_debug_next(&lines)) continue;
    *spent += lines.at - from + 1;
    return !lines.broken &&
           lines.pc == bytes_get32(p->debug_ranges.data + range * PVM_DEBUG_RANGE_BYTES + 4);
}

struct walks {
    const struct pvm_program *p;
    struct brief briefs[OPERATIONS + 1][256];
    struct walk of[WALKS];
    unsigned count;
    size_t next;     /* the index of the next range */
    uint64_t budget; /* how many bytes of line programs may still be read */
};

/* Replaces a finished walk by the walk of the next range. When there is no next range, the last
 * walk of the list takes its place. Returns false when there may be findings. */
static bool walk_next_range(struct walks *w, struct walk *place)
{
    penta_bytes lines = w->p->debug_lines;
    for (; w->next < range_count(w->p); w->next++) {
        const uint8_t *record = w->p->debug_ranges.data + w->next * PVM_DEBUG_RANGE_BYTES;
        uint32_t at = bytes_get32(record + 8);
        uint64_t spent = 0;
        if (!at || at >= lines.size) return false;
        if (lines.size - at <= NEAR_END) {
            if (!range_fine(w->p, w->next, &spent) || spent > w->budget) return false;
            w->budget -= spent;
            continue;
        }
        *place = (struct walk){.at = lines.data + at,
                               .pc = bytes_get32(record),
                               .end = bytes_get32(record + 4),
                               .from = at,
                               .range = w->next++};
        return true;
    }
    *place = w->of[--w->count];
    return true;
}

/* Ends a walk that is finished, or that is too near to the end of the section for walk_operation(). */
static bool walk_ends(struct walks *w, struct walk *walk, bool finished)
{
    uint64_t spent = (uint64_t)(walk->at - w->p->debug_lines.data) - walk->from + 1;
    bool fine = !walk->odd && walk->pc == walk->end;
    if (!finished) {
        spent = 0;
        fine = range_fine(w->p, walk->range, &spent);
    }
    if (!fine || spent > w->budget) return false;
    w->budget -= spent;
    return walk_next_range(w, walk);
}

/* Returns true when every range has a line program without findings. Returns false when there
 * may be findings, or when the check takes too long. */
static bool programs_fine(const struct pvm_program *p, uint64_t budget)
{
    enum { WORTHWHILE = 1 << 14 };
    struct walks w;
    const uint8_t *far = p->debug_lines.data + p->debug_lines.size - NEAR_END;
    if (p->debug_lines.size < WORTHWHILE) return false;
    w.p = p;
    w.count = 0;
    w.next = 0;
    w.budget = budget;
    fill_briefs(w.briefs);
    while (w.count < WALKS && w.next < range_count(p)) {
        w.count++;
        if (!walk_next_range(&w, &w.of[w.count - 1])) return false;
    }
    for (uint64_t steps = 0; w.count; steps++) {
        if (steps > budget) return false;
        for (unsigned i = 0; i < w.count; i++) {
            struct walk *walk = &w.of[i];
            bool more = walk_operation(w.briefs, walk);
            if (more && walk->at < far) continue;
            if (!walk_ends(&w, walk, !more)) return false;
        }
    }
    return true;
}

void pvm_debug_verify(const struct pvm_module *m, struct findings *f)
{
    const struct pvm_program *p = &m->program;
    verify_strings(m, f);
    uint64_t ranges_at = file_offset(m, p->debug_ranges);
    if (p->debug_ranges.size % PVM_DEBUG_RANGE_BYTES)
        findings_add(f, PVM_DEBUG_RANGES, ranges_at, NULL,
                     "the ranges have %zu bytes, which is no multiple of 12", p->debug_ranges.size);
    if (p->debug_lines.size && p->debug_lines.data[0] != 1)
        findings_add(f, PVM_DEBUG_LINES, file_offset(m, p->debug_lines), NULL,
                     "the line programs have version %u instead of 1", p->debug_lines.data[0]);
    uint32_t last = 0;
    bool sorted = true;
    /* All ranges of a hostile file can name the same long program, so the size of the file
     * limits the work. */
    uint64_t budget = 64 + 4 * (uint64_t)m->base.file.size;
    bool known = p->debug_lines.size && p->debug_lines.data[0] == 1;
    bool look = known && !programs_fine(p, budget);
    for (size_t i = 0; i < range_count(p); i++) {
        const uint8_t *record = p->debug_ranges.data + i * PVM_DEBUG_RANGE_BYTES;
        uint32_t from = bytes_get32(record), to = bytes_get32(record + 4);
        if (sorted && (from < last || to < from)) {
            findings_add(f, PVM_DEBUG_RANGES, ranges_at + i * PVM_DEBUG_RANGE_BYTES, NULL,
                         "range %zu goes from pc %u to %u, and the one before it ends at %u", i,
                         (unsigned)from, (unsigned)to, (unsigned)last);
            sorted = false;
        }
        last = to;
        if (!look || !budget) continue;
        uint64_t spent = verify_program(m, i, f) + 1;
        budget -= budget < spent ? budget : spent;
    }
}
