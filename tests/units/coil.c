/* Tests what no case file can reach of COIL: the builder, to an object and straight to a
 * machine, the host that a program asks, and the flags that each instruction leaves unchanged. */
#include "support.h"
#include "coil/vm/vm.h"
#include "penta/coil.h"
#include <stdio.h>
#include <string.h>

static penta_coil_operand coil_test_text(const char *operand)
{
    return (penta_coil_operand){.kind = PENTA_COIL_TEXT, .text = operand};
}
static penta_coil_operand coil_test_number(int64_t value)
{
    return (penta_coil_operand){.kind = PENTA_COIL_INT, .number = value};
}
#define INSN(b, name, ...)                                                                         \
    penta_coil_builder_insn(b, name, (penta_coil_operand[]){__VA_ARGS__},                          \
                            sizeof((penta_coil_operand[]){__VA_ARGS__}) /                          \
                                sizeof(penta_coil_operand))

/* Builds a program whose main computes v0 = table[1] + 2, through a relocated word and a label. */
static penta_coil_builder *coil_test_program(bool big_endian)
{
    static const uint8_t little[] = {40, 0, 0, 0}, big[] = {0, 0, 0, 40};
    penta_coil_builder *b = penta_coil_builder_new(big_endian);
    penta_coil_builder_function(b, "main", true);
    penta_coil_builder_variable(b, "p", "u64");
    penta_coil_builder_variable(b, "x", "i32");
    INSN(b, "MOV", coil_test_text("%p"), coil_test_text("u64 @pointer"));
    INSN(b, "MOV", coil_test_text("%x"), coil_test_text("i32 [%p]"));
    INSN(b, "BR", coil_test_text("@.add"));
    INSN(b, "TRAP", coil_test_number(1));
    penta_coil_builder_label(b, ".add");
    INSN(b, "ADD", coil_test_text("%x"), coil_test_number(2));
    INSN(b, "MOV", coil_test_text("v0"), coil_test_text("%x"));
    penta_coil_builder_insn(b, "RET", NULL, 0);
    penta_coil_builder_end(b);
    penta_coil_builder_section(b, ".data");
    penta_coil_builder_directive(b, ".align 8");
    penta_coil_builder_label(b, "pointer");
    penta_coil_builder_directive(b, ".addr @value");
    penta_coil_builder_label(b, "value");
    penta_coil_builder_data(b, big_endian ? big : little, 4);
    penta_coil_builder_zero(b, 4);
    return b;
}

/* Returns V0 at the end of the program, which must be the same with every engine. */
static uint64_t coil_test_run(const penta_module *m, const char *what)
{
    uint64_t value = 0;
    const char *engine;
    for (size_t i = 0; (engine = penta_engine_name("coil", i)); i++) {
        penta_error err = {0};
        penta_stop stop = {.kind = PENTA_STOP_FUEL};
        penta_vm *vm = penta_vm_new(m, engine, NULL, 0, NULL, &err);
        CHECK(vm != NULL, "%s: %s", what, err.message);
        if (vm) penta_vm_run(vm, 1000, &stop);
        CHECK(stop.kind == PENTA_STOP_HALT, "%s: did not halt", what);
        uint64_t last = vm ? penta_coil_register_get(vm, 0) : 0;
        CHECK(!i || last == value, "%s: another value in V0", what);
        value = last;
        penta_vm_free(vm);
    }
    return value;
}

static void coil_test_building(bool big_endian)
{
    penta_error err = {0};
    penta_buffer file = {0};
    penta_coil_builder *b = coil_test_program(big_endian);
    penta_module *m = penta_coil_builder_finish(b, NULL, NULL, &err);
    CHECK(m != NULL, "builder: %s", err.message);
    CHECK(m && coil_test_run(m, "machine of a builder") == 42,
          "machine of a builder: another result");
    CHECK(m && penta_encode(m, &file, &err), "object of a builder: %s", err.message);
    penta_coil_builder_free(b);
    penta_close(m);
    m = penta_open(view_of(&file), "coil", NULL, 0, &err);
    CHECK(m && penta_validate(m, NULL, NULL), "object of a builder: %s", err.message);
    CHECK(m && coil_test_run(m, "object of a builder") == 42,
          "object of a builder: another result");
    penta_close(m);
    penta_buffer_free(&file);
}

static void coil_test_mistakes(void)
{
    static const char *const wrong[] = {"%x\n    NOP", "%x ; rest", "\"open", NULL};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        penta_error err = {0};
        penta_coil_builder *b = penta_coil_builder_new(false);
        penta_coil_builder_function(b, "main", true);
        INSN(b, "INC", coil_test_text(wrong[i]));
        penta_coil_builder_insn(b, "RET", NULL, 0);
        penta_coil_builder_end(b);
        CHECK(!penta_coil_builder_finish(b, NULL, NULL, &err) && err.code, "a wrong operand: %s",
              wrong[i] ? wrong[i] : "NULL");
        penta_coil_builder_free(b);
    }
    penta_error err = {0};
    penta_coil_builder *b = penta_coil_builder_new(false);
    penta_coil_builder_label(b, "!include \"x\"");
    CHECK(!penta_coil_builder_finish(b, NULL, NULL, &err) && err.code, "a label: taken");
    penta_coil_builder_free(b);
}

/* Tests a host call: VENDOR.0x07 %sum, %a, 5 asks for the sum of the last two, and then for a
 * vector by its address. */
static void coil_test_vendor(void)
{
    penta_error err = {0};
    penta_stop stop;
    penta_coil_builder *b = penta_coil_builder_new(false);
    penta_coil_builder_function(b, "main", true);
    penta_coil_builder_variable(b, "sum", "i16");
    penta_coil_builder_variable(b, "a", "i8");
    penta_coil_builder_variable(b, "v", "v128<i32>");
    INSN(b, "MOV", coil_test_text("%a"), coil_test_number(-2));
    INSN(b, "MOV", coil_test_text("%v"), coil_test_number(9));
    INSN(b, "VENDOR.0x07", coil_test_text("%sum"), coil_test_text("%a"), coil_test_text("i32 5"));
    INSN(b, "VENDOR.0x08", coil_test_text("%v"));
    INSN(b, "MOV", coil_test_text("v0"), coil_test_text("%sum"));
    penta_coil_builder_insn(b, "RET", NULL, 0);
    penta_coil_builder_end(b);
    penta_module *m = penta_coil_builder_finish(b, NULL, NULL, &err);
    penta_option host = {"vendor", "host"}, wrong = {"vendor", "ask"};
    CHECK(m && !penta_vm_new(m, NULL, &wrong, 1, NULL, &err), "vendor: an unknown word is taken");
    err = (penta_error){0};
    penta_vm *vm = m ? penta_vm_new(m, NULL, &host, 1, NULL, &err) : NULL;
    CHECK(vm != NULL, "vendor: %s", err.message);
    if (!vm) return;
    penta_vm_run(vm, 1000, &stop);
    CHECK(stop.kind == PENTA_STOP_HOST && stop.detail == PENTA_COIL_VENDOR && stop.args[0] == 7 &&
              stop.args[1] == 3 && stop.args[3] == (uint64_t)-2 && stop.args[4] == 5,
          "vendor: asks for something else");
    penta_buffer saved = {0}; /* The question of the machine survives a snapshot. */
    CHECK(penta_vm_save(vm, &saved, &err) && penta_vm_load(vm, view_of(&saved), &err), "vendor: %s",
          err.message);
    uint64_t sum = stop.args[3] + stop.args[4];
    CHECK(penta_vm_answer(vm, &sum, 1, &err), "vendor: %s", err.message);
    penta_vm_run(vm, 1000, &stop);
    int32_t lanes[4] = {0};
    CHECK(stop.kind == PENTA_STOP_HOST && stop.args[0] == 8 &&
              penta_vm_peek(vm, stop.args[2], lanes, sizeof lanes) && lanes[3] == 9,
          "vendor: the vector is elsewhere");
    CHECK(!penta_vm_answer(vm, &sum, 1, &err), "vendor: a vector takes no result");
    err = (penta_error){0};
    CHECK(penta_vm_answer(vm, NULL, 0, &err), "vendor: %s", err.message);
    penta_vm_run(vm, 1000, &stop);
    CHECK(stop.kind == PENTA_STOP_HALT && penta_coil_register_get(vm, 0) == 3,
          "vendor: the result");
    penta_vm_free(vm);
    penta_close(m);
    penta_coil_builder_free(b);
    penta_buffer_free(&saved);
}

/* The flags that an instruction writes (COIL 6). A small letter is a flag that is cleared, - is
 * no flag. */
static const struct {
    const char *flags, *lines;
} written[] = {
    {"ZSCVNP", "ADD %a, %b|ADD %a, 3|SUB %a, %b|SUB %a, %a|MUL %a, %b|INC %a|DEC %a|NEG %a|"
               "ADDC %a, %a, %b, 1|SUBB %a, %a, %b, 1"},
    {"ZSVDNP", "DIV %a, %b|MOD %a, %b|DIVMOD %a, %b, %a, %b|DIV %a, 0"},
    {"ZSCVN", "CMP %a, %b|CMP %b, 3|CMP %f, %g"},
    {"ZScvPn", "TEST %a, %b|AND %a, %b|OR %a, 3|XOR %a, %b"},
    {"ZSCVPn", "SHL %a, 3|SAL %a, 3"},
    {"ZSCvPn", "SHR %a, 3|SAR %a, 3|ROL %a, 3|ROR %a, 3|BITSET %a, 3|BITCLR %a, 3|BITTGL %a, 3"},
    {"ZSPn", "NOT %a|BSWAP %a|POPCNT %a, %b"},
    {"ZCn", "BITCHK %a, 3"},
    {"ZsVNP", "ABS %a"},
    {"ZsNP", "SQRT %a"},
    {"ZSNP", "CEIL %a|FLOR %a|ROND %a"},
    {"ZSVN", "ADD %f, %g|SUB %f, %g|MUL %f, %g|NEG %f|INC %f|DEC %f|DOT %a, %v, %v"},
    {"ZSVDN", "DIV %f, %g|MOD %f, %g"},
    {"ZsVN", "ABS %f"},
    {"ZsN", "SQRT %f"},
    {"ZSN", "CEIL %f|FLOR %f|ROND %f|GETE %a, %v, 1"},
    {"ZDN", "NORM %w"},
    {"Zs", "LEN %f, %w"},
    {"ZD", "INV %m"},
    {"ZS", "DET %f, %m"},
    {"Z", "CAS %a, %b, 4|CROSS %v, %v, %v|ATOMCMPXCHG %u, %a, %b, 3"},
    {"ZSCVN", "ADD %v, %v|MUL %v, 3"},
    {"-", "MIN %a, %a, %b|MAX %a, %a, %b|CLAMP %a, %a, %b, 9|FMA %a, %a, %b, %b|MULH %a, %a, %b|"
          "MOV %a, %b|SETE %v, 1, 4|TRANS %m|XCHG %a, %b|ATOMADD %a, %b, RELAXED"},
};

/* Runs one line with no flag set, or all of them, before it. Returns the flags after it. */
static uint8_t flags_after(const char *line, bool plain, uint8_t before)
{
    static const char head[] = ".global main\n.func main\nVAR %a, i32, 7\nVAR %b, i32, 3\n"
                               "VAR %f, f64, 2.5\nVAR %g, f64, 1.5\nVAR %u, u8, 1\n"
                               "VAR %v, vec<i32,3>, vec<i32,3> {1, 2, 3}\n"
                               "VAR %w, vec<f64,2>, vec<f64,2> {3.0, 4.0}\nVAR %m, sqmat<f64,2>\n";
    char source[1000];
    penta_error err = {0};
    penta_stop stop;
    int n = snprintf(source, sizeof source, "%s%s\nRET\n.endfunc\n", head, line);
    penta_module *m = penta_assemble((penta_bytes){(const uint8_t *)source, (size_t)n}, "coil",
                                     NULL, 0, NULL, NULL);
    penta_option option = {"plain", "1"};
    penta_vm *vm = m ? penta_vm_new(m, "interp", &option, plain, NULL, &err) : NULL;
    CHECK(vm != NULL, "%s: %s", line, m ? err.message : "does not assemble");
    if (!vm) return 0;
    penta_vm_run(vm, 8, &stop);
    coil_flags_put((struct coil_vm *)vm, before);
    penta_vm_run(vm, 1, &stop);
    CHECK(stop.steps == 1, "%s: was not executed", line);
    uint8_t after = coil_flags_now((struct coil_vm *)vm);
    penta_vm_free(vm);
    penta_close(m);
    return after;
}

static void check_flags(const char *flags, const char *line, bool plain)
{
    static const char names[] = "ZSCVDNP";
    uint8_t none = flags_after(line, plain, 0), all = flags_after(line, plain, COIL_FLAGS);
    for (int i = 0; i < 7; i++) {
        bool clears = strchr(flags, names[i] | 32), writes = clears || strchr(flags, names[i]);
        char flag[2] = {names[i]};
        CHECK(((none >> i & 1) == (all >> i & 1)) == writes, "%s: %s", line, flag);
        CHECK(!clears || !(all >> i & 1), "%s: %s", line, flag);
    }
}

static void flags_written(void)
{
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        for (const char *at = written[i].lines; *at;) {
            char line[60] = "";
            size_t size = strcspn(at, "|");
            memcpy(line, at, size);
            check_flags(written[i].flags, line, false);
            check_flags(written[i].flags, line, true);
            at += size + (at[size] == '|');
        }
}

int main(void)
{
    flags_written();
    coil_test_building(false);
    coil_test_building(true);
    coil_test_mistakes();
    coil_test_vendor();
    return checks_end();
}
