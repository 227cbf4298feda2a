/* Implements the command explore: the explorer for browsers with a file in it, as one page,
 * written or served. `make web` makes the page itself; a block with the file is put into it
 * here. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file/file.h"
#include "cli/cli.h"
#include "cli/formats.h"
#include "cli/explore/block.h"
#include "cli/explore/http.h"

extern char **environ;

/* The place for the file in the page. scripts/web-page writes it. */
static const char place[] = "<!-- penta:file -->";

/* Finds the page in the data of the installation, else in the tree in which the tool was built. */
static bool read_page(penta_buffer *page, penta_error *err)
{
    static const char *const folders[] = {PENTA_DATA_FOLDER, "../share/penta", "../.."};
    enum { LARGEST = 64 << 20 };
    char own[4096], path[8192];
    ssize_t size = readlink("/proc/self/exe", own, sizeof own - 1);
    own[size > 0 ? size : 0] = 0;
    char *slash = strrchr(own, '/');
    for (size_t i = 0; slash && i < sizeof folders / sizeof *folders; i++) {
        int n = snprintf(path, sizeof path, "%.*s/%s/web/penta.html", (int)(slash - own), own,
                         folders[i]);
        if (n > 0 && (size_t)n < sizeof path && !access(path, R_OK))
            return file_read(path, LARGEST, page, err);
    }
    error_at(err, BASE_IO, 0, "the explorer's page is not there");
    return error_note(err,
                      "one command is missing: make web (of an installed tool: make web install)");
}

/* Writes the explorer's page to `out`, with `block` instead of the comment that marks the place
 * for a file. */
static bool make_page(penta_bytes block, struct writer *out, penta_error *err)
{
    penta_buffer page = {0};
    if (!read_page(&page, err)) return false;
    const uint8_t *at = memmem(page.data, page.size, place, sizeof place - 1);
    if (at) {
        size_t before = (size_t)(at - page.data), after = before + sizeof place - 1;
        writer_bytes(out, page.data, before);
        writer_bytes(out, block.data, block.size);
        writer_bytes(out, page.data + after, page.size - after);
    } else {
        error_at(err, BASE_IO, 0, "the explorer's page has no place for a file");
        error_note(err, "it belongs to another version of the tool; make web (make web install) "
                        "builds it anew");
    }
    penta_buffer_free(&page);
    return at && writer_ok(out, err);
}

/* Starts the browser if the system has a desktop, and does not wait for it. */
static void open_browser(const char *url)
{
    const char *arguments[] = {"xdg-open", url, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY")) return;
    if (posix_spawn_file_actions_init(&actions)) return;
    for (int fd = 0; fd < 3; fd++)
        posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", fd ? O_WRONLY : O_RDONLY, 0);
    posix_spawnp(&child, "xdg-open", &actions, NULL, (char *const *)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
}

static bool explore_serve(struct cli *c, penta_bytes page, penta_error *err)
{
    struct server s;
    char url[160];
    if (!server_open(&s, "0", err)) return false;
    snprintf(url, sizeof url, "http://%s/%s/", s.address, s.token);
    writer_print(&c->out, "%s\n", url);
    cli_flush(c);
    if (!c->value[OPT_NO_OPEN]) open_browser(url);
    bool ok = http_serve(&s, page, c->value[OPT_ONCE] != NULL, err);
    server_close(&s);
    return ok;
}

static void explore_serve_file(struct cli *c, const struct input *in, const struct input *other)
{
    struct writer block = {0}, page = {0};
    penta_error err = {0};
    if (block_write(c, in, other, &block)) {
        bool ok = writer_ok(&block, &err) && make_page(writer_view(&block), &page, &err);
        if (ok && c->value[OPT_JSON]) json_text(&c->json, "file", in->name);
        if (ok && c->value[OPT_OUTPUT])
            cli_text(c, writer_view(&page));
        else if (ok)
            ok = explore_serve(c, writer_view(&page), &err);
        if (!ok) cli_error(c, NULL, &err);
    }
    writer_free(&block);
    writer_free(&page);
}

void command_EXPLORE(struct cli *c)
{
    struct input in, other;
    bool two = c->word_count == 2;
    if (c->value[OPT_JSON] && !c->value[OPT_OUTPUT]) {
        cli_usage(c, NULL, "--json needs -o: a server has no document");
        return;
    }
    if (c->word_count > 2) {
        cli_usage(c, NULL, "penta explore takes a file, or two to compare");
        return;
    }
    if (!input_read(c, c->words[0], &in)) return;
    bool ok = format_accepts_file(c, &in);
    if (ok && !two) {
        explore_serve_file(c, &in, NULL);
    } else if (ok && input_read(c, c->words[1], &other)) {
        if (format_accepts_file(c, &other)) explore_serve_file(c, &in, &other);
        input_close(&other);
    }
    input_close(&in);
}
