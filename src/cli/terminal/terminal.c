/* Writes everything that reaches standard output and standard error: makes control sequences
 * harmless, cuts long text on a terminal, and keeps the progress line out of other text. */
#include "cli/terminal/terminal.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/sanitize.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/wrap.h"

static bool asked_for(const char *variable) /* tells whether a variable is set, and not to 0 */
{
    const char *value = getenv(variable);
    return value && *value && strcmp(value, "0");
}

static bool terminal_colour(const struct cli *c, int fd)
{
    if (cli_is(c, OPT_COLOR, "always")) return true;
    if (cli_is(c, OPT_COLOR, "never")) return false;
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if (!(no && *no) && (asked_for("FORCE_COLOR") || asked_for("CLICOLOR_FORCE"))) return true;
    return !(no && *no) && !(term && !strcmp(term, "dumb")) && isatty(fd);
}

void terminal_open(struct cli *c)
{
    uint64_t secret = 0;
    if (getentropy(&secret, sizeof secret)) secret = (uintptr_t)c ^ (uint64_t)time(NULL);
    snprintf(c->mark, sizeof c->mark, "%016llx", (unsigned long long)secret);
    palette_marked(&c->palette, c->mark);
}

const struct palette *cli_palette_of(const struct cli *c, int fd)
{
    return terminal_colour(c, fd) ? &c->palette.palette : &palette_plain;
}

size_t cli_colors(const struct cli *c, penta_option *option)
{
    if (!*cli_palette(c)->off) return 0;
    *option = (penta_option){"colors", c->mark};
    return 1;
}

const struct palette *cli_palette(const struct cli *c)
{
    return c->out_is_file ? &palette_plain : cli_palette_of(c, STDOUT_FILENO);
}

static const char *mark_of(const struct cli *c, int fd)
{
    return terminal_colour(c, fd) ? c->mark : NULL;
}

static size_t terminal_columns(int fd)
{
    enum { UNKNOWN_WIDTH = 80 };
    struct winsize size;
    if (!isatty(fd)) return 0;
    return ioctl(fd, TIOCGWINSZ, &size) || !size.ws_col ? UNKNOWN_WIDTH : size.ws_col;
}

size_t wrap_width(const struct cli *c)
{
    bool elsewhere = c->out_is_file || c->value[OPT_JSON] || c->captured;
    return elsewhere ? 0 : terminal_columns(STDOUT_FILENO);
}

size_t wrap_width_of_errors(const struct cli *c)
{
    return c->captured ? 0 : terminal_columns(STDERR_FILENO);
}

static bool in_line(int fd, penta_bytes text)
{
    return isatty(fd) && text.data[text.size - 1] != '\n';
}

static bool write_whole_text(int fd, penta_bytes text)
{
    while (text.size) {
        ssize_t n = write(fd, text.data, text.size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        text.data += n;
        text.size -= (size_t)n;
    }
    return true;
}

static void write_stderr(const struct cli *c, penta_bytes text)
{
    if (!text.size || c->captured) return;
    progress_hold(c);
    write_whole_text(STDERR_FILENO, text);
    progress_release(c, in_line(STDERR_FILENO, text));
}

/* Writes to standard output. A closed pipe is no error, because its reader has seen enough. */
static void write_stdout(const struct cli *c, penta_bytes text)
{
    if (!text.size || c->captured) return;
    progress_hold(c);
    bool ok = write_whole_text(STDOUT_FILENO, text);
    int error = errno;
    progress_release(c, in_line(STDOUT_FILENO, text));
    if (ok) return;
    if (error == EPIPE) _exit(EXIT_YES);
    terminal_say(c, "cannot write standard output: %s", strerror(error));
    _exit(EXIT_IO);
}

void cli_stderr(const struct cli *c, penta_bytes text)
{
    struct writer safe = {0};
    writer_safe_lines(&safe, text, mark_of(c, STDERR_FILENO));
    write_stderr(c, writer_view(&safe));
    writer_free(&safe);
}

void terminal_say(const struct cli *c, const char *format, ...)
{
    char line[400];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    struct writer safe = {0}, text = {0};
    writer_text(&safe, "penta: ");
    writer_safe_text(&safe, line);
    wrap_paragraphs(&text, writer_view(&safe), 0, wrap_width_of_errors(c));
    write_stderr(c, writer_view(&text));
    writer_free(&safe);
    writer_free(&text);
}

void terminal_bound(struct cli *c)
{
    c->bounded = (tool_options[OPT_ALL].commands >> c->command & 1) && !c->value[OPT_ALL] &&
                 !c->value[OPT_JSON] && !c->out_is_file && isatty(STDOUT_FILENO);
}

/* Returns how much of a text a terminal still gets. The rest is only counted. */
static penta_bytes terminal_readable(struct cli *c, penta_bytes piece)
{
    enum { BYTES = 1 << 18 }; /* Long lines also fill a screen, so bytes are counted as well. */
    size_t n = 0;
    for (; n < piece.size && c->lines < SCREEN_LINES && c->bytes < BYTES; n++, c->bytes++)
        c->lines += piece.data[n] == '\n';
    if (n == piece.size) return piece;
    for (size_t i = n; i < piece.size; i++) c->hidden += piece.data[i] == '\n';
    /* A colour sequence is not cut in two. */
    for (size_t k = 1; k <= n && k < sizeof c->palette.text[0]; k++)
        if (piece.data[n - k] == 0x1b) {
            n -= k;
            break;
        }
    c->in_line = n && piece.data[n - 1] != '\n';
    return bytes_slice(piece, 0, n);
}

/* Writes text. Every text of the tool passes writer_safe_lines here; the quoting of documents
 * makes them safe. What the program has printed before is written first. */
void terminal_text(void *user, penta_bytes piece)
{
    struct cli *c = user;
    const char *mark = mark_of(c, STDOUT_FILENO);
    writer_flush(&c->program_output);
    if (c->bounded) piece = terminal_readable(c, piece);
    if (c->out_is_binary || c->value[OPT_JSON] || is_safe_lines(piece)) {
        write_stdout(c, piece);
        return;
    }
    struct writer safe = {0};
    writer_safe_lines(&safe, piece, mark);
    write_stdout(c, writer_view(&safe));
    writer_free(&safe);
}

static void program_to_stdout(void *user, penta_bytes piece) { write_stdout(user, piece); }

/* Returns how many bytes at the end belong to a character that is not complete yet. */
static size_t terminal_unfinished(penta_bytes text)
{
    for (size_t n = 1; n <= 3 && n <= text.size; n++) {
        uint8_t first = text.data[text.size - n];
        if (first >= 0xc0) return (first >= 0xf0 ? 4u : first >= 0xe0 ? 3u : 2u) > n ? n : 0;
        if (first < 0x80) return 0;
    }
    return 0;
}

/* Appends to `out` what may be shown of the text and of the bytes that were held back before. */
static void filter_program(struct writer *held, penta_bytes text, bool last, struct writer *out)
{
    writer_bytes(held, text.data, text.size);
    penta_bytes all = writer_view(held);
    size_t keep = last ? 0 : terminal_unfinished(all);
    writer_safe_lines(out, bytes_slice(all, 0, all.size - keep), NULL);
    if (keep) memmove(held->out.data, all.data + all.size - keep, keep);
    held->out.size = keep;
}

static bool terminal_filtered(const struct cli *c, int fd)
{
    return !c->value[OPT_RAW_OUTPUT] && isatty(fd);
}

void cli_program_output(struct cli *c, penta_bytes text)
{
    writer_flush(&c->out);
    c->program_output.sink = program_to_stdout;
    c->program_output.user = c;
    if (terminal_filtered(c, STDOUT_FILENO))
        filter_program(&c->held[0], text, false, &c->program_output);
    else
        writer_bytes(&c->program_output, text.data, text.size);
}

void cli_program_errors(struct cli *c, penta_bytes text)
{
    struct writer safe = {0};
    if (terminal_filtered(c, STDERR_FILENO)) {
        filter_program(&c->held[1], text, false, &safe);
        text = writer_view(&safe);
    }
    write_stderr(c, text);
    writer_free(&safe);
}

bool cli_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *locale = NULL;
    for (size_t i = 0; i < 3 && !(locale && *locale); i++) locale = getenv(names[i]);
    return locale && (strcasestr(locale, "utf-8") || strcasestr(locale, "utf8"));
}

void cli_flush(struct cli *c)
{
    writer_flush(&c->program_output);
    writer_flush(&c->out);
}

void cli_unbound(struct cli *c)
{
    writer_flush(&c->out);
    c->bounded = false;
    if (!c->hidden) return;
    if (mark_of(c, STDOUT_FILENO)) write_stdout(c, bytes_of("\033[0m"));
    if (c->in_line) write_stdout(c, bytes_of("\n"));
    terminal_say(c, "%llu more lines: --all shows them, and so does a pipe",
                 (unsigned long long)c->hidden);
    c->hidden = 0;
}

void terminal_last_words(bool is_result, const char *text, size_t size, int exit)
{
    bool written = write(is_result ? STDOUT_FILENO : STDERR_FILENO, text, size) >= 0;
    _exit(written ? exit : EXIT_IO);
}

bool terminal_give_up(int *in, int *out)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    *in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    *out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    bool ok = nothing >= 0 && *in >= 0 && *out >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
              dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
    if (nothing >= 0) close(nothing);
    return ok;
}

void terminal_take_back(int in, int out)
{
    if (in >= 0) dup2(in, STDIN_FILENO);
    if (out >= 0) dup2(out, STDOUT_FILENO);
    if (in >= 0) close(in);
    if (out >= 0) close(out);
}

void terminal_ended(struct cli *c)
{
    struct writer rest = {0};
    filter_program(&c->held[0], (penta_bytes){0}, true, &c->program_output);
    filter_program(&c->held[1], (penta_bytes){0}, true, &rest);
    writer_flush(&c->program_output);
    write_stderr(c, writer_view(&rest));
    writer_free(&rest);
    writer_free(&c->program_output);
    for (int i = 0; i < 2; i++) writer_free(&c->held[i]);
    cli_unbound(c);
}
