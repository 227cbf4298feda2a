/* The disassembler writes the language that assemble.c describes. */
#include <stdlib.h>
#include "base/array.h"
#include "base/codec/checksum.h"
#include "kblob/kblob.h"
#include "kblob/text/names.h"
#include "text/hex.h"

struct printing {
    const struct kblob_module *m;
    struct writer *out;
    const struct labels *names; /* names from the option define, or NULL */
};

static void print_offset(struct writer *out, uint64_t offset)
{
    if (!offset) return;
    writer_char(out, '+');
    writer_dec(out, offset);
}

static void print_address(const struct printing *p, uint64_t address)
{
    for (size_t i = 0; p->names && i < p->names->count; i++) {
        const struct label *l = &p->names->items[i];
        if (address < l->value || address - l->value >= l->size) continue;
        writer_bytes(p->out, l->name.data, l->name.size);
        print_offset(p->out, address - l->value);
        return;
    }
    uint64_t start = 0;
    const char *name = kblob_name_of_address(&p->m->symbols, address, &start);
    if (!name) {
        writer_0x(p->out, address);
        return;
    }
    writer_text(p->out, name);
    print_offset(p->out, address - start);
}

/* Tells whether a line without .inst gives the same bytes: the opcode is defined, and every
 * unused field is 0. */
static bool print_plain(const struct kblob_module *m, const struct kblob_inst *in)
{
    const struct kblob_op_info *op = kblob_op(m->header.version, in->opcode);
    if (!op) return false;
    unsigned uses = kblob_uses(op);
    if (in->opcode < KBLOB_FIRST_2)
        return !in->flags && !in->reserved && (uses & KBLOB_FIELD_ARG0 || !in->arg0) &&
               (uses & KBLOB_FIELD_ARG1 || !in->arg1);
    bool constant = uses & KBLOB_FIELD_B && kblob_b(in) == KBLOB_CONSTANT;
    bool reads_b = uses & (KBLOB_FIELD_B | KBLOB_FIELD_B_REGISTER);
    if (kblob_d(in) >= (uses & KBLOB_FIELD_D ? KBLOB_REGISTERS : 1)) return false;
    if (kblob_a(in) >= (uses & KBLOB_FIELD_A ? KBLOB_REGISTERS : 1)) return false;
    if (!constant && kblob_b(in) >= (reads_b ? KBLOB_REGISTERS : 1)) return false;
    if (in->arg0 && !constant && !(uses & KBLOB_FIELD_OFFSET)) return false;
    if (uses & KBLOB_FIELD_SPECIAL) return in->arg1 < KBLOB_SPECIALS;
    return uses & KBLOB_FIELD_TARGET || !in->arg1;
}

/* Prints small constants, including negative ones, in decimal and others in hex. */
static void print_constant(struct writer *out, uint64_t value)
{
    if (value < 4096)
        writer_dec(out, value);
    else if (value > UINT64_MAX - 4096)
        writer_print(out, "-%u", (unsigned)(0 - value));
    else
        writer_0x(out, value);
}

static void print_memory(const struct printing *p, const struct kblob_inst *in)
{
    writer_print(p->out, "[r%u", kblob_a(in));
    if (in->arg0 > UINT64_MAX - 4096) {
        writer_print(p->out, " - %u", (unsigned)(0 - in->arg0));
    } else if (in->arg0) {
        uint64_t start = 0;
        writer_text(p->out, " + ");
        if (kblob_name_of_address(&p->m->symbols, in->arg0, &start))
            print_address(p, in->arg0);
        else
            print_constant(p->out, in->arg0);
    }
    writer_char(p->out, ']');
}

static void print_b(const struct printing *p, const struct kblob_inst *in)
{
    uint64_t start = 0;
    if (kblob_b(in) != KBLOB_CONSTANT)
        writer_print(p->out, "r%u", kblob_b(in));
    else if (in->arg0 >= 4096 && kblob_name_of_address(&p->m->symbols, in->arg0, &start))
        print_address(p, in->arg0);
    else
        print_constant(p->out, in->arg0);
}

/* Prints the name of an instruction, or $ and its index if it has no name. */
static void print_target(const struct printing *p, uint32_t target)
{
    uint64_t start = 0;
    const char *name = kblob_name_of(&p->m->symbols, target, &start);
    if (target > p->m->count) /* The file contains this error, and the text must contain it too. */
        writer_dec(p->out, target);
    else if (name && start == target)
        writer_text(p->out, name);
    else
        writer_print(p->out, "$%u", (unsigned)target);
}

static void print_operands_2(const struct printing *p, const struct kblob_inst *in, unsigned uses)
{
    struct writer *out = p->out;
    bool in_memory = uses & KBLOB_FIELD_OFFSET;
    const char *comma = "";
    if (uses & KBLOB_FIELD_D) {
        writer_print(out, "r%u", kblob_d(in));
        comma = ", ";
    }
    if (uses & KBLOB_FIELD_A) {
        writer_text(out, comma);
        if (in_memory)
            print_memory(p, in);
        else
            writer_print(out, "r%u", kblob_a(in));
        comma = ", ";
    }
    if (uses & (KBLOB_FIELD_B | KBLOB_FIELD_B_REGISTER)) {
        writer_text(out, comma);
        if (in_memory)
            writer_print(out, "r%u", kblob_b(in));
        else
            print_b(p, in);
        comma = ", ";
    }
    if (uses & KBLOB_FIELD_SPECIAL) writer_print(out, "%s%s", comma, kblob_specials[in->arg1]);
    if (uses & KBLOB_FIELD_TARGET) {
        writer_text(out, comma);
        print_target(p, in->arg1);
    }
}

static void print_inst(const struct printing *p, const struct kblob_inst *in)
{
    struct writer *out = p->out;
    if (!print_plain(p->m, in)) {
        writer_print(out, ".inst   0x%02x, 0x%02x, 0x%04x, 0x%llx, 0x%x", in->opcode, in->flags,
                     in->reserved, (unsigned long long)in->arg0, (unsigned)in->arg1);
        return;
    }
    const struct kblob_op_info *op = &kblob_ops[in->opcode];
    writer_text(out, op->mnemonic);
    if (op->shape == KBLOB_SHAPE_NONE) return;
    writer_fill(out, ' ', 8 - strlen(op->mnemonic));
    if (in->opcode >= KBLOB_FIRST_2) {
        print_operands_2(p, in, kblob_uses(op));
        return;
    }
    if (op->shape == KBLOB_SHAPE_TIME) {
        writer_dec(out, in->arg1);
        return;
    }
    print_address(p, in->arg0);
    if (op->shape == KBLOB_SHAPE_ADDRESS) return;
    writer_text(out, ", ");
    if (op->shape == KBLOB_SHAPE_ADDRESS_LENGTH)
        writer_dec(out, in->arg1);
    else
        writer_0x(out, in->arg1);
}

/* Prints one instruction, with its place in the source as a comment if the place is known. */
bool kblob_print_at(const penta_module *module, uint64_t pc, struct writer *out)
{
    const struct kblob_module *m = kblob_module(module);
    enum { COLUMN = 26 };
    if (pc >= m->count) return false;
    size_t from = writer_total(out);
    print_inst(&(struct printing){m, out, NULL}, &m->insts[pc]);
    uint64_t start;
    if (!kblob_line_of(&m->symbols, pc) && !kblob_name_of(&m->symbols, pc, &start)) return true;
    size_t used = writer_total(out) - from;
    writer_fill(out, ' ', used < COLUMN ? COLUMN - used : 0);
    writer_text(out, " ; ");
    kblob_write_place(&m->symbols, pc, out);
    return true;
}

/* The text shows some branches as blocks with `if` and `loop`. The functions below find them. */

struct open_block {
    uint32_t turn; /* the index of the JMP that is shown as `else`, or NO_TURN */
    uint32_t end;  /* the instruction after `endif`; for a loop the index of its NEXT */
    bool loop;
};
#define NO_TURN UINT32_MAX
enum { DEEPEST = 8 /* largest number of levels that are indented */ };

struct listing {
    struct printing p;
    struct open_block *open;
    size_t open_count, open_capacity;
    uint8_t *labelled; /* per index up to `count`: 1 if a branch goes there by name */
    size_t line;       /* next row of the line table to print */
    bool lines;        /* true if the listing shows source lines */
    bool failed;
};

/* Returns the index of the instruction at which a block that begins now must have ended. */
static uint32_t print_room(const struct listing *l)
{
    if (!l->open_count) return (uint32_t)l->p.m->count;
    const struct open_block *b = &l->open[l->open_count - 1];
    return b->turn != NO_TURN ? b->turn : b->end;
}

static bool print_push(struct listing *l, struct open_block block)
{
    if (!ARRAY_RESERVE(l->open, l->open_capacity, l->open_count + 1)) {
        l->failed = true;
        return false;
    }
    l->open[l->open_count++] = block;
    return true;
}

/* Opens a loop, if its NEXT is where it must be. */
static bool opens_loop(struct listing *l, uint32_t i)
{
    const struct kblob_inst *in = &l->p.m->insts[i];
    uint32_t to = in->arg1;
    if (in->opcode != KBLOB_OP_LOOP || to < i + 2 || to > print_room(l)) return false;
    const struct kblob_inst *next = &l->p.m->insts[to - 1];
    if (next->opcode != KBLOB_OP_NEXT || next->flags != in->flags ||
        next->reserved != in->reserved || next->arg0 != in->arg0 || next->arg1 != i + 1)
        return false;
    return print_push(l, (struct open_block){NO_TURN, to - 1, true});
}

static bool opens_if(struct listing *l, uint32_t i)
{
    const struct kblob_module *m = l->p.m;
    const struct kblob_inst *in = &m->insts[i];
    uint32_t to = in->arg1, most = print_room(l);
    if (in->opcode < KBLOB_OP_BEQ || in->opcode > KBLOB_OP_BGES || to <= i || to > most)
        return false;
    const struct kblob_inst *last = &m->insts[to - 1];
    if (last->opcode == KBLOB_OP_JMP && to - 1 > i && print_plain(m, last) && last->arg1 > to &&
        last->arg1 <= most)
        return print_push(l, (struct open_block){to - 1, last->arg1, false});
    return print_push(l, (struct open_block){NO_TURN, to, false});
}

static void print_indent(struct listing *l)
{
    if (l->p.out)
        writer_fill(l->p.out, ' ', 4 * (l->open_count < DEEPEST ? l->open_count : DEEPEST));
}

static void print_word(struct listing *l, const char *text)
{
    print_indent(l);
    if (l->p.out) writer_print(l->p.out, "%s\n", text);
}

static void print_labels(struct listing *l, uint32_t i)
{
    const struct kblob_symbols *s = &l->p.m->symbols;
    size_t at;
    ARRAY_SEARCH(at, 0, s->instruction_count, s->places[at].value >= i);
    bool named = false;
    for (; at < s->instruction_count && s->places[at].value == i; at++) {
        writer_print(l->p.out, "%s:\n", kblob_symbol_at(s, s->places[at].name).name);
        named = true;
    }
    if (l->labelled && l->labelled[i] && !named) writer_print(l->p.out, "$%u:\n", (unsigned)i);
}

static void print_line(struct listing *l, uint32_t i)
{
    const struct kblob_symbols *s = &l->p.m->symbols;
    if (!l->lines) return;
    const uint8_t *row = s->lines + l->line * kblob_line_bytes;
    if (l->line < s->line_count && bytes_get32(row) == i) {
        writer_print(l->p.out, ".line   %u\n", (unsigned)bytes_get32(row + 4));
        l->line++;
    } else if (!i) {
        writer_text(l->p.out, ".line   0\n"); /* Without this, the line of this text would count. */
    }
}

static void print_head(struct listing *l, const struct kblob_inst *in)
{
    struct writer *out = l->p.out;
    if (!out) return;
    if (in->opcode == KBLOB_OP_LOOP) {
        writer_print(out, "loop    r%u, ", kblob_d(in));
        print_b(&l->p, in);
    } else { /* The branch skips the block, so `if` has the opposite condition. */
        const char *name = kblob_ops[in->opcode ^ 1].mnemonic + 1;
        writer_print(out, "if      r%u ", kblob_a(in));
        for (; *name; name++) writer_char(out, (char)(*name | 0x20));
        writer_char(out, ' ');
        print_b(&l->p, in);
    }
    writer_char(out, '\n');
}

/* Prints everything at instruction i: the ends of blocks before it, labels, and the instruction. */
static void walk_inst(struct listing *l, uint32_t i)
{
    const struct kblob_module *m = l->p.m;
    struct open_block *top;
    while (l->open_count && (top = &l->open[l->open_count - 1])->end == i && !top->loop) {
        l->open_count--;
        print_word(l, "endif");
    }
    if (l->p.out) print_labels(l, i);
    if (i >= m->count) return;
    if (l->p.out) print_line(l, i);
    top = l->open_count ? &l->open[l->open_count - 1] : NULL;
    if (top && top->turn == i) {
        top->turn = NO_TURN;
        l->open_count--;
        print_word(l, "else");
        l->open_count++;
        return;
    }
    if (top && top->loop && top->end == i) {
        l->open_count--;
        print_word(l, "endloop");
        return;
    }
    const struct kblob_inst *in = &m->insts[i];
    size_t depth = l->open_count;
    if (m->header.version == KBLOB_VERSION_2 && print_plain(m, in) &&
        (opens_loop(l, i) || opens_if(l, i))) {
        size_t inner = l->open_count;
        l->open_count = depth;
        print_indent(l);
        print_head(l, in);
        l->open_count = inner;
        return;
    }
    if (l->p.out) {
        print_indent(l);
        print_inst(&l->p, in);
        writer_char(l->p.out, '\n');
    } else if (print_plain(m, in) && kblob_uses(&kblob_ops[in->opcode]) & KBLOB_FIELD_TARGET &&
               in->arg1 <= m->count) {
        l->labelled[in->arg1] = 1;
    }
}

static void walk_code(struct listing *l)
{
    for (uint32_t i = 0; i <= l->p.m->count && !l->failed; i++) walk_inst(l, i);
    l->open_count = 0;
}

static bool print_code(const struct kblob_module *m, const struct labels *names, bool lines,
                       struct writer *out, penta_error *err)
{
    struct listing l = {.p = {m, NULL, names}, .lines = lines};
    /* The first pass finds out which instructions need a label. */
    if (m->header.version == KBLOB_VERSION_2) {
        l.labelled = calloc(m->count + 1, 1);
        if (!l.labelled) return error_at(err, BASE_MEMORY, 0, "no memory for labels");
        walk_code(&l);
    }
    l.p.out = out;
    walk_code(&l);
    free(l.labelled);
    free(l.open);
    return !l.failed || error_at(err, BASE_MEMORY, 0, "no memory for nested blocks");
}

/* The functions below print the rest of the file. */

static void print_bytes(struct writer *out, const char *directive, penta_bytes bytes)
{
    hex_rows(out, directive, directive, bytes);
}

/* Makes the rows of the module as an assembler would collect them. Returns false if it would not
 * collect such rows. */
static bool symbol_rows(const struct kblob_symbols *s, struct kblob_symbol_list *list)
{
    bool ok = true;
    for (size_t i = 0; i < s->name_count; i++) {
        list->names[i] = kblob_symbol_at(s, i);
        ok = ok && (!list->names[i].is_address || list->names[i].size);
    }
    for (size_t i = 0; i < s->line_count; i++) {
        const uint8_t *row = s->lines + i * kblob_line_bytes;
        list->lines[i] = (struct kblob_line){bytes_get32(row), bytes_get32(row + 4)};
        /* Consecutive rows must have different lines. */
        ok = ok && list->lines[i].line != (i ? list->lines[i - 1].line : 0);
    }
    return ok;
}

/* Tells whether .symbols gives these bytes, because they have the form that the assembler
 * writes. */
static bool symbols_usual(const struct kblob_module *m, penta_error *err)
{
    const struct kblob_symbols *s = &m->symbols;
    if (!s->file) return false;
    struct kblob_symbol_list list = {
        .name_count = s->name_count, .line_count = s->line_count, .file = s->file};
    struct writer again = {0};
    list.names = malloc((s->name_count + 1) * sizeof *list.names);
    list.lines = malloc((s->line_count + 1) * sizeof *list.lines);
    bool ok = (list.names && list.lines) || error_at(err, BASE_MEMORY, 0, "no memory for symbols");
    ok = ok && symbol_rows(s, &list);
    if (ok) kblob_symbols_write(&list, &again);
    ok = ok && writer_ok(&again, err) && bytes_equal(writer_view(&again), kblob_metadata(m));
    writer_free(&again);
    free(list.names);
    free(list.lines);
    return ok;
}

/* Tells whether the trailer is the one that the assembler writes for these metadata. */
static bool trailer_usual(const struct kblob_module *m)
{
    if (!m->tail_is_trailer) return false;
    penta_bytes before = bytes_slice(m->base.file, 0, m->base.file.size - m->tail.size);
    return bytes_get32(m->tail.data + 4) == checksum_crc32(before) &&
           bytes_get32(m->tail.data + 8) == m->tail.size - kblob_trailer_bytes &&
           !bytes_get32(m->tail.data + 12);
}

static void print_tail(struct writer *out, const struct kblob_module *m)
{
    penta_bytes metadata = kblob_metadata(m);
    if (!trailer_usual(m))
        print_bytes(out, ".tail   ", m->tail);
    else if (metadata.size)
        print_bytes(out, ".trailer ", metadata);
    else
        writer_text(out, ".trailer\n");
}

/* Tells whether the program has an instruction that makes an assembler choose version 2. */
static bool says_version_2(const struct kblob_module *m)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->insts[i].opcode >= KBLOB_FIRST_2 && print_plain(m, &m->insts[i])) return true;
    return false;
}

/* Prints the header as a directive if it is not the one that the assembler computes. */
static void print_header(struct writer *out, const struct kblob_module *m)
{
    const struct kblob_header *h = &m->header;
    bool two = h->version == KBLOB_VERSION_2 && h->magic == KBLOB_MAGIC && m->count;
    if (two && h->flags == KBLOB_FUELLED)
        writer_text(out, ".fuelled\n");
    else if (!(two && !h->flags && says_version_2(m)) &&
             (h->magic != KBLOB_MAGIC || h->version != KBLOB_VERSION || h->flags || !m->count))
        writer_print(out, ".header %u, 0x%x, 0x%x\n", h->version, h->flags, (unsigned)h->magic);
}

static void print_symbols(struct writer *out, const struct kblob_module *m,
                          const struct labels *names, bool usual)
{
    const struct kblob_symbols *s = &m->symbols;
    if (usual) writer_print(out, ".symbols\n.file   \"%s\"\n", s->file);
    for (size_t i = s->instruction_count; i < s->name_count; i++) {
        struct kblob_symbol name = kblob_symbol_at(s, s->places[i].name);
        if (labels_find(names, bytes_of(name.name))) continue;
        writer_print(out, ".name   %s, 0x%llx, %llu\n", name.name, (unsigned long long)name.value,
                     (unsigned long long)name.size);
    }
}

bool kblob_print(const penta_module *module, const penta_option *options, size_t count,
                 struct writer *out, penta_error *err)
{
    const struct kblob_module *m = kblob_module(module);
    struct labels names = {0};
    if (!kblob_define_names(&names, options, count, err)) {
        labels_free(&names);
        return false;
    }
    bool usual = trailer_usual(m) && symbols_usual(m, err);
    for (size_t i = 0; i < names.count; i++)
        writer_print(out, ".extern %.*s\n", BYTES_ARG(names.items[i].name, INT_MAX));
    print_header(out, m);
    print_symbols(out, m, &names, usual);
    print_bytes(out, ".gap    ", m->gap);
    bool ok = !err->code && print_code(m, &names, usual, out, err);
    if (!usual) print_tail(out, m);
    labels_free(&names);
    return ok && writer_ok(out, err);
}
