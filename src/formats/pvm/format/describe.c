/* Walks over a module and describes it: every byte of the file belongs to one leaf. */
#include "pvm/format/container.h"
#include "pvm/format/debug_info.h"

bool pvm_walk_varint(struct pvm_walk *w, const char *name, uint32_t *value)
{
    penta_bytes left = bytes_slice(w->file, w->pos, w->end - w->pos);
    unsigned size = w->leb ? varint_leb_read(left, value) : varint_prefix_read(left, value);
    if (!size) return false;
    describe_field(w->v, (penta_field){.name = name,
                                       .offset = w->pos,
                                       .size = size,
                                       .kind = PENTA_UINT,
                                       .as.u = *value,
                                       .encoding = w->leb ? PENTA_LEB128 : PENTA_PREFIX});
    w->pos += size;
    return true;
}

void pvm_walk_uint(struct pvm_walk *w, const char *name, unsigned size, penta_kind kind,
                   const char *note)
{
    uint64_t value = bytes_uint(w->file.data + w->pos, size, false);
    describe_field(w->v, (penta_field){.name = name,
                                       .offset = w->pos,
                                       .size = size,
                                       .kind = kind,
                                       .as.u = value,
                                       .note = note});
    w->pos += size;
}

void pvm_walk_raw(struct pvm_walk *w, const char *name, size_t size, const char *note)
{
    describe_raw(w->v, name, bytes_slice(w->file, w->pos, size), w->pos, note);
    w->pos += size;
}

void pvm_walk_text(struct pvm_walk *w, const char *name, size_t size)
{
    describe_field(w->v, (penta_field){.name = name,
                                       .offset = w->pos,
                                       .size = size,
                                       .kind = PENTA_TEXT,
                                       .as.bytes = bytes_slice(w->file, w->pos, size)});
    w->pos += size;
}

void pvm_walk_rest(struct pvm_walk *w, const char *name, const char *note)
{
    if (w->pos < w->end) pvm_walk_raw(w, name, w->end - w->pos, note);
}

/* Describes a byte of registers or lengths, if the instruction is long enough to hold it. */
static void walk_registers(struct pvm_walk *w, const char *name, size_t end)
{
    if (w->pos < end) pvm_walk_uint(w, name, 1, PENTA_WORD, NULL);
}

static void walk_immediate(struct pvm_walk *w, const char *name, size_t end, size_t size,
                           uint64_t value)
{
    /* The rest of the bytes belongs to the next instruction. */
    if (size > end - w->pos) size = end - w->pos;
    describe_field(w->v, (penta_field){.name = name,
                                       .offset = w->pos,
                                       .size = size,
                                       .kind = PENTA_SINT,
                                       .as.i = (int64_t)value});
    w->pos += size;
}

static void walk_operands(struct pvm_walk *w, const struct pvm_insn *in, size_t end, bool doc)
{
    enum pvm_shape shape = pvm_ops[in->op].shape;
    bool second_is_offset = shape == PVM_REG_IMM_OFFSET;
    switch (shape) {
    case PVM_NONE:
    case PVM_SHAPES: return;
    case PVM_IMM: walk_immediate(w, "immediate", end, in->size1, in->imm1); return;
    case PVM_OFFSET: walk_immediate(w, "offset", end, in->size1, in->imm1); break;
    case PVM_IMM_IMM:
        if (!doc) walk_registers(w, "lengths", end);
        walk_immediate(w, "immediate1", end, in->size1, in->imm1);
        walk_immediate(w, "immediate2", end, in->size2, in->imm2);
        return;
    case PVM_REG_REG: walk_registers(w, "registers", end); return;
    case PVM_REG_REG_REG:
        walk_registers(w, "registers", end);
        walk_registers(w, "register3", end);
        return;
    case PVM_REG_IMM_IMM:
    case PVM_REG_IMM_OFFSET:
    case PVM_REG_REG_IMM_IMM:
        walk_registers(w, "registers", end);
        if (shape == PVM_REG_REG_IMM_IMM && !doc) walk_registers(w, "lengths", end);
        walk_immediate(w, "immediate1", end, in->size1, in->imm1);
        walk_immediate(w, second_is_offset ? "offset" : "immediate2", end, in->size2, in->imm2);
        break;
    case PVM_REG_IMM:
    case PVM_REG_IMM64:
    case PVM_REG_REG_IMM:
    case PVM_REG_REG_OFFSET:
        walk_registers(w, "registers", end);
        walk_immediate(w, shape == PVM_REG_REG_OFFSET ? "offset" : "immediate", end, in->size1,
                       in->imm1);
        break;
    }
    if (pvm_has_target(in->op)) describe_uint(w->v, "target", in->target);
}

static const char *opcode_name(enum pvm_isa isa, uint64_t value)
{
    unsigned op = value < 256 ? pvm_isas[isa].op[value] : PVM_OP_invalid;
    return op == PVM_OP_invalid ? NULL : pvm_ops[op].name;
}

/* The names of opcodes, a function for each ISA, since a field has no place for more than the function. */
#define OPCODE_MEANING(isa)                                                                        \
    static const char *opcode_of_##isa(const char *field, uint64_t value)                          \
    {                                                                                              \
        (void)field;                                                                               \
        return opcode_name(PVM_##isa, value);                                                      \
    }
OPCODE_MEANING(REVIVE_V1)
OPCODE_MEANING(LATEST32)
OPCODE_MEANING(LATEST64)
OPCODE_MEANING(JAM_V1)

static void walk_opcode(struct pvm_walk *w, const struct pvm_insn *in)
{
    static const char *(*const meanings[PVM_ISAS])(const char *, uint64_t) = {
        [PVM_REVIVE_V1] = opcode_of_REVIVE_V1,
        [PVM_LATEST32] = opcode_of_LATEST32,
        [PVM_LATEST64] = opcode_of_LATEST64,
        [PVM_JAM_V1] = opcode_of_JAM_V1};
    describe_field(w->v, (penta_field){.name = "opcode",
                                       .offset = w->pos,
                                       .size = 1,
                                       .kind = PENTA_WORD,
                                       .as.u = w->file.data[w->pos],
                                       .note = pvm_ops[in->op].name,
                                       .meaning = meanings[w->m->program.code.isa]});
    w->pos++;
}

static void walk_insn(struct pvm_walk *w, const struct pvm_insn *in)
{
    size_t end = w->pos + in->length;
    penta_node node = {.name = "insn", .offset = w->pos, .size = in->length};
    if (describe_enter(w->v, node)) {
        walk_opcode(w, in);
        if (in->op != PVM_OP_invalid) walk_operands(w, in, end, w->m->program.code.doc);
        if (w->pos < end) pvm_walk_raw(w, "unused", end - w->pos, NULL);
        describe_leave(w->v, node);
    }
    w->pos = end;
}

void pvm_walk_insns(struct pvm_walk *w)
{
    const struct pvm_code *code = &w->m->program.code;
    size_t from = w->pos;
    penta_node node = {.name = "code", .offset = from, .size = code->bytes.size, .list = true};
    struct pvm_insn in;
    if (code->bytes.size && describe_enter(w->v, node)) {
        for (uint32_t pc = 0; pc < code->bytes.size; pc += in.length) {
            pvm_decode(code, pc, &in);
            if (pvm_starts(code, pc))
                walk_insn(w, &in);
            else
                pvm_walk_raw(w, "hole", in.length, "no instruction starts here");
        }
        describe_leave(w->v, node);
    }
    w->pos = from + code->bytes.size;
}

void pvm_walk_table(struct pvm_walk *w, uint32_t count, unsigned entry_size)
{
    size_t size = (size_t)count * entry_size, end = w->pos + size;
    penta_node node = {.name = "jump_table", .offset = w->pos, .size = size, .list = true};
    if (size && describe_enter(w->v, node)) {
        for (uint32_t i = 0; i < count; i++) pvm_walk_uint(w, "pc", entry_size, PENTA_UINT, NULL);
        describe_leave(w->v, node);
    }
    w->pos = end;
}

void pvm_walk_program(struct pvm_walk *w)
{
    const struct pvm_code *code = &w->m->program.code;
    uint32_t ignored;
    pvm_walk_varint(w, "jump_table_count", &ignored);
    pvm_walk_uint(w, "jump_table_entry_size", 1, PENTA_UINT, NULL);
    pvm_walk_varint(w, "code_length", &ignored);
    pvm_walk_table(w, code->table_count, code->table_entry);
    pvm_walk_insns(w);
    if (code->mask.size) pvm_walk_raw(w, "bitmask", code->mask.size, NULL);
}

static void walk_strings(struct pvm_walk *w)
{
    penta_node node = {.name = "strings", .offset = w->pos, .size = w->end - w->pos, .list = true};
    if (!describe_enter(w->v, node)) {
        w->pos = w->end;
        return;
    }
    uint32_t length = 0;
    while (w->pos < w->end) {
        size_t at = w->pos;
        unsigned size = varint_prefix_read(bytes_slice(w->file, at, w->end - at), &length);
        if (!size || length > w->end - at - size) break;
        pvm_walk_varint(w, "length", &length);
        if (length) pvm_walk_text(w, "text", length);
    }
    pvm_walk_rest(w, "damaged", "not a string");
    describe_leave(w->v, node);
}

static void walk_ranges(struct pvm_walk *w)
{
    penta_node node = {.name = "ranges", .offset = w->pos, .size = w->end - w->pos, .list = true};
    if (!describe_enter(w->v, node)) {
        w->pos = w->end;
        return;
    }
    while (w->end - w->pos >= PVM_DEBUG_RANGE_BYTES) {
        penta_node range = {.name = "range", .offset = w->pos, .size = PVM_DEBUG_RANGE_BYTES};
        if (!describe_enter(w->v, range)) {
            w->pos += PVM_DEBUG_RANGE_BYTES;
            continue;
        }
        pvm_walk_uint(w, "first_pc", 4, PENTA_UINT, NULL);
        pvm_walk_uint(w, "end_pc", 4, PENTA_UINT, NULL);
        pvm_walk_uint(w, "line_program", 4, PENTA_UINT, NULL);
        describe_leave(w->v, range);
    }
    pvm_walk_rest(w, "damaged", "less than a record");
    describe_leave(w->v, node);
}

/* Describes the line programs. They lie one after the other, and operation 0 ends each. */
static void walk_lines(struct pvm_walk *w)
{
    pvm_walk_uint(w, "version", 1, PENTA_UINT, NULL);
    penta_node node = {
        .name = "operations", .offset = w->pos, .size = w->end - w->pos, .list = true};
    if (w->pos == w->end || !describe_enter(w->v, node)) {
        w->pos = w->end;
        return;
    }
    while (w->pos < w->end) {
        uint32_t operand = 0;
        uint8_t op = w->file.data[w->pos];
        unsigned size = pvm_debug_op(bytes_slice(w->file, w->pos, w->end - w->pos), &operand);
        if (!size) break;
        describe_field(w->v, (penta_field){.name = pvm_debug_op_name(op),
                                           .offset = w->pos,
                                           .size = size,
                                           .kind = PENTA_UINT,
                                           .as.u = operand,
                                           .encoding = PENTA_PACKED});
        w->pos += size;
    }
    pvm_walk_rest(w, "damaged", "not an operation of line programs");
    describe_leave(w->v, node);
}

void pvm_walk_debug(struct pvm_walk *w, uint8_t id)
{
    if (w->pos == w->end) return;
    if (id == PVM_SECTION_DEBUG_STRINGS) walk_strings(w);
    if (id == PVM_SECTION_DEBUG_RANGES) walk_ranges(w);
    if (id == PVM_SECTION_DEBUG_LINES) walk_lines(w);
}

void pvm_describe(const penta_module *module, const penta_visitor *v)
{
    const struct pvm_module *m = pvm_module(module);
    struct pvm_walk w = {.v = v,
                         .m = m,
                         .file = module->file,
                         .end = module->file.size,
                         .leb = m->program.dialect == PVM_DOC};
    switch (m->program.dialect) {
    case PVM_POLKAVM: pvm_polkavm_describe(&w); break;
    case PVM_DOC: pvm_doc_describe(&w); break;
    case PVM_JAM: pvm_jam_describe(&w); break;
    }
    w.end = module->file.size;
    if (module->damage.code) pvm_walk_rest(&w, "damaged", module->damage.message);
}
