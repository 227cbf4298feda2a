/* Reports what changed in a machine since the last walk, leaf by leaf. It remembers hashes and not values. It does
 * not walk into nodes whose stamp is the same, and a long list of values with a stamp counts as one value. So the
 * cost depends on what changed and not on the size of the machine. */
#pragma once
#include "core/views/path.h"
#include "penta/penta.h"

enum { CHANGES_LIST = 64 }; /* A list of more values counts as one value. */

/* Receives the path of a leaf or of a long list, and its value as text. */
typedef void change_report(void *user, const char *path, penta_bytes value);

struct change_record; /* What is kept of a path between walks. */
struct changes {
    size_t list_max; /* how many values of a long list are shown; 0 for all */
    struct change_record *table;
    size_t used, slots;
    uint64_t epoch; /* number of the current walk */
    bool failed;    /* Memory ran out, and nothing is reported any more. */
    /* The fields below are about the current walk. */
    change_report *report;
    void *user;
    struct path path;
    struct change_frame {
        uint64_t key;
        uint64_t previous; /* the walk that was here before; 0 for none */
        bool fresh;        /* The node is new in this walk. */
        bool list;
        uint64_t children;
    } at[PATH_DEPTH + 1];
    unsigned depth;
    bool collecting; /* The walk collects the values of a long list. */
    uint64_t hidden; /* how many values of the long list are not shown */
    struct writer text, value;
};

/* Walks over the machine without its memory. With `report` NULL it reports nothing, but keeps
 * the values for the next walk. */
void changes_take(struct changes *c, const penta_vm *vm, change_report *report, void *user);
void changes_free(struct changes *c);
