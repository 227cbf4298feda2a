/* Shows a session and a debugger that goes backwards. Runs a program of any format with its default
 * host, and when it stops shows the instructions before that, from the last on, and what each
 * changed.
 *
 *     cc debug.c $(pkg-config --cflags --libs penta) -o debug
 *     ./debug program.coil 5
 *     ./debug kernel.kblob 5 map=0x10000:64 /memory
 *
 * The arguments after the file are how many steps to go back, then options of the machine,
 * KEY=VALUE, and values of the machine to watch, which start with a slash. */
#include <penta/penta.h>
#include <penta/session.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 16, FILE_MAX = 1 << 24 };

static int error_print(const char *file, const penta_error *err)
{
    char code[24];
    penta_code_text(err->code, code);
    fprintf(stderr, "%s: %s: %s\n", file, code, err->message);
    return 1;
}

/* Prints a step, such as "step 12 pc 3 ADD %sum, %square". */
static void step_show(const penta_module *module, penta_session *session, const penta_stop *stop)
{
    penta_buffer text = {0};
    penta_print_at(module, stop->pc, &text);
    printf("step %llu  pc %llu  %.*s\n", (unsigned long long)penta_session_steps(session),
           (unsigned long long)stop->pc, (int)text.size, text.data ? (const char *)text.data : "");
    penta_buffer_free(&text);
}

static int debug_session(const char *file, const penta_module *module, penta_debugger *debugger,
                         penta_session *session, unsigned long back)
{
    penta_error err = {0};
    penta_stop stop;
    const char *hit;
    do { /* A watch only interrupts the run, which then continues. */
        if (!penta_debugger_forward(debugger, UINT64_MAX, &stop, &err))
            return error_print(file, &err);
        hit = penta_debugger_watch_hit(debugger);
        if (hit) printf("%s changed before ", hit);
        if (hit) step_show(module, session, &stop);
    } while (hit);
    const char *detail = penta_vm_detail_name(penta_session_vm(session), &stop);
    printf("%s%s%s after %llu steps\n", penta_stop_name(stop.kind), detail ? " " : "",
           detail ? detail : "", (unsigned long long)penta_session_steps(session));
    while (back-- && penta_session_steps(session)) {
        if (!penta_debugger_back(debugger, 1, &stop, &err)) return error_print(file, &err);
        step_show(module, session, &stop);
    }
    return 0;
}

int main(int argc, char **argv)
{
    penta_option options[OPTIONS_MAX];
    penta_error err = {0};
    size_t count = 0, size = 0;
    int status = 1;
    if (argc < 3) return fprintf(stderr, "usage: debug FILE STEPS [KEY=VALUE | /PATH]...\n"), 2;
    for (int i = 3; i < argc && count < OPTIONS_MAX; i++) {
        char *value = strchr(argv[i], '=');
        if (argv[i][0] == '/' || !value) continue;
        *value = 0;
        options[count++] = (penta_option){argv[i], value + 1};
    }
    FILE *in = fopen(argv[1], "rb");
    uint8_t *bytes = malloc(FILE_MAX);
    if (in && bytes) size = fread(bytes, 1, FILE_MAX, in);
    if (!in || !bytes) return perror(argv[1]), free(bytes), 4;
    fclose(in);

    penta_module *module = penta_open((penta_bytes){bytes, size}, NULL, NULL, 0, &err);
    penta_session *session =
        module ? penta_session_new(module, NULL, options, count, NULL, &err) : NULL;
    penta_debugger *debugger = session ? penta_debugger_new(session, &err) : NULL;
    for (int i = 3; debugger && i < argc && !err.code; i++)
        if (argv[i][0] == '/') penta_debugger_watch(debugger, argv[i], true, &err);
    if (!debugger || err.code)
        error_print(argv[1], &err);
    else
        status = debug_session(argv[1], module, debugger, session, strtoul(argv[2], NULL, 0));
    penta_debugger_free(debugger);
    penta_session_free(session);
    penta_close(module);
    free(bytes);
    return status;
}
