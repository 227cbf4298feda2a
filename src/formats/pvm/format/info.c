/* Prints one screen of facts about a program, and the list of instructions. */
#include <stdio.h>
#include "core/describe.h"
#include "pvm/format/layout.h"

struct statistics {
    uint64_t instructions, blocks, invalid, holes, host_calls, longest;
};

static struct statistics info_count(const struct pvm_code *code)
{
    struct statistics s = {0};
    struct pvm_insn in;
    bool block = true;
    for (uint32_t pc = 0; pc < code->bytes.size; pc += in.length) {
        pvm_decode(code, pc, &in);
        if (!pvm_starts(code, pc)) {
            s.holes++;
            block = true;
            continue;
        }
        s.instructions++;
        s.blocks += block;
        s.invalid += in.op == PVM_OP_invalid;
        s.host_calls += pvm_ops[in.op].flow == PVM_FLOW_HOST;
        if (in.length > s.longest) s.longest = in.length;
        block = pvm_ends_block(in.op);
    }
    return s;
}

static void info_names(const struct pvm_program *p, const penta_visitor *v)
{
    penta_node imports = {.name = "imports", .list = true};
    if (p->import_count && describe_enter(v, imports)) {
        for (size_t i = 0; i < p->import_count; i++)
            describe_field(v, (penta_field){.name = "import",
                                            .kind = PENTA_TEXT,
                                            .as.bytes = p->imports[i].name});
        describe_leave(v, imports);
    }
    penta_node exports = {.name = "exports", .list = true};
    if (!p->export_count || !describe_enter(v, exports)) return;
    for (size_t i = 0; i < p->export_count; i++) {
        penta_node export = {.name = "export"};
        if (!describe_enter(v, export)) continue;
        describe_field(
            v, (penta_field){.name = "name", .kind = PENTA_TEXT, .as.bytes = p->exports[i].name});
        describe_uint(v, "pc", p->exports[i].pc);
        describe_leave(v, export);
    }
    describe_leave(v, exports);
}

static void info_area(const penta_visitor *v, const char *name, uint64_t address, uint64_t size,
                      const char *access)
{
    char text[64];
    if (!size) return;
    snprintf(text, sizeof text, "0x%llx..0x%llx %s", (unsigned long long)address,
             (unsigned long long)(address + size), access);
    describe_text(v, name, text);
}

/* Prints the places of memory in a machine without arguments and with the default page size (PVM
 * 7.1). */
static void info_map(const struct pvm_program *p, const penta_visitor *v)
{
    struct pvm_layout l;
    penta_error err = {0};
    penta_node map = {.name = "memory_map"};
    if ((p->dialect == PVM_JAM && !p->spi) || !pvm_layout(p, 0, PVM_PAGE, &l, &err) ||
        !describe_enter(v, map))
        return;
    info_area(v, "ro_data", l.ro, l.ro_length, "r");
    info_area(v, "rw_data", l.rw, l.rw_length, "rw");
    info_area(v, "heap", l.heap_base, l.heap_max, "rw, as far as sbrk grew it");
    info_area(v, "stack", l.stack, l.stack_length, "rw");
    describe_leave(v, map);
}

static void info_memory(const struct pvm_program *p, const penta_visitor *v)
{
    penta_node memory = {.name = "memory"};
    if ((p->dialect == PVM_JAM && !p->spi) || !describe_enter(v, memory)) return;
    describe_uint(v, "ro_data_size", p->ro_size);
    describe_uint(v, "ro_data_stored", p->ro_data.size);
    describe_uint(v, "rw_data_size", p->rw_size);
    describe_uint(v, "rw_data_stored", p->rw_data.size);
    if (p->dialect == PVM_JAM) describe_uint(v, "heap_pages", p->heap_pages);
    describe_uint(v, "stack_size", p->stack_size);
    describe_leave(v, memory);
}

static void info_code(const struct pvm_program *p, const penta_visitor *v)
{
    struct statistics s = info_count(&p->code);
    penta_node code = {.name = "code"};
    if (!describe_enter(v, code)) return;
    describe_uint(v, "bytes", p->code.bytes.size);
    describe_uint(v, "instructions", s.instructions);
    describe_uint(v, "basic_blocks", s.blocks);
    describe_uint(v, "host_calls", s.host_calls);
    describe_uint(v, "longest_instruction", s.longest);
    if (s.invalid) describe_uint(v, "invalid_instructions", s.invalid);
    if (s.holes) describe_uint(v, "holes", s.holes);
    describe_uint(v, "jump_table_entries", p->code.table_count);
    describe_uint(v, "jump_table_entry_size", p->code.table_entry);
    describe_leave(v, code);
}

void pvm_info(const penta_module *module, const penta_visitor *v)
{
    const struct pvm_program *p = &pvm_module(module)->program;
    describe_text(v, "dialect", pvm_dialect_names[p->dialect]);
    if (p->dialect == PVM_JAM && !module->damage.code)
        describe_text(v, "form",
                      !p->spi           ? "generic program"
                      : p->has_metadata ? "standard program with metadata"
                                        : "standard program");
    /* The ISA of a damaged file is known when parsing got past the byte that gives it. */
    if (!module->damage.code || pvm_module(module)->parsed > 4)
        describe_text(v, "isa", pvm_isas[p->code.isa].name);
    if (module->damage.code) {
        describe_text(v, "damaged", module->damage.message);
        return;
    }
    if (p->has_metadata) describe_uint(v, "metadata_bytes", p->metadata.size);
    info_memory(p, v);
    info_map(p, v);
    info_code(p, v);
    info_names(p, v);
    uint64_t debug = p->debug_strings.size + p->debug_lines.size + p->debug_ranges.size;
    if (debug) describe_uint(v, "debug_bytes", debug);
    size_t extra = 0;
    for (size_t i = 0; i < p->section_count; i++) extra += p->sections[i].extra;
    if (extra) describe_uint(v, "unknown_sections", extra);
    if (p->trailing.size) describe_uint(v, "trailing_bytes", p->trailing.size);
}

void pvm_isa_list(const penta_visitor *v)
{
    /* clang-format off */
    static const char *const shapes[PVM_SHAPES] = {
        [PVM_NONE] = "",                           [PVM_IMM] = "imm",
        [PVM_OFFSET] = "offset",                   [PVM_IMM_IMM] = "imm, imm",
        [PVM_REG_IMM] = "reg, imm",                [PVM_REG_IMM_IMM] = "reg, imm, imm",
        [PVM_REG_IMM_OFFSET] = "reg, imm, offset", [PVM_REG_IMM64] = "reg, imm64",
        [PVM_REG_REG] = "reg, reg",                [PVM_REG_REG_IMM] = "reg, reg, imm",
        [PVM_REG_REG_OFFSET] = "reg, reg, offset", [PVM_REG_REG_IMM_IMM] = "reg, reg, imm, imm",
        [PVM_REG_REG_REG] = "reg, reg, reg"};
    /* clang-format on */
    for (unsigned op = PVM_OP_invalid + 1; op < PVM_OPS; op++) {
        penta_node node = {.name = "instruction"};
        if (!describe_enter(v, node)) continue;
        describe_text(v, "name", pvm_ops[op].name);
        if (*pvm_ops[op].gp_name) describe_text(v, "gray_paper_name", pvm_ops[op].gp_name);
        for (unsigned isa = 0; isa < PVM_ISAS; isa++)
            if (pvm_ops[op].number[isa] >= 0)
                describe_uint(v, pvm_isas[isa].name, (uint64_t)pvm_ops[op].number[isa]);
        describe_text(v, "operands", shapes[pvm_ops[op].shape]);
        describe_leave(v, node);
    }
}
