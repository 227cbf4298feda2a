/* Declares the list of sources of a batch: files, folders, lists of names, and members of
 * archives, one after the other. The order depends only on the names. */
#pragma once
#include "base/error.h"

enum source_kind {
    SOURCE_FILE,   /* a file, given by its name */
    SOURCE_MEMBER, /* a member of an archive, given by its bytes */
    SOURCE_BROKEN, /* nothing can be read under this name, for the reason in `error` */
};
/* the character between the name of an archive and the name of a member */
enum { SOURCE_MEMBER_MARK = '!' };

struct source {
    enum source_kind kind;
    uint64_t position; /* place in the whole list, from 0, counting sources of all shards */
    const char *name;  /* borrowed until the next call */
    penta_bytes bytes; /* the bytes of a member, borrowed until the next call */
    penta_error error; /* the error of SOURCE_BROKEN */
};

struct source_list {
    const char *const *words; /* names of files, folders and archives */
    size_t word_count;
    const char *from;  /* a file with a name on each line, or with names that end in NUL bytes;
                        * or NULL */
    const char *shard; /* "K/N", or NULL for all sources */
    const char *
        results; /* A file in a folder is no source when its name begins with this name; or NULL. */
    bool exact;  /* The words are names of sources from an earlier list. No folder or archive
                      * is opened for all it has. */
    bool names_only;       /* The bytes of members are not needed. */
    uint64_t first;        /* the number of the first word, when `exact` is set */
    bool whole_archives;   /* An archive is one source and is not opened. */
    uint64_t member_bytes; /* size of the largest member of an archive that is read */
};

struct sources;
struct sources *sources_open(const struct source_list *list, penta_error *err);
void sources_close(struct sources *s);
/* Gives the next source of the shard. Returns false at the end of the list, or with err when
 * memory ran out. */
bool sources_next(struct sources *s, struct source *out, penta_error *err);
/* Returns which part of the list has been read, from 0 to 1. It counts all files, folders and
 * archives as equally large. */
double sources_part(const struct sources *s);
/* Returns how many sources the list has had so far, counting those of other shards. */
uint64_t sources_seen(const struct sources *s);
