/* Runs any instructions on a machine with a board. The loop without checks for proved programs,
 * the same with hints, the loop with checks, and single steps must end in the same state. */
#include "fuzz.h"
#include "core/snapshot.h"
#include "cvbc/vm/vm.h"

/* Makes hints from the same bytes: the first is hot, the others are of any kind. */
static void cvbc_vm_heed(struct cvbc_vm *vm, const struct cvbc_program *p)
{
    static const uint8_t all[] = {0, 0, 255, 255};
    struct cvbc_hint_row rows[4] = {{{1, 1, sizeof all}, {all, sizeof all}}};
    size_t count = 1;
    for (; count < 4 && count * 4 + 5 <= p->count * 4; count++)
        rows[count] = (struct cvbc_hint_row){{p->code[count] & 3, 1, 5}, {p->code + 4 * count, 5}};
    cvbc_vm_heed_hints(vm, &(struct cvbc_metadata){.hints = rows, .hint_count = count});
}

static void program_run(const struct cvbc_program *p, bool proved, bool hints, uint64_t slice,
                        struct writer *state)
{
    penta_error err = {0};
    struct cvbc_vm *vm = cvbc_vm_new(p, CVBC_STACK_MAX, 3000, proved, &err);
    CHECK(vm);
    struct cvbc_board_state *board = cvbc_board_new(true, &vm->pins, &err);
    CHECK(board);
    if (hints) cvbc_vm_heed(vm, p);
    penta_stop stop;
    uint64_t steps = 0, refused = 0; /* A host call that fails is a step, but was not executed. */
    do {
        cvbc_vm_run(&vm->base, slice, &stop);
        steps += stop.steps;
        if (stop.kind != PENTA_STOP_HOST) continue;
        uint64_t results[2];
        size_t n;
        cvbc_board_answer(board, vm, results, &n, state);
        CHECK(cvbc_interp.answer(&vm->base, results, n, &err));
        refused += results[0] != 0;
    } while (stop.kind == PENTA_STOP_HOST || stop.kind == PENTA_STOP_FUEL);
    CHECK(steps == vm->executed + refused);
    cvbc_interp.walk(&vm->base, &(struct walk){.out = state});
    cvbc_board_free(board);
    cvbc_vm_free(vm);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    penta_bytes strings[] = {{(const uint8_t *)"%d %x\n", 6}, {(const uint8_t *)"%c%q%", 5}};
    struct cvbc_program p = {.code = data,
                             .count = size / 4 > 500 ? 500 : size / 4,
                             .strings = strings,
                             .string_count = 2};
    if (!p.count) return;
    struct cvbc_flow flow;
    size_t errors = 0;
    struct findings f = {.rules = cvbc_rules, .report = count_errors, .user = &errors};
    if (!cvbc_verify_program(&p, &f, 0, false, &flow)) return;
    struct writer a = {0}, b = {0}, c = {0}, d = {0};
    bool proved = flow.proved && !errors;
    program_run(&p, false, false, UINT64_MAX, &a);
    program_run(&p, proved, false, UINT64_MAX, &b);
    program_run(&p, false, false, 1, &c);
    program_run(&p, proved, true, size % 5 ? UINT64_MAX : 7, &d);
    CHECK(same_buffer(&a.out, &b.out));
    CHECK(same_buffer(&a.out, &c.out));
    CHECK(same_buffer(&a.out, &d.out));
    writer_free(&a);
    writer_free(&b);
    writer_free(&c);
    writer_free(&d);
}
