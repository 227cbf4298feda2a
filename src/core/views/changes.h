/* What changed in a machine since the last walk, leaf by leaf. Remembers hashes, not values. Nodes
 * whose stamp is the same are not walked, and a long list of values with a stamp counts as one
 * value, so the cost depends on what changed and not on the size of the machine. */
#pragma once
#include "core/views/path.h"
#include "penta/penta.h"

enum { CHANGES_LIST = 64 }; /* longer lists of values count as one */

/* The path of a leaf, or of a long list, and its value as text. */
typedef void change_report(void *user, const char *path, penta_bytes value);

struct change_record; /* of one path */
struct changes {
    size_t list_max; /* values shown of a long list; 0: all */
    struct change_record *table;
    size_t used, slots;
    uint64_t epoch; /* counts walks */
    bool failed;    /* out of memory: nothing is reported any more */
    /* The rest is about the current walk. */
    change_report *report;
    void *user;
    struct path path;
    struct change_frame {
        uint64_t key;
        uint64_t previous; /* the walk that was here before; 0: none */
        bool fresh;        /* it was not there before */
        bool list;
        uint64_t children;
    } at[PATH_DEPTH + 1];
    unsigned depth;
    bool collecting; /* the values of a long list */
    uint64_t hidden; /* values of it that are not shown */
    struct writer text, value;
};

/* Walks the machine, except for its memory. report NULL: only remembers. */
void changes_take(struct changes *c, const penta_vm *vm, change_report *report, void *user);
void changes_free(struct changes *c);
