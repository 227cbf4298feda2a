/* The list of sources of a batch: files, folders, lists of names, and members of archives, one
 * after the other, in an order that depends on the names alone. */
#pragma once
#include "base/error.h"

enum source_kind {
    SOURCE_FILE,   /* a file by its name */
    SOURCE_MEMBER, /* the bytes of a member of an archive */
    SOURCE_BROKEN, /* nothing can be read under this name; `error` says why */
};
enum { SOURCE_MEMBER_MARK = '!' }; /* between the name of an archive and that of a member */

struct source {
    enum source_kind kind;
    uint64_t position; /* in the whole list, from 0, whatever the shard is */
    const char *name;  /* borrowed until the next call */
    penta_bytes bytes; /* of a member; borrowed until the next call */
    penta_error error; /* of SOURCE_BROKEN */
};

struct source_list {
    const char *const *words; /* files, folders and archives */
    size_t word_count;
    const char *from;  /* a file of names, or NULL: a name on each line, or ended by NUL bytes */
    const char *shard; /* "K/N", or NULL: everything */
    const char *
        results; /* files that begin with this name are no sources where a folder has them; or NULL */
    bool exact;      /* words are sources as they were given before: nothing is opened into more */
    bool names_only; /* the bytes of members are not wanted */
    uint64_t first;  /* exact: the number of the first word */
    bool whole_archives;   /* an archive is one source: it is not opened */
    uint64_t member_bytes; /* largest member of an archive that is read */
};

struct sources;
struct sources *sources_open(const struct source_list *list, penta_error *err);
void sources_close(struct sources *s);
/* Gives the next source of the shard. False at the end of the list, or when memory ran out: then
 * err says so. */
bool sources_next(struct sources *s, struct source *out, penta_error *err);
/* Which part of the list has been read, 0 to 1, if all files, folders and archives in it were alike. */
double sources_part(const struct sources *s);
/* How many sources the list has had so far, those of other shards included. */
uint64_t sources_seen(const struct sources *s);
