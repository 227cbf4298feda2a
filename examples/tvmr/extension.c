/* Registers an extension whose instruction `blur.mean3 A, B` smooths a tensor, assembles a program
 * that uses it, and runs that. */
#include <penta/tvmr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static penta_tvmr_result mean3_execute(penta_vm *vm, const uint8_t operands[4], void *user)
{
    penta_tvmr_tensor x;
    penta_error err;
    (void)user;
    if (!penta_tvmr_register_get(vm, operands[1], &x)) {
        penta_tvmr_fail(vm, "blur.mean3 needs its source");
        return PENTA_TVMR_FAIL;
    }
    int32_t *out = malloc((x.count + 1) * sizeof *out);
    for (size_t i = 0; out && i < x.count; i++) {
        int64_t sum = x.numbers[i];
        sum += i ? x.numbers[i - 1] : 0;
        sum += i + 1 < x.count ? x.numbers[i + 1] : 0;
        out[i] = (int32_t)(sum / 3);
    }
    penta_tvmr_tensor result = {.numbers = out, .count = x.count};
    bool ok = out && penta_tvmr_register_set(vm, operands[0], &result, &err);
    free(out);
    return ok ? PENTA_TVMR_NEXT : PENTA_TVMR_FAIL;
}

static void finding_print(void *user, const penta_error *finding)
{
    (void)user;
    fprintf(stderr, "%s\n", finding->message);
}

int main(void)
{
    static const penta_tvmr_instruction instructions[] = {
        {"MEAN3", "ds--", "A = mean of three neighbours of B", mean3_execute}};
    static const penta_tvmr_extension blur = {0x0100, 1, 0, 0, "blur", instructions, 1, NULL};
    static const char text[] =
        ".requires\n    blur 0x0100\n.registers\n    H0: i32[6]\n    H1: i32[6]\n.program\n"
        "    load_input H0\n    blur.mean3 H1, H0\n    store_output H1\n    halt\n";
    static const int32_t input[] = {0, 0, 90, 0, 0, 30}, expected[] = {0, 30, 30, 30, 10, 10};
    penta_error err;
    if (!penta_tvmr_extension_register(&blur, &err)) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    penta_module *m = penta_assemble((penta_bytes){(const uint8_t *)text, strlen(text)}, "tvmr",
                                     NULL, 0, finding_print, NULL);
    penta_vm *vm = m ? penta_vm_new(m, NULL, NULL, 0, NULL, &err) : NULL;
    if (!vm || !penta_tvmr_begin(vm, input, 6, &err)) return 1;
    penta_stop stop;
    penta_vm_run(vm, UINT64_MAX, &stop);
    size_t count;
    const int32_t *out = penta_tvmr_output(vm, &count);
    for (size_t i = 0; i < count; i++) printf("%d%c", (int)out[i], i + 1 < count ? ' ' : '\n');
    bool right =
        stop.kind == PENTA_STOP_HALT && count == 6 && !memcmp(out, expected, sizeof expected);
    penta_vm_free(vm);
    penta_close(m);
    return right ? 0 : 1;
}
