/* Implements the command compile: sketches become containers, COIL objects become native code,
 * which the system's cc links. */
#include "cli/formats.h"
#include "cli/machine/deadline.h"
#include "cli/output.h"
#include "cli/native/native.h"
#include "penta/coil.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool ends_with(const char *name, const char *suffix)
{
    size_t n = strlen(name), k = strlen(suffix);
    return n > k && !strcmp(name + n - k, suffix);
}

static bool compile_fail(struct cli *c, const char *file, const char *what, const char *detail)
{
    penta_error err = {0};
    error_at(&err, BASE_IO, 0, "%s%s", what, detail);
    cli_error(c, file, &err);
    return false;
}

/* Finds the runtime library in the folder of libraries beside the folder of the tool. The path
 * is "" if it is not there. */
static void find_runtime(char *path, size_t room)
{
    static const char *const folders[] = {PENTA_RUNTIME_FOLDER, "../lib"};
    char own[4096];
    ssize_t size = readlink("/proc/self/exe", own, sizeof own - 1);
    *path = 0;
    if (size <= 0) return;
    own[size] = 0;
    char *slash = strrchr(own, '/');
    if (!slash) return;
    slash[1] = 0;
    for (int i = 0; i < 2; i++) {
        int n = snprintf(path, room, "%s%s/libpenta_coil.a", own, folders[i]);
        if (n > 0 && (size_t)n < room && !access(path, R_OK)) return;
    }
    *path = 0;
}

static volatile pid_t linker_group; /* 0 when no linker runs */
static volatile int linker_interrupted;

static void linker_stop(void)
{
    if (linker_group) kill(-linker_group, SIGTERM);
}

static void linker_signal(int number)
{
    (void)number;
    linker_interrupted = 1;
    linker_stop();
}

/* Starts the linker. Signals wait from the start of the process until its group is known. In the
 * process they have the usual effect, except that SIGTTOU, which a terminal may send to a
 * process that is not in the foreground, is ignored. */
static int linker_start(const char *const args[])
{
    sigset_t held, old, usual;
    posix_spawnattr_t how;
    pid_t child = 0;
    sigemptyset(&held);
    sigaddset(&held, SIGINT);
    sigaddset(&held, SIGALRM);
    sigprocmask(SIG_BLOCK, &held, &old);
    usual = old;
    sigaddset(&usual, SIGTTOU);
    int wrong = posix_spawnattr_init(&how);
    if (!wrong) {
        posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
        posix_spawnattr_setpgroup(&how, 0);
        posix_spawnattr_setsigmask(&how, &usual);
        wrong = posix_spawnp(&child, args[0], NULL, &how, (char *const *)args, environ);
        posix_spawnattr_destroy(&how);
    }
    linker_group = wrong ? 0 : child;
    sigprocmask(SIG_SETMASK, &old, NULL);
    return wrong;
}

static bool run_cc(struct cli *c, const char *object, const char *made, const char *program)
{
    char runtime[8192];
    const char *cc = getenv("CC");
    if (!cc || !*cc) cc = "cc";
    find_runtime(runtime, sizeof runtime);
    const char *args[] = {cc, object, "-o", made, *runtime ? runtime : "-lm", "-lm", NULL};
    int status = 0, wrong = linker_start(args);
    if (wrong) return compile_fail(c, program, "cannot start the linker: ", strerror(wrong));
    while (waitpid(linker_group, &status, 0) < 0)
        if (errno != EINTR)
            return compile_fail(c, program, "the linker cannot be waited for: ", strerror(errno));
    linker_group = 0;
    if (deadline_reported(c, program)) return false;
    if (linker_interrupted) {
        cli_fail(c, EXIT_INTERRUPTED);
        return false;
    }
    if (WIFEXITED(status) && !WEXITSTATUS(status)) return true;
    if (!*runtime)
        return compile_fail(c, program, "there is no libpenta_coil.a to link with: ", cc);
    return compile_fail(c, program, "the linker failed: ", cc);
}

static bool write_object(struct cli *c, const char *name, penta_bytes object)
{
    int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ok = file >= 0;
    for (size_t at = 0; ok && at < object.size;) {
        ssize_t done = write(file, object.data + at, object.size - at);
        ok = done > 0 || (done < 0 && errno == EINTR);
        if (done > 0) at += (size_t)done;
    }
    if (file >= 0) ok = !close(file) && ok;
    return ok || compile_fail(c, name, "cannot be written: ", strerror(errno));
}

/* Links a program. Object and program are made in a folder beside the program, which is then
 * replaced as a whole. */
static void link_program(struct cli *c, penta_bytes object)
{
    struct sigaction stop = {.sa_handler = linker_signal}, before;
    const char *program = c->value[OPT_OUTPUT];
    char folder[4096], input[4200], made[4200], *real;
    c->value[OPT_OUTPUT] = NULL; /* The linker writes this file. */
    if (!output_allowed(c, program)) return;
    real = realpath(program, NULL); /* A link stays a link. */
    const char *target = real ? real : program;
    int n = snprintf(folder, sizeof folder, "%s.XXXXXX", target);
    linker_interrupted = 0;
    sigaction(SIGINT, &stop, &before);
    if (n < 0 || (size_t)n >= sizeof folder || !mkdtemp(folder)) {
        compile_fail(c, program, "cannot be written: ", strerror(errno));
    } else {
        snprintf(input, sizeof input, "%s/penta.o", folder);
        snprintf(made, sizeof made, "%s/program", folder);
        bool ok = write_object(c, input, object) && run_cc(c, input, made, program);
        if (ok && rename(made, target))
            ok = compile_fail(c, program, "cannot be written: ", strerror(errno));
        if (ok && c->value[OPT_JSON]) json_text(&c->json, "output", program);
        unlink(input);
        unlink(made);
        rmdir(folder);
    }
    sigaction(SIGINT, &before, NULL);
    free(real);
}

struct listing {
    struct writer out, code; /* `code` has the bytes of the current rows. */
    uint64_t at;             /* the offset of those bytes in their section */
};

static void compile_flush(struct listing *l)
{
    const uint8_t *code = l->code.out.data;
    char text[128];
    for (size_t at = 0, size; at < l->code.out.size; at += size) {
        size = native_text(code + at, l->code.out.size - at, l->at + at, text, sizeof text);
        for (size_t i = 0; i < size; i++)
            writer_print(&l->out, i ? ",0x%02x" : "\t.byte 0x%02x", code[at + i]);
        writer_print(&l->out, *text ? "\t# %s\n" : "\n", text);
    }
    l->at += l->code.out.size;
    l->code.out.size = 0;
}

static void take_bytes(struct listing *l, const char *line, const char *end)
{
    for (const char *p = line; p + 4 <= end; p++)
        if (p[0] == '0' && p[1] == 'x') writer_uint(&l->code, strtoul(p, NULL, 16), 1);
}

/* Splits the rows of bytes in .text, so that each instruction has a row of its own. */
static void comment_code(struct cli *c, penta_bytes text)
{
    static const char row[] = "\t.byte ", section[] = "\t.section ", own[] = "\t.section .text,";
    struct listing l = {.at = 0};
    const char *line = (const char *)text.data, *last = line + text.size;
    bool code = false;
    while (line < last) {
        const char *end = memchr(line, '\n', (size_t)(last - line));
        end = end ? end + 1 : last;
        if (code && !strncmp(line, row, sizeof row - 1)) {
            take_bytes(&l, line, end);
        } else {
            compile_flush(&l);
            if (!strncmp(line, section, sizeof section - 1))
                code = !strncmp(line, own, sizeof own - 1);
            writer_bytes(&l.out, line, (size_t)(end - line));
        }
        line = end;
    }
    compile_flush(&l);
    c->out.failed |= l.out.failed | l.code.failed;
    cli_text(c, writer_view(&l.out));
    writer_free(&l.out);
    writer_free(&l.code);
}

static void compile_native(struct cli *c, struct input *in, bool is_text)
{
    size_t count = 0;
    penta_option *options = options_for(c, "coil", OPTION_CREATE, &count);
    const char *name = c->value[OPT_OUTPUT], *emit = NULL;
    penta_option own[2];
    penta_buffer out = {0};
    penta_error err = {0};
    for (size_t i = 0; i < count; i++)
        if (!strcmp(options[i].key, "emit")) emit = options[i].value;
    if (!emit && name && ends_with(name, ".s")) emit = "asm";
    if (emit) own[0] = (penta_option){"emit", emit};
    bool program = !emit && name && strcmp(name, "-") && !ends_with(name, ".o");
    if (is_text)
        in->module = assemble_input(c, in, "coil");
    else
        in->module = penta_open(input_bytes(in), in->bytes.size ? "coil" : NULL, NULL, 0, &err);
    if (!in->module && is_text) {
        free(options);
        return;
    }
    if (deadline_reported(c, in->name)) {
    } else if (!in->module ||
               !penta_coil_compile(in->module, own, emit ? 1 : 0, deadline_flag(), &out, &err)) {
        if (!deadline_reported(c, in->name)) cli_error(c, in->name, &err);
    } else if (program)
        link_program(c, (penta_bytes){out.data, out.size});
    else if (emit && !strcmp(emit, "asm"))
        comment_code(c, (penta_bytes){out.data, out.size});
    else
        cli_bytes(c, (penta_bytes){out.data, out.size});
    penta_buffer_free(&out);
    free(options);
}

/* Compiles a file. A file that is not a COIL object is a sketch, unless its name or --format
 * says otherwise. */
void command_COMPILE(struct cli *c)
{
    struct input in;
    penta_guess guess;
    const char *name = c->words[0], *named = c->value[OPT_FORMAT],
               *text = named ? NULL : format_of_suffix(name);
    if (!deadline_begin(c, linker_stop)) return;
    if (!input_read(c, name, &in)) {
        deadline_end();
        return;
    }
    bool known = penta_detect(input_bytes(&in), &guess, 1),
         coil = known && !strcmp(guess.format, "coil"),
         other = known && !coil && !named && memchr(in.bytes.data, 0, in.bytes.size),
         is_text = !coil && text && !strcmp(text, "coil");
    penta_error err = {0};
    if (!in.bytes.size) /* An empty file comes from a step that failed before; it is neither a
                         * sketch nor an object. */
        error_at(&err, BASE_UNKNOWN_FORMAT, 0, "the file is empty");
    else if (other)
        error_at(&err, BASE_UNSUPPORTED, 0, "penta compile is not for %s files", guess.format);
    if (other) error_note(&err, "it is for sketches and for coil");
    if (err.code)
        cli_error(c, in.name, &err);
    else if (coil || is_text || ends_with(name, ".coil") || (named && !strcmp(named, "coil")))
        compile_native(c, &in, is_text);
    else
        format_compile(c, &in);
    deadline_end();
    input_close(&in);
}
