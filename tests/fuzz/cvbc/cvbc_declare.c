/* Compiles sketches that the bytes choose; a board file follows after a zero byte. What the
 * compiler declares must be enough: a machine that holds the program to its declarations never
 * refuses a call. The board, if it can be read, must take the program or say why not. */
#include "fuzz.h"
#include "cvbc/compile/compile.h"
#include "cvbc/format/hardware/board.h"
#include "cvbc/format/build.h"
#include "cvbc/vm/vm.h"

struct choices {
    const uint8_t *data;
    size_t size, at;
    struct writer *out;
    unsigned depth, loops;
};

static unsigned cvbc_declare_choose(struct choices *c, unsigned of)
{
    return c->at < c->size ? c->data[c->at++] % of : 0;
}

static void put_value(struct choices *c)
{
    static const char vars[] = "abcxy";
    static const char *const operations[] = {"+", "-", "*", "/", "%", "&", "|", ">>", "<<"};
    if (c->depth > 6) {
        writer_print(c->out, "%u", cvbc_declare_choose(c, 20));
        return;
    }
    c->depth++;
    switch (cvbc_declare_choose(c, 9)) {
    case 0: writer_print(c->out, "%u", cvbc_declare_choose(c, 24)); break;
    case 1:
    case 2: writer_print(c->out, "%c", vars[cvbc_declare_choose(c, 5)]); break;
    case 3:
        writer_print(c->out, "(%c %s %u)", vars[cvbc_declare_choose(c, 5)],
                     operations[cvbc_declare_choose(c, 9)], 1 + cvbc_declare_choose(c, 31));
        break;
    case 4: writer_print(c->out, "t[%c & 7]", vars[cvbc_declare_choose(c, 5)]); break;
    case 5: writer_print(c->out, "digitalRead(%u)", cvbc_declare_choose(c, 20)); break;
    case 6:
        writer_text(c->out, "g(");
        put_value(c);
        writer_text(c->out, ")");
        break;
    case 7:
        writer_text(c->out, "(byte)(");
        put_value(c);
        writer_text(c->out, ")");
        break;
    default: writer_print(c->out, "(analogRead(14) & %u)", cvbc_declare_choose(c, 64));
    }
    c->depth--;
}

static void put_statement(struct choices *c)
{
    static const char vars[] = "abc";
    static const char *const tests[] = {"<", ">", "<=", ">=", "==", "!="};
    static const char *const calls[] = {"pinMode", "digitalWrite", "analogWrite"};
    char v = vars[cvbc_declare_choose(c, 3)];
    if (++c->depth > 5) {
        c->depth--;
        writer_text(c->out, ";\n");
        return;
    }
    switch (cvbc_declare_choose(c, 8)) {
    case 0:
        writer_print(c->out, "%c = ", v);
        put_value(c);
        break;
    case 1:
        writer_print(c->out, "t[%u] = ", cvbc_declare_choose(c, 8));
        put_value(c);
        break;
    case 2:
        writer_print(c->out, "if (%c %s %u) {\n", v, tests[cvbc_declare_choose(c, 6)],
                     cvbc_declare_choose(c, 24));
        put_statement(c);
        put_statement(c);
        writer_text(c->out, "} else {\n");
        put_statement(c);
        writer_text(c->out, "}");
        break;
    case 3:
        writer_print(c->out, "for (%c = %u; %c %s %u; %c%s) {\n", v, cvbc_declare_choose(c, 24), v,
                     tests[cvbc_declare_choose(c, 4)], cvbc_declare_choose(c, 24), v,
                     cvbc_declare_choose(c, 2) ? "++" : "--");
        put_statement(c);
        put_statement(c);
        writer_text(c->out, "}");
        break;
    case 4:
        writer_print(c->out, "for (int x = %u; x < %u; x++) { digitalRead(x);\n",
                     cvbc_declare_choose(c, 24), cvbc_declare_choose(c, 24));
        put_statement(c);
        writer_text(c->out, "}");
        break;
    case 5:
        writer_text(c->out, "f(");
        put_value(c);
        writer_text(c->out, ", ");
        put_value(c);
        writer_text(c->out, ")");
        break;
    default:
        writer_print(c->out, "%s(", calls[cvbc_declare_choose(c, 3)]);
        put_value(c);
        writer_print(c->out, ", %u)", cvbc_declare_choose(c, 4));
    }
    writer_text(c->out, ";\n");
    c->depth--;
}

/* Writes a sketch in which every name that put_value takes is known: x and y are parameters or variables. */
static void put_sketch(struct choices *c)
{
    writer_print(c->out, "int a = %u; int b; byte c = %u; int x = 1; int y;\nint t[] = {",
                 cvbc_declare_choose(c, 20), cvbc_declare_choose(c, 20));
    for (int i = 0; i < 8; i++) writer_print(c->out, "%u,", cvbc_declare_choose(c, 20));
    writer_text(c->out, "};\nint g(int y) { return ");
    c->depth = 6; /* At this depth no call is chosen, so g does not call itself. */
    put_value(c);
    c->depth = 0;
    writer_print(c->out, " %s y; }\nvoid f(int x, int y) {\n",
                 cvbc_declare_choose(c, 2) ? "+" : "&");
    c->depth = 3;
    writer_text(c->out, "digitalWrite(x, y); x = y;\n");
    for (unsigned n = cvbc_declare_choose(c, 3); n; n--)
        writer_print(c->out, "%s %c = %u;\n", cvbc_declare_choose(c, 2) ? "if (x > 3)" : "",
                     "abc"[cvbc_declare_choose(c, 3)], cvbc_declare_choose(c, 24));
    c->depth = 0;
    writer_text(c->out, "digitalRead(x); }\nvoid setup() {\n");
    for (unsigned n = cvbc_declare_choose(c, 6); n; n--) put_statement(c);
    writer_text(c->out, "}\nvoid loop() {\n");
    for (unsigned n = cvbc_declare_choose(c, 6); n; n--) put_statement(c);
    writer_text(c->out, "}\n");
}

static void run_declared(const penta_module *module)
{
    static const penta_option budget[] = {{"budget", "5000"}};
    penta_error err = {0};
    penta_vm *vm = penta_vm_new(module, NULL, budget, 1, NULL, &err);
    struct cvbc_board_state *board = cvbc_board_new(false, NULL, &err);
    CHECK(vm && board);
    struct writer printed = {0};
    penta_stop stop;
    uint64_t results[2];
    size_t n;
    cvbc_board_set_clock(board, CVBC_CLOCK_HZ, false);
    for (;;) {
        penta_vm_run(vm, UINT64_MAX, &stop);
        CHECK(!*cvbc_vm(vm)->refused);
        if (stop.kind != PENTA_STOP_HOST) break;
        cvbc_board_answer(board, cvbc_vm(vm), results, &n, &printed);
        CHECK(cvbc_interp.answer(vm, results, n, &err));
    }
    writer_free(&printed);
    cvbc_board_free(board);
    penta_vm_free(vm);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    const uint8_t *zero = size ? memchr(data, 0, size) : NULL;
    size_t chosen = zero ? (size_t)(zero - data) : size;
    struct cvbc_board board = {0};
    penta_error err = {0}, why = {0};
    penta_bytes rest = zero ? (penta_bytes){zero + 1, size - chosen - 1} : (penta_bytes){0};
    bool known = cvbc_board_read(rest, &board, &why);
    CHECK(known == !why.code);
    struct writer source = {0}, debug = {0}, out = {0};
    put_sketch(&(struct choices){.data = data, .size = chosen, .out = &source});
    size_t wrong = 0;
    struct findings f = {.rules = cvbc_rules, .report = count_errors, .user = &wrong};
    struct cvbc_build b = {0}, other = {0};
    struct cvbc_compilation how = {.file = "fuzz.ino"};
    if (cvbc_compile(writer_view(&source), &how, &b, &debug, &f)) {
        struct cvbc_declaring declaring = {
            .enforce = true, .source = writer_view(&source), .debug = writer_view(&debug), .f = &f};
        if (cvbc_declare(&b, &declaring, &err)) {
            CHECK(cvbc_build_write(&b, &out, &err));
            penta_module *module = cvbc_parse(writer_view(&out), NULL, 0, &err);
            cvbc_verify(module, &f);
            CHECK(!wrong && !f.warnings);
            run_declared(module);
            if (known) cvbc_board_check(cvbc_module(module), &board, CVBC_STACK_MAX, &f);
            penta_close(module);
        } else {
            CHECK(wrong);
        }
    }
    f = (struct findings){.rules = cvbc_rules, .report = count_errors, .user = &wrong};
    debug.out.size = 0;
    if (known && cvbc_compile(writer_view(&source), &how, &other, &debug, &f)) {
        struct cvbc_declaring declaring = {.enforce = true,
                                           .any_pin = true,
                                           .board = &board,
                                           .source = writer_view(&source),
                                           .debug = writer_view(&debug),
                                           .f = &f};
        wrong = 0;
        CHECK(cvbc_declare(&other, &declaring, &err) || wrong);
    }
    cvbc_build_fini(&b);
    cvbc_build_fini(&other);
    writer_free(&source);
    writer_free(&debug);
    writer_free(&out);
}
