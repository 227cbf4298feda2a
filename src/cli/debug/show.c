/* Implements the commands that show values: expressions, memory, registers, variables, frames. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/sanitize.h"
#include "cli/debug/shell.h"

static void print_value(struct shell *s, const penta_value *v, unsigned base)
{
    penta_buffer text = {0};
    if (penta_value_text(v, base, &text)) writer_bytes(&s->cli->out, text.data, text.size);
    penta_buffer_free(&text);
}

void do_print(struct shell *s, const char *rest)
{
    struct writer *out = &s->cli->out;
    unsigned base = 0;
    penta_value value;
    penta_error err;
    penta_buffer text = {0};
    if (rest[0] == '/' && (rest[1] == 'x' || rest[1] == 'd') && isspace((unsigned char)rest[2])) {
        base = rest[1] == 'x' ? 16 : 10;
        for (rest += 2; isspace((unsigned char)*rest);) rest++;
    }
    if (penta_vm_eval(shell_vm(s), rest, &value, &err)) {
        print_value(s, &value, base);
        writer_char(out, '\n');
    } else if (*rest == '/' && penta_vm_value(shell_vm(s), rest, &text)) {
        writer_safe(out, (penta_bytes){text.data, text.size});
        writer_char(out, '\n');
    } else {
        shell_error(s, &err);
    }
    penta_buffer_free(&text);
}

void do_set(struct shell *s, const char *rest)
{
    char *what = strdup(rest), *equal = what ? strchr(what, '=') : NULL;
    penta_value value;
    penta_error err = {0};
    if (!equal) {
        writer_text(&s->cli->out, "set WHAT = EXPR\n");
    } else {
        char *end = equal;
        while (end > what && isspace((unsigned char)end[-1])) end--;
        *end = 0;
        if (!penta_vm_eval(shell_vm(s), equal + 1, &value, &err) ||
            !penta_debugger_set(s->debugger, what, &value, &err))
            shell_error(s, &err);
    }
    free(what);
}

struct form { /* How the command x shows memory, as in x/8xg. */
    uint64_t count;
    char letter;
    unsigned bytes;
};

static bool read_form(const char **rest, struct form *f)
{
    *f = (struct form){1, 'x', 4};
    if (**rest != '/') return true;
    const char *at = *rest + 1;
    char *end;
    if (isdigit((unsigned char)*at)) {
        f->count = strtoull(at, &end, 10);
        at = end;
    }
    for (; *at && !isspace((unsigned char)*at); at++) {
        if (strchr("xduc", *at))
            f->letter = *at;
        else if (strchr("bhwg", *at))
            f->bytes = 1u << (unsigned)(strchr("bhwg", *at) - "bhwg");
        else
            return false;
    }
    if (f->letter == 'c') f->bytes = 1;
    while (isspace((unsigned char)*at)) at++;
    *rest = at;
    return true;
}

static bool print_item(struct shell *s, const struct form *f, uint64_t address)
{
    struct writer *out = &s->cli->out;
    char expression[48];
    penta_value value;
    penta_error err;
    snprintf(expression, sizeof expression, "%c%u[%" PRIu64 "]", f->letter == 'd' ? 'i' : 'u',
             8 * f->bytes, address);
    if (!penta_vm_eval(shell_vm(s), expression, &value, &err)) {
        writer_print(out, " nothing is mapped at 0x%" PRIx64, address);
        return false;
    }
    writer_char(out, ' ');
    if (f->letter == 'x')
        writer_print(out, "0x%0*" PRIx64, (int)(2 * f->bytes), value.as.u);
    else if (f->letter == 'c')
        writer_char(out, value.as.u >= 0x20 && value.as.u < 0x7f ? (char)value.as.u : '.');
    else
        print_value(s, &value, 10);
    return true;
}

void do_x(struct shell *s, const char *rest)
{
    enum { MOST = 4096 };
    struct writer *out = &s->cli->out;
    struct form f;
    uint64_t address = 0;
    if (!read_form(&rest, &f) || !*rest) {
        writer_text(out, "x/NFS EXPR: N items of form x d u c and size b h w g\n");
        return;
    }
    if (!shell_number(s, rest, &address)) return;
    uint64_t row = f.bytes == 8 ? 2 : f.bytes == 1 ? 16 : 4;
    if (f.count > MOST) f.count = MOST;
    for (uint64_t i = 0; i < f.count; i++, address += f.bytes) {
        if (i % row == 0) writer_print(out, "%s0x%" PRIx64 ":", i ? "\n" : "", address);
        if (!print_item(s, &f, address)) break;
    }
    writer_char(out, '\n');
}

void do_memory(struct shell *s, const char *rest)
{
    struct writer *out = &s->cli->out;
    char *text = strdup(rest), *length = text ? strchr(text, ' ') : NULL;
    uint64_t address = 0, size = 64;
    if (length) *length++ = 0;
    if (text && shell_number(s, text, &address) && (!length || shell_number(s, length, &size))) {
        if (size > 65536) size = 65536;
        for (uint64_t at = 0; at < size; at += 16) {
            uint8_t row[16];
            size_t n = size - at < 16 ? (size_t)(size - at) : 16;
            while (n && !penta_vm_peek(shell_vm(s), address + at, row, n)) n--;
            if (!n) {
                writer_print(out, "nothing is mapped at 0x%" PRIx64 "\n", address + at);
                break;
            }
            writer_print(out, "%012" PRIx64 " ", address + at);
            for (size_t i = 0; i < n; i++) writer_print(out, " %02x", row[i]);
            writer_print(out, "%*s  ", (int)(16 - n) * 3, "");
            for (size_t i = 0; i < n; i++)
                writer_char(out, row[i] >= 0x20 && row[i] < 0x7f ? (char)row[i] : '.');
            writer_char(out, '\n');
        }
    }
    free(text);
}

static void keep_register(void *user, const penta_variable *v)
{
    struct shell *s = user;
    if (v->scope != PENTA_VARIABLE_REGISTER || s->registers.count == REGISTERS_KEPT) return;
    s->registers.now[s->registers.count++] = v->value.as.u;
}

void registers_moved(struct shell *s)
{
    memcpy(s->registers.before, s->registers.now, sizeof s->registers.now);
    s->registers.count = 0;
    penta_vm_variables(shell_vm(s), 0, keep_register, s);
}

struct listing {
    struct shell *shell;
    bool registers; /* Registers are shown when it is set, everything else when not. */
    size_t at, shown;
};

static void list_element(void *user, const penta_child *c)
{
    struct shell *s = user;
    penta_value value = {.kind = c->value.kind, .as.u = c->value.as.u};
    if (value.kind == PENTA_FLOAT) value.as.f = c->value.as.f;
    writer_char(&s->cli->out, ' ');
    print_value(s, &value, 0);
}

/* Shows the elements of an array. The variable itself is only the first element. */
static void list_elements(struct shell *s, const penta_variable *v)
{
    enum { MOST = 32 };
    penta_error err;
    writer_text(&s->cli->out, "  of");
    penta_vm_elements(shell_vm(s), v, 0, MOST, list_element, s, &err);
    if (v->elements > MOST) writer_print(&s->cli->out, " .. %" PRIu64 " more", v->elements - MOST);
}

static void list_variable(void *user, const penta_variable *v)
{
    struct listing *l = user;
    struct shell *s = l->shell;
    struct writer *out = &s->cli->out;
    const struct palette *p = shell_palette(s);
    bool is_register = v->scope == PENTA_VARIABLE_REGISTER, changed = false;
    if (is_register && l->at < REGISTERS_KEPT) {
        changed = s->registers.before[l->at] != s->registers.now[l->at];
        l->at++;
    }
    if (is_register != l->registers) return;
    l->shown++;
    writer_print(out, "%c %s", changed ? '*' : ' ', changed ? p->warning : p->name);
    writer_safe_text(out, v->value.name);
    writer_print(out, "%s%*s ", p->off,
                 (int)(strlen(v->value.name) < 10 ? 10 - strlen(v->value.name) : 0), "");
    if (v->value.kind == PENTA_TEXT) {
        writer_safe(out, v->value.as.bytes);
    } else if (v->value.kind == PENTA_RAW) {
        writer_hex(out, v->value.as.bytes);
    } else {
        penta_value value = {.kind = v->value.kind, .as.u = v->value.as.u};
        print_value(s, &value, 0);
    }
    if (v->value.note) {
        writer_text(out, "  ");
        writer_safe_text(out, v->value.note);
    }
    if (v->in_memory) writer_print(out, "  at 0x%" PRIx64, v->address);
    if (v->elements) list_elements(s, v);
    if (v->scope == PENTA_VARIABLE_GLOBAL) writer_text(out, "  global");
    writer_char(out, '\n');
}

static void list_variables(struct shell *s, bool registers)
{
    struct listing l = {.shell = s, .registers = registers};
    penta_vm_variables(shell_vm(s), 0, list_variable, &l);
    if (l.shown) return;
    writer_text(&s->cli->out,
                registers
                    ? "this machine has no registers; the command registers shows its state\n"
                    : "no variables are known here: none is in scope, or there is no table\n");
}

void do_registers(struct shell *s, const char *rest)
{
    (void)rest;
    state_print(s->cli, shell_vm(s));
}

static void print_place(struct shell *s, uint64_t pc)
{
    struct writer *out = &s->cli->out;
    penta_buffer name = {0};
    penta_line line;
    if (penta_name_at(s->machine.in.module, pc, &name)) {
        writer_text(out, " in ");
        writer_safe(out, (penta_bytes){name.data, name.size});
    }
    if (penta_line_at(s->machine.in.module, pc, &line)) {
        writer_text(out, "  ");
        writer_safe(out, line.file);
        writer_print(out, ":%" PRIu64, line.line);
    }
    penta_buffer_free(&name);
}

void do_backtrace(struct shell *s, const char *rest)
{
    enum { MOST = 64 };
    penta_frame frames[MOST];
    size_t count = penta_vm_frames(shell_vm(s), frames, MOST);
    (void)rest;
    for (size_t i = 0; i < count && i < MOST; i++) {
        writer_print(&s->cli->out, "#%zu  pc %" PRIu64, i, frames[i].pc);
        print_place(s, frames[i].pc);
        writer_char(&s->cli->out, '\n');
    }
    if (count > MOST) writer_print(&s->cli->out, "and %zu more\n", count - MOST);
}

void do_where(struct shell *s, const char *rest)
{
    (void)rest;
    shell_where(s);
}

void do_list(struct shell *s, const char *rest)
{
    struct writer *out = &s->cli->out;
    const struct palette *p = shell_palette(s);
    uint64_t pc = s->stop.pc;
    struct writer text = {0};
    penta_error err = {0};
    if (*rest && !penta_find_code(s->machine.in.module, rest, &pc, &err)) {
        shell_error(s, &err);
        return;
    }
    for (int shown = 0; shown < 10 && shell_insn(s, pc, &text); shown++) {
        bool here = pc == s->stop.pc;
        writer_print(out, "%s%c%s %6" PRIu64 "  ", here ? p->warning : "", here ? '>' : ' ',
                     here ? p->off : "", pc);
        writer_bytes(out, text.out.data, text.out.size);
        writer_char(out, '\n');
        text.out.size = 0;
        if (!penta_next_pc(s->machine.in.module, pc, &pc)) break;
    }
    writer_free(&text);
}

struct function_list {
    struct shell *shell;
    size_t count;
};

static void list_function(void *user, const penta_part *part)
{
    struct function_list *l = user;
    struct writer *out = &l->shell->cli->out;
    if (part->kind != PENTA_PART_FUNCTION && part->kind != PENTA_PART_LABEL) return;
    l->count++;
    writer_print(out, "%8" PRIu64 "  ", part->from);
    writer_safe(out, part->name);
    writer_char(out, '\n');
}

static void info_hosts(struct shell *s)
{
    const penta_session *session = s->machine.session;
    uint64_t calls = penta_session_calls(session);
    writer_print(&s->cli->out, "%" PRIu64 " host call%s answered\n", calls,
                 calls == 1 ? " was" : "s were");
    if (s->stop.kind != PENTA_STOP_HOST) return;
    const char *name = penta_vm_detail_name(shell_vm(s), &s->stop);
    writer_text(&s->cli->out, "one waits: ");
    writer_safe_text(&s->cli->out, name ? name : "unnamed");
    writer_print(&s->cli->out, " (number %u), answer gives it an answer\n", s->stop.detail);
}

static void info_functions(struct shell *s)
{
    struct function_list l = {.shell = s};
    penta_parts(s->machine.in.module, list_function, &l);
    if (!l.count) writer_text(&s->cli->out, "this program names no functions or labels\n");
}

void do_info(struct shell *s, const char *rest)
{
    size_t n = strlen(rest);
    penta_line line;
    if (n && !strncmp("locals", rest, n))
        list_variables(s, false);
    else if (n && !strncmp("registers", rest, n))
        list_variables(s, true);
    else if (n && (!strncmp("frames", rest, n) || !strncmp("stack", rest, n)))
        do_backtrace(s, "");
    else if (n && (!strncmp("breaks", rest, n) || !strcmp("breakpoints", rest)))
        point_list(s, true, true);
    else if (n && !strncmp("hosts", rest, n))
        info_hosts(s);
    else if (n && !strncmp("functions", rest, n))
        info_functions(s);
    else if (n && !strncmp("source", rest, n) &&
             !penta_line_at(s->machine.in.module, s->stop.pc, &line))
        writer_text(&s->cli->out, "this instruction has no source line\n");
    else if (n && !strncmp("source", rest, n))
        show_source(s);
    else
        writer_text(&s->cli->out, "info locals|registers|frames|breaks|hosts|source|functions\n");
}
