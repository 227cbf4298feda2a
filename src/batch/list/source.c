/* Reads the list of sources as it is needed. Memory holds only the names in folders that are
 * open, and the text of the list of names. */
#include "batch/list/source.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/array.h"
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/writer.h"
#include "batch/list/archive.h"
#include "batch/list/folder.h"
#include "batch/list/shard.h"

struct sources {
    struct source_list list;
    struct shard shard;
    size_t word;        /* index of the next word */
    penta_buffer names; /* the list of names, with a 0 at its end */
    size_t at;          /* offset of the next name in `names` */
    char separator;
    bool sized; /* Each name of the list has its size before it. */
    struct folder_walk *folder;
    struct archive_reader *archive;
    char *archive_path;
    struct writer name; /* name of the source that was given last */
    uint64_t position;
};

/* Skips a size before a name, as in "123<TAB>name", which find -printf '%s\t%p\n' prints. */
static const char *source_size_skip(const char *entry, uint64_t *size)
{
    const char *p = entry;
    uint64_t value = 0;
    while (*p >= '0' && *p <= '9' && value < UINT64_MAX / 100)
        value = value * 10 + (uint64_t)(*p++ - '0');
    if (p == entry || *p != '\t' || !p[1]) return NULL;
    *size = value;
    return p + 1;
}

static bool sources_read_names(struct sources *s, const char *from, penta_error *err)
{
    const uint64_t limit = UINT64_C(1) << 33;
    bool ok = strcmp(from, "-")
                  ? file_read(from, limit, &s->names, err)
                  : file_read_fd(STDIN_FILENO, "standard input", limit, &s->names, err);
    if (!ok) return false;
    uint8_t *ended = realloc(s->names.data, s->names.size + 1);
    if (!ended) return error_at(err, BASE_MEMORY, 0, "no memory for the list of names");
    s->names.data = ended;
    ended[s->names.size] = 0;
    s->separator = s->names.size && memchr(ended, 0, s->names.size) ? 0 : '\n';
    uint64_t size;
    s->sized = source_size_skip((const char *)ended, &size) != NULL;
    return true;
}

struct sources *sources_open(const struct source_list *list, penta_error *err)
{
    struct sources *s = zeros_new(sizeof *s, "a list of sources", err);
    if (!s) return NULL;
    s->list = *list;
    if (shard_parse(list->shard, &s->shard, err) &&
        (!list->from || sources_read_names(s, list->from, err)))
        return s;
    sources_close(s);
    return NULL;
}

void sources_close(struct sources *s)
{
    if (!s) return;
    folder_close(s->folder);
    archive_reader_close(s->archive);
    shard_free(&s->shard);
    penta_buffer_free(&s->names);
    writer_free(&s->name);
    free(s->archive_path);
    free(s);
}

/* Returns the next name of the list, or NULL at its end. Empty lines are skipped. */
static const char *sources_listed(struct sources *s, bool *sized, uint64_t *size,
                                  penta_error *problem)
{
    while (s->at < s->names.size) {
        char *entry = (char *)s->names.data + s->at;
        char *end = memchr(entry, s->separator, s->names.size - s->at);
        size_t length = end ? (size_t)(end - entry) : s->names.size - s->at;
        s->at += length + 1;
        if (s->separator && end) *end = 0;
        if (!length) continue;
        *sized = s->sized;
        if (!s->sized) return entry;
        const char *name = source_size_skip(entry, size);
        if (name) return name;
        error_at(problem, BASE_SYNTAX, 0,
                 "this line of the list has no size, but the first line has one");
        return entry;
    }
    return NULL;
}

static bool source_name_set(struct sources *s, struct source *out, const char *first,
                            const char *second, penta_error *err)
{
    s->name.out.size = 0;
    writer_text(&s->name, first);
    if (second) writer_char(&s->name, SOURCE_MEMBER_MARK);
    if (second) writer_text(&s->name, second);
    writer_char(&s->name, 0);
    out->name = (const char *)s->name.out.data;
    return writer_ok(&s->name, err);
}

/* Gives a source its place in the list, and tells whether this shard has it. */
static bool source_placed(struct sources *s, struct source *out, bool sized, uint64_t size,
                          bool *mine, penta_error *err)
{
    out->position = s->position++;
    return shard_takes(&s->shard, out->position, sized || s->sized, size, mine, err);
}

static bool sources_from_archive(struct sources *s, struct source *out, bool *mine,
                                 penta_error *err)
{
    const char *member;
    uint64_t size;
    *out = (struct source){.kind = SOURCE_MEMBER};
    bool more = archive_member_next(s->archive, &member, &size, &out->error);
    if (more && !source_placed(s, out, s->sized, size, mine, err)) return false;
    if (more && !*mine) return true;
    if (more && !source_name_set(s, out, s->archive_path, member, err)) return false;
    if (more && s->list.names_only) return true;
    if (more && archive_member_read(s->archive, s->list.member_bytes, &out->bytes, &out->error))
        return true;
    if (more && out->error.code == BASE_LIMIT) {
        out->kind = SOURCE_BROKEN;
        return true;
    }
    /* The archive has ended or is damaged. After damage nothing more can be read, and a line of
     * its own reports it. */
    archive_reader_close(s->archive);
    s->archive = NULL;
    if (!out->error.code && !more) {
        *mine = false;
        return true;
    }
    out->kind = SOURCE_BROKEN;
    if (more) return true;
    return source_placed(s, out, false, 0, mine, err) &&
           source_name_set(s, out, s->archive_path, NULL, err);
}

/* Enters a word: a file becomes a source, a folder or an archive is opened. *mine stays false
 * when something was opened. */
static bool sources_enter(struct sources *s, const char *path, bool sized, uint64_t size,
                          bool may_be_folder, struct source *out, bool *mine, penta_error *err)
{
    struct stat st;
    *out = (struct source){.kind = SOURCE_FILE};
    if (may_be_folder && !stat(path, &st) && S_ISDIR(st.st_mode)) {
        s->folder = folder_open(path, err);
        return s->folder != NULL;
    }
    if (archive_named(path) && !s->list.whole_archives) {
        s->archive = archive_reader_open(path, &out->error);
        free(s->archive_path);
        s->archive_path = s->archive ? strdup(path) : NULL;
        if (s->archive && !s->archive_path)
            return error_at(err, BASE_MEMORY, 0, "no memory for a name");
        if (s->archive) return true;
        out->kind = SOURCE_BROKEN;
    }
    return source_placed(s, out, sized, size, mine, err) &&
           source_name_set(s, out, path, NULL, err);
}

static const char *sources_plain_path(const char *path)
{
    while (!strncmp(path, "./", 2)) path += 2;
    return path;
}

/* Tells whether a path is one of the results or of the files beside them, which the run itself
 * writes. */
static bool sources_are_results(const struct sources *s, const char *path)
{
    if (!s->list.results) return false;
    const char *results = sources_plain_path(s->list.results);
    size_t size = strlen(results);
    path = sources_plain_path(path);
    return !strncmp(path, results, size) && (!path[size] || path[size] == '.');
}

static bool sources_from_folder(struct sources *s, struct source *out, bool *mine, penta_error *err)
{
    const char *path;
    penta_error problem;
    *out = (struct source){0};
    if (!folder_next(s->folder, &path, &problem, err)) {
        folder_close(s->folder);
        s->folder = NULL;
        return !err->code;
    }
    if (sources_are_results(s, path)) return true;
    if (!problem.code) return sources_enter(s, path, false, 0, false, out, mine, err);
    out->kind = SOURCE_BROKEN;
    out->error = problem;
    return source_placed(s, out, false, 0, mine, err) && source_name_set(s, out, path, NULL, err);
}

/* Finds the member of an archive that has this name: the next such member, or else the first one
 * in the archive. */
static bool sources_find_member(struct sources *s, const char *member, struct source *out)
{
    const char *name;
    uint64_t size;
    for (int round = 0; round < 2 && !out->error.code; round++) {
        while (s->archive && archive_member_next(s->archive, &name, &size, &out->error))
            if (!strcmp(name, member))
                return archive_member_read(s->archive, s->list.member_bytes, &out->bytes,
                                           &out->error);
        archive_reader_close(s->archive);
        s->archive = NULL;
        if (!round && !out->error.code)
            s->archive = archive_reader_open(s->archive_path, &out->error);
    }
    return error_at(&out->error, BASE_IO, 0, "the archive has no member of this name");
}

/* Makes a source of a word as it is. "ARCHIVE!MEMBER" is read from the archive, which stays open
 * for the next word. */
static bool sources_exact(struct sources *s, const char *word, struct source *out, penta_error *err)
{
    const char *mark = strchr(word, SOURCE_MEMBER_MARK);
    *out = (struct source){.name = word, .position = s->list.first + s->position++};
    size_t size = mark ? (size_t)(mark - word) : 0;
    char *path = mark ? strndup(word, size) : NULL;
    if (mark && !path) return error_at(err, BASE_MEMORY, 0, "no memory for a name");
    if (!mark || !archive_named(path)) {
        free(path);
        return true;
    }
    if (s->archive_path && !strcmp(s->archive_path, path)) {
        free(path);
    } else {
        archive_reader_close(s->archive);
        s->archive = NULL;
        free(s->archive_path);
        s->archive_path = path;
    }
    out->kind = SOURCE_MEMBER;
    if (!sources_find_member(s, mark + 1, out)) out->kind = SOURCE_BROKEN;
    return true;
}

bool sources_next(struct sources *s, struct source *out, penta_error *err)
{
    if (s->list.exact)
        return s->word < s->list.word_count && sources_exact(s, s->list.words[s->word++], out, err);
    for (;;) {
        bool mine = false, sized = false, ok;
        uint64_t size = 0;
        penta_error problem = {0};
        const char *name;
        if (s->archive) {
            ok = sources_from_archive(s, out, &mine, err);
        } else if (s->folder) {
            ok = sources_from_folder(s, out, &mine, err);
        } else if (s->word < s->list.word_count) {
            ok = sources_enter(s, s->list.words[s->word++], false, 0, true, out, &mine, err);
        } else if ((name = sources_listed(s, &sized, &size, &problem))) {
            ok = sources_enter(s, name, sized, size, !sized, out, &mine, err);
            if (ok && problem.code && mine) {
                out->kind = SOURCE_BROKEN;
                out->error = problem;
            }
        } else {
            return false;
        }
        if (!ok) return false;
        if (mine) return true;
    }
}

double sources_part(const struct sources *s)
{
    double words = (double)s->list.word_count + (s->names.size ? 1 : 0), done = (double)s->word,
           inner = 1;
    if (s->names.size) done += (double)s->at / (double)s->names.size;
    if (s->archive) inner = archive_part(s->archive);
    if (s->folder) inner = folder_part(s->folder);
    /* An open word counts by the part of it that has been read. */
    if (inner < 1 && s->word && !s->at) done -= 1 - inner;
    return words > done && words > 0 ? done / words : 1;
}

uint64_t sources_seen(const struct sources *s) { return s->position; }
