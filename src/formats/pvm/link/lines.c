/* Writes the debug sections, which say what function and source line each instruction belongs
 * to. A line program covers contiguous code of one function, region by region. Each region has a
 * stack of frames, two for every function (inlined functions, too): the place where the function
 * is declared, and the line in it. pvm/format/debug_info.c reads these sections. */
#include "pvm/format/debug_info.h"
#include "base/codec/varint.h"
#include "pvm/link/link.h"
#include <stdlib.h>

enum { FRAMES = 2 * LINK_FRAMES };

enum line_op {
    OP_FINISH_PROGRAM,
    OP_SET_MUTATION_DEPTH,
    OP_SET_KIND, /* Kinds of frames are added to this number, from PVM_FRAME_ENTER on. */
    OP_SET_FUNCTION = 6,
    OP_SET_PATH,
    OP_SET_LINE,
    OP_SET_COLUMN,
    OP_SET_STACK_DEPTH,
    OP_INCREMENT_LINE,
    OP_ADD_LINE,
    OP_SUBTRACT_LINE,
    OP_FINISH_INSTRUCTION,
    OP_FINISH_INSTRUCTIONS,
};

struct stack {
    struct pvm_debug_frame frames[FRAMES];
    uint32_t depth;
};

struct line_writer {
    struct link *l;
    struct writer *lines;
    uint32_t *strings; /* a hash table of 1 + the offset of a string */
    size_t slots, used;
    struct stack now; /* the frames that a reader of the line program has at this point */
    uint32_t mutation;
    /* `from` is the pc where the line program starts, `region` the pc where its open region
     * starts. */
    uint32_t from, region;
    bool open;
};

static void lines_number(struct writer *w, uint32_t value)
{
    uint8_t bytes[VARINT_BYTES];
    writer_bytes(w, bytes, varint_prefix_write(bytes, value));
}

static void lines_op(struct line_writer *w, enum line_op code) { writer_uint(w->lines, code, 1); }

static void op_number(struct line_writer *w, enum line_op code, uint32_t value)
{
    lines_op(w, code);
    lines_number(w->lines, value);
}

static size_t string_hash(penta_bytes text)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < text.size; i++) h = (h ^ text.data[i]) * UINT64_C(1099511628211);
    return (size_t)(h ^ h >> 32);
}

static penta_bytes string_at(const struct line_writer *w, uint32_t offset)
{
    struct pvm_program p = {.debug_strings = writer_view(&w->l->debug_strings)};
    return pvm_debug_string(&p, offset);
}

static bool grow_strings(struct line_writer *w)
{
    size_t slots = w->slots ? w->slots * 2 : 256;
    uint32_t *strings = calloc(slots, sizeof *strings);
    if (!strings) return error_at(&w->l->err, BASE_MEMORY, 0, "no memory for debug strings");
    for (size_t i = 0; i < w->slots; i++) {
        if (!w->strings[i]) continue;
        size_t at = string_hash(string_at(w, w->strings[i] - 1)) & (slots - 1);
        while (strings[at]) at = (at + 1) & (slots - 1);
        strings[at] = w->strings[i];
    }
    free(w->strings);
    w->strings = strings;
    w->slots = slots;
    return true;
}

/* Returns the offset of a string, and writes the string when it is new. Returns 0 when there is
 * no string. */
static uint32_t lines_string(struct line_writer *w, const char *text)
{
    struct writer *out = &w->l->debug_strings;
    penta_bytes bytes = bytes_of(text ? text : "");
    if (!bytes.size || (w->used * 2 >= w->slots && !grow_strings(w))) return 0;
    size_t at = string_hash(bytes) & (w->slots - 1);
    for (; w->strings[at]; at = (at + 1) & (w->slots - 1)) {
        penta_bytes known = string_at(w, w->strings[at] - 1);
        if (known.size == bytes.size && !memcmp(known.data, bytes.data, bytes.size))
            return w->strings[at] - 1;
    }
    /* The section starts with a zero byte, so that no string has offset 0, which stands for no
     * string. */
    if (!out->out.size) writer_uint(out, 0, 1);
    uint32_t offset = (uint32_t)out->out.size;
    lines_number(out, (uint32_t)bytes.size);
    writer_bytes(out, bytes.data, bytes.size);
    w->strings[at] = offset + 1;
    w->used++;
    return offset;
}

static void frames_at(struct line_writer *w, const struct link_item *item, struct stack *out)
{
    struct source_place places[LINK_FRAMES];
    struct link *l = w->l;
    *out = (struct stack){.depth = 0};
    if (item->section == LINK_NONE) return;
    const struct link_section *s = &l->sections[item->section];
    unsigned count = link_source_at(l, s->object, s->address + item->offset, places);
    for (unsigned i = 0; i < count; i++) {
        uint32_t function = lines_string(w, places[i].function);
        struct pvm_debug_frame *enter = &out->frames[out->depth++];
        struct pvm_debug_frame *at = &out->frames[out->depth++];
        *enter = (struct pvm_debug_frame){.kind = PVM_FRAME_ENTER,
                                          .function = function,
                                          .path = lines_string(w, places[i].function_file),
                                          .line = places[i].function_line};
        *at = (struct pvm_debug_frame){.kind = i + 1 < count ? PVM_FRAME_CALL : PVM_FRAME_LINE,
                                       .function = function,
                                       .path = lines_string(w, places[i].file),
                                       .line = places[i].line,
                                       .column = places[i].column};
    }
    if (count) return;
    const struct link_symbol *f = link_function_at(l, item->section, item->offset);
    if (!f) return;
    out->frames[0] =
        (struct pvm_debug_frame){.kind = PVM_FRAME_ENTER, .function = lines_string(w, f->name)};
    out->depth = 1;
}

static bool same_frame(const struct pvm_debug_frame *a, const struct pvm_debug_frame *b)
{
    return a->kind == b->kind && a->function == b->function && a->path == b->path &&
           a->line == b->line && a->column == b->column;
}

static bool same_stack(const struct stack *a, const struct stack *b)
{
    if (a->depth != b->depth) return false;
    for (uint32_t i = 0; i < a->depth; i++)
        if (!same_frame(&a->frames[i], &b->frames[i])) return false;
    return true;
}

static void set_line(struct line_writer *w, uint32_t old, uint32_t line)
{
    if (old && line == old + 1)
        lines_op(w, OP_INCREMENT_LINE);
    else if (old && line > old)
        op_number(w, OP_ADD_LINE, line - old);
    else if (old && line && line < old)
        op_number(w, OP_SUBTRACT_LINE, old - line);
    else
        op_number(w, OP_SET_LINE, line);
}

static void set_frame(struct line_writer *w, uint32_t index, const struct pvm_debug_frame *to)
{
    struct pvm_debug_frame *now = &w->now.frames[index];
    if (same_frame(now, to)) return;
    if (w->mutation != index) op_number(w, OP_SET_MUTATION_DEPTH, index);
    w->mutation = index;
    if (now->kind != to->kind)
        lines_op(w, (enum line_op)(OP_SET_KIND + (int)to->kind - PVM_FRAME_ENTER));
    if (now->function != to->function) op_number(w, OP_SET_FUNCTION, to->function);
    if (now->path != to->path) op_number(w, OP_SET_PATH, to->path);
    if (now->line != to->line) set_line(w, now->line, to->line);
    if (now->column != to->column) op_number(w, OP_SET_COLUMN, to->column);
    *now = *to;
}

static void finish_region(struct line_writer *w, uint32_t pc)
{
    uint32_t bytes = pc - w->region;
    if (!w->open || !bytes) return;
    if (bytes == 1)
        lines_op(w, OP_FINISH_INSTRUCTION);
    else
        op_number(w, OP_FINISH_INSTRUCTIONS, bytes);
    w->region = pc;
}

static void finish_program(struct line_writer *w, uint32_t pc)
{
    if (!w->open) return;
    finish_region(w, pc);
    lines_op(w, OP_FINISH_PROGRAM);
    writer_patch(&w->l->debug_ranges, w->l->debug_ranges.out.size - 8, pc, 4);
    w->open = false;
}

static void start_program(struct line_writer *w, uint32_t pc)
{
    struct writer *ranges = &w->l->debug_ranges;
    /* The first byte of the section is its version. */
    if (!w->lines->out.size) writer_uint(w->lines, 1, 1);
    writer_uint(ranges, pc, 4);
    writer_uint(ranges, pc, 4);
    writer_uint(ranges, w->lines->out.size, 4);
    w->now = (struct stack){.depth = 0};
    w->mutation = 0;
    w->from = w->region = pc;
    w->open = true;
}

static void add_region(struct line_writer *w, uint32_t pc, const struct stack *stack)
{
    finish_region(w, pc);
    if (w->now.depth != stack->depth) op_number(w, OP_SET_STACK_DEPTH, stack->depth);
    w->now.depth = stack->depth;
    for (uint32_t i = 0; i < stack->depth; i++) set_frame(w, i, &stack->frames[i]);
}

/* Tells whether any object has debug information. Without it the program gets no debug sections. */
static bool link_has_debug(const struct link *l)
{
    for (size_t i = 0; i < l->section_count; i++)
        if (l->sections[i].use == LINK_DEBUG && l->sections[i].size) return true;
    return false;
}

bool link_write_lines(struct link *l)
{
    struct line_writer w = {.l = l, .lines = &l->debug_lines};
    struct stack last = {.depth = 0};
    uint32_t end = 0;
    if (!link_has_debug(l)) return true;
    for (size_t i = 0; i < l->item_count; i++) {
        const struct link_item *item = &l->items[i], *before = item - 1;
        struct stack stack = last;
        bool same = i && before->section == item->section && before->offset == item->offset;
        if (!same) frames_at(&w, item, &stack);
        uint32_t pc = item->in.pc;
        bool outer = last.depth && stack.depth && same_frame(&last.frames[0], &stack.frames[0]);
        if (w.open && !outer) finish_program(&w, pc);
        if (!w.open && stack.depth) start_program(&w, pc);
        if (w.open && !same_stack(&w.now, &stack)) add_region(&w, pc, &stack);
        last = stack;
        end = pc + item->in.length;
    }
    finish_program(&w, end);
    free(w.strings);
    return writer_ok(&l->debug_lines, &l->err) && writer_ok(&l->debug_strings, &l->err) &&
           writer_ok(&l->debug_ranges, &l->err);
}
