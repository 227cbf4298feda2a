/* What an edit of a program repairs: the lengths of sections and lists, and the places of the names of imports. They
 * are found by a walk over the tree, in which each length stands before what it counts. Code keeps its size, since the
 * bitmask and all jumps depend on it, and so do debug strings, whose places are packed into line programs. */
#include "core/edit/edit.h"
#include "core/driver.h"
#include "pvm/pvm.h"

enum { DEPTH_MAX = 8 };

struct measuring {
    struct edit *e;
    unsigned depth;
    struct {
        const char *name;
        uint64_t offset, end;
    } at[DEPTH_MAX];
    struct edit_number
        next; /* counts the sibling that comes next; its size is 0 when there is none */
    unsigned next_depth;
    struct edit_number ro, rw; /* lengths of data that comes later */
    uint64_t import_offsets;   /* where the places of the names of imports are */
    unsigned import_name;
};

static bool name_is(const char *name, const char *other) { return !strcmp(name, other); }

static void measure_next(struct measuring *m, uint64_t offset, uint64_t size)
{
    if (!m->next.size || m->depth != m->next_depth) return;
    edit_length(m->e, m->next, offset, size, 1);
    m->next.size = 0;
}

static bool measuring_enter(void *user, const penta_node *node)
{
    struct measuring *m = user;
    measure_next(m, node->offset, node->size);
    uint64_t end = node->offset + node->size;
    bool fixed = name_is(node->name, "code") && node->list;
    fixed |= name_is(node->name, "debug_strings") && !m->depth;
    if (fixed && edit_offset(m->e, end) - edit_offset(m->e, node->offset) != node->size)
        error_at(m->e->err, BASE_FIELD_VALUE, node->offset,
                 "the size of %s cannot change: other parts of the file depend on it",
                 fixed && node->list ? "an instruction" : "a debug string");
    if (name_is(node->name, "insn") || m->depth == DEPTH_MAX) return false;
    if (name_is(node->name, "offsets")) m->import_offsets = node->offset;
    m->import_name = 0;
    m->at[m->depth].name = node->name;
    m->at[m->depth].offset = node->offset;
    m->at[m->depth++].end = end;
    return true;
}

static void measuring_leave(void *user, const penta_node *node)
{
    (void)node;
    ((struct measuring *)user)->depth--;
}

/* A length inside a node counts the rest of a section, or what comes next. */
static void measure_length(struct measuring *m, const penta_field *f, struct edit_number n)
{
    uint64_t after = f->offset + f->size, file = m->e->file.size;
    bool section = m->depth == 1 && name_is(f->name, "length");
    if (section && name_is(m->at[0].name, "header")) {
        edit_length(m->e, n, 0, file, 1);
    } else if (section && !name_is(m->at[0].name, "debug_strings")) {
        edit_length(m->e, n, after, m->at[0].end - after, 1);
    } else if (name_is(f->name, "program_length")) {
        edit_length(m->e, n, after, file - after, 1);
    } else if (f->as.u) {
        m->next = n;
        m->next_depth = m->depth;
    }
}

static bool ends_with_length(const char *name)
{
    size_t size = strlen(name);
    return size >= 6 && name_is(name + size - 6, "length") && !name_is(name, "code_length") &&
           !name_is(name, "jump_table_length");
}

static void measuring_field(void *user, const penta_field *f)
{
    struct measuring *m = user;
    struct edit_number n = {f->offset, (unsigned)f->size, f->encoding};
    bool top = !m->depth;
    if (!f->size) return;
    measure_next(m, f->offset, f->size);
    if (top && (name_is(f->name, "ro_data_length") || name_is(f->name, "ro_data_size")))
        m->ro = n;
    else if (top && (name_is(f->name, "rw_data_length") || name_is(f->name, "rw_data_size")))
        m->rw = n;
    else if (top && name_is(f->name, "ro_data"))
        edit_length(m->e, m->ro, f->offset, f->size, 1);
    else if (top && name_is(f->name, "rw_data"))
        edit_length(m->e, m->rw, f->offset, f->size, 1);
    else if (!top && name_is(m->at[m->depth - 1].name, "names") && m->import_offsets)
        edit_place(m->e,
                   (struct edit_number){m->import_offsets + 4 * (uint64_t)m->import_name++, 4,
                                        PENTA_LITTLE},
                   f->offset, m->at[m->depth - 1].offset);
    else if (ends_with_length(f->name))
        measure_length(m, f, n);
}

static void program_measures(struct edit *e)
{
    struct measuring m = {.e = e};
    penta_visitor visitor = {&m, measuring_enter, measuring_field, measuring_leave};
    pvm_describe(e->module, &visitor);
}

const struct driver_edit pvm_edit = {.measures = program_measures};
