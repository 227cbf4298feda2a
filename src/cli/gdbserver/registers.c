/* Gives gdb the registers: those of RISC-V, then those that only the machine has. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "cli/gdbserver/stub.h"

/* The registers of RISC-V in gdb's order, each with the name that machines use if that is
 * another one. */
static const struct {
    const char *name, *alias;
} riscv[] = {{"zero", ""}, {"ra", ""}, {"sp", ""},   {"gp", ""},  {"tp", ""}, {"t0", ""},
             {"t1", ""},   {"t2", ""}, {"fp", "s0"}, {"s1", ""},  {"a0", ""}, {"a1", ""},
             {"a2", ""},   {"a3", ""}, {"a4", ""},   {"a5", ""},  {"a6", ""}, {"a7", ""},
             {"s2", ""},   {"s3", ""}, {"s4", ""},   {"s5", ""},  {"s6", ""}, {"s7", ""},
             {"s8", ""},   {"s9", ""}, {"s10", ""},  {"s11", ""}, {"t3", ""}, {"t4", ""},
             {"t5", ""},   {"t6", ""}};

enum { PC = sizeof riscv / sizeof *riscv, OWN = PC + 1 };

static bool registers_names(size_t number, const char *name)
{
    return !strcmp(riscv[number].name, name) || (*name && !strcmp(riscv[number].alias, name));
}

static bool is_riscv(const char *name)
{
    for (size_t i = 0; i < PC; i++)
        if (registers_names(i, name)) return true;
    return false;
}

static void registers_add(struct stub *s, const penta_field *field, bool state)
{
    bool number = field->kind != PENTA_TEXT && field->kind != PENTA_RAW;
    if (!number || s->register_count == STUB_REGISTERS ||
        strlen(field->name) >= sizeof s->registers->name)
        return;
    struct stub_register *r = &s->registers[s->register_count++];
    *r = (struct stub_register){.kind = field->kind, .state = state, .value = field->as.u};
    strcpy(r->name, field->name);
}

static void add_variable(void *user, const penta_variable *v)
{
    if (v->scope == PENTA_VARIABLE_REGISTER) registers_add(user, &v->value, false);
}

static bool skip_node(void *user, const penta_node *node)
{
    (void)user, (void)node;
    return false;
}

static void add_state(void *user, const penta_field *field)
{
    struct stub *s = user;
    for (size_t i = 0; i < s->register_count; i++)
        if (!strcmp(s->registers[i].name, field->name)) return;
    if (strcmp(field->name, "pc")) registers_add(s, field, true);
}

static void find_registers(struct stub *s)
{
    penta_visitor top = {s, skip_node, add_state, NULL};
    s->register_count = 0;
    penta_vm_variables(shell_vm(&s->shell), 0, add_variable, s);
    penta_vm_describe(shell_vm(&s->shell), &top);
}

/* Returns a register that has no name in RISC-V, by its number in the description. */
static struct stub_register *registers_own(const struct stub *s, size_t number)
{
    size_t at = OWN;
    for (size_t i = 0; i < s->register_count; i++)
        if (!is_riscv(s->registers[i].name) && at++ == number)
            return (struct stub_register *)&s->registers[i];
    return NULL;
}

static struct stub_register *by_name(const struct stub *s, size_t number)
{
    for (size_t i = 0; number < PC && i < s->register_count; i++)
        if (registers_names(number, s->registers[i].name))
            return (struct stub_register *)&s->registers[i];
    return NULL;
}

size_t registers_all(const struct stub *s)
{
    size_t count = OWN;
    for (size_t i = 0; i < s->register_count; i++) count += !is_riscv(s->registers[i].name);
    return count;
}

static const char *type_of(penta_kind kind)
{
    return kind == PENTA_FLOAT ? "ieee_double" : kind == PENTA_SINT ? "int64" : "uint64";
}

static void describe_own(struct stub *s)
{
    struct writer *out = &s->description;
    for (size_t i = 0; i < s->register_count; i++) {
        const struct stub_register *r = &s->registers[i];
        if (is_riscv(r->name)) continue;
        writer_text(out, "<reg name=\"");
        for (const char *c = r->name; *c; c++)
            writer_char(out, isalnum((unsigned char)*c) ? *c : '_');
        writer_print(out, "\" bitsize=\"64\" type=\"%s\" group=\"general\"/>\n", type_of(r->kind));
    }
}

void registers_open(struct stub *s)
{
    struct writer *out = &s->description;
    find_registers(s);
    writer_text(out, "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n"
                     "<target version=\"1.0\">\n<architecture>riscv:rv64</architecture>\n"
                     "<osabi>none</osabi>\n<feature name=\"org.gnu.gdb.riscv.cpu\">\n");
    for (size_t i = 0; i < PC; i++)
        writer_print(out, "<reg name=\"%s\" bitsize=\"64\" type=\"int\"/>\n", riscv[i].name);
    writer_text(out, "<reg name=\"pc\" bitsize=\"64\" type=\"code_ptr\"/>\n</feature>\n");
    writer_print(out, "<feature name=\"org.penta.%s\">\n",
                 penta_module_format(s->shell.machine.in.module));
    describe_own(s);
    writer_text(out, "</feature>\n</target>\n");
}

static void read_register(struct stub *s, const penta_field *field, bool state)
{
    for (size_t i = 0; i < s->register_count; i++) {
        struct stub_register *r = &s->registers[i];
        if (r->state != state || strcmp(r->name, field->name)) continue;
        r->value = field->as.u;
        return;
    }
}

static void read_variable(void *user, const penta_variable *v)
{
    if (v->scope == PENTA_VARIABLE_REGISTER) read_register(user, &v->value, false);
}

static void read_state(void *user, const penta_field *field) { read_register(user, field, true); }

void registers_read(struct stub *s)
{
    penta_visitor top = {s, skip_node, read_state, NULL};
    penta_vm_variables(shell_vm(&s->shell), 0, read_variable, s);
    penta_vm_describe(shell_vm(&s->shell), &top);
}

uint64_t register_value(const struct stub *s, size_t number)
{
    const struct stub_register *r = number < PC ? by_name(s, number) : registers_own(s, number);
    if (number == PC) return s->shell.stop.pc;
    return r ? r->value : 0;
}

bool register_write(struct stub *s, size_t number, uint64_t value)
{
    const struct stub_register *r = number < PC ? by_name(s, number) : registers_own(s, number);
    const char *name = number == PC ? "pc" : r ? r->name : NULL;
    penta_value v = {.kind = r ? r->kind : PENTA_WORD, .as.u = value};
    penta_error err;
    if (!name || (r && r->state)) return false;
    return penta_debugger_set(s->shell.debugger, name, &v, &err);
}
