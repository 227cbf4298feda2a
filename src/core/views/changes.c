/* Finds what changed between two walks over a machine. The hash of each leaf is kept in a table by the hash of its
 * path. */
#include "core/views/changes.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/json/json_visit.h"
#include "core/engine.h"
#include "core/views/views.h"

struct change_record {
    uint64_t key;    /* the hash of the path; 0 marks a free entry */
    uint64_t value;  /* the hash of a leaf's value, or the stamp of a node */
    uint64_t seen;   /* the last walk that found the path */
    uint64_t walked; /* for a node: the last walk that went into it */
};

static uint64_t changes_mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 32;
}

static uint64_t mix_bytes(uint64_t h, const void *data, size_t size)
{
    const uint8_t *p = data;
    h = changes_mix(h, size);
    for (; size >= 8; p += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        h = changes_mix(h, word);
    }
    for (; size; p++, size--) h = changes_mix(h, *p);
    return h;
}

static uint64_t value_hash(const penta_field *f)
{
    uint64_t h = changes_mix(3, (uint64_t)f->kind);
    if (f->kind == PENTA_TEXT || f->kind == PENTA_RAW)
        return mix_bytes(h, f->as.bytes.data, f->as.bytes.size);
    return changes_mix(h, f->as.u);
}

/* Returns the key of the next child. Items are told apart by their number, members by their
 * name. */
static uint64_t child_key(struct changes *c, const char *name, uint64_t kind)
{
    struct change_frame *top = &c->at[c->depth];
    uint64_t h = mix_bytes(changes_mix(top->key, kind), name, strlen(name));
    if (top->list) h = changes_mix(h, top->children);
    top->children++;
    return h ? h : 1;
}

static struct change_record *changes_slot(struct change_record *table, size_t slots, uint64_t key)
{
    size_t i = (size_t)key & (slots - 1);
    while (table[i].key && table[i].key != key) i = (i + 1) & (slots - 1);
    return &table[i];
}

static bool changes_grow(struct changes *c)
{
    size_t slots = c->slots ? c->slots * 2 : 1024;
    struct change_record *table = calloc(slots, sizeof *table);
    if (!table) return false;
    for (size_t i = 0; i < c->slots; i++)
        if (c->table[i].key) *changes_slot(table, slots, c->table[i].key) = c->table[i];
    free(c->table);
    c->table = table;
    c->slots = slots;
    return true;
}

/* Finds or makes the record of a path, which is valid until the next call. Returns NULL when
 * memory ran out. */
static struct change_record *record_of(struct changes *c, uint64_t key)
{
    if (c->used >= c->slots / 2 && !changes_grow(c)) {
        c->failed = true;
        return NULL;
    }
    struct change_record *m = changes_slot(c->table, c->slots, key);
    if (!m->key) {
        m->key = key;
        c->used++;
    }
    return m;
}

static void changes_tell(struct changes *c)
{
    writer_char(&c->text, 0);
    c->failed |= c->text.failed || c->value.failed;
    if (!c->failed) c->report(c->user, (const char *)c->text.out.data, writer_view(&c->value));
    c->text.out.size = c->value.out.size = 0;
}

static void open_frame(struct changes *c, const penta_node *node, uint64_t key, uint64_t previous,
                       bool fresh)
{
    path_enter(&c->path, node->name, node->list);
    c->at[++c->depth] =
        (struct change_frame){.key = key, .previous = previous, .fresh = fresh, .list = node->list};
}

static bool change_enter(void *user, const penta_node *node)
{
    struct changes *c = user;
    /* Memory is too large to compare after every step. */
    if (!strcmp(node->name, "memory")) return false;
    const struct change_frame *top = &c->at[c->depth];
    uint64_t key = child_key(c, node->name, 1);
    struct change_record *m = c->depth < PATH_DEPTH && !c->failed ? record_of(c, key) : NULL;
    if (!m) return false;
    bool fresh = top->fresh || m->seen != top->previous, same = node->stamp == m->value && !fresh;
    uint64_t previous = m->walked;
    m->seen = c->epoch;
    m->value = node->stamp;
    if (node->stamp && same) {
        path_leaf(&c->path); /* The field counts as a child. */
        return false;
    }
    bool as_one = node->stamp && node->items && *node->items > CHANGES_LIST;
    m->walked = as_one ? 0 : c->epoch; /* The items of a long list have no records. */
    if (!as_one) {
        open_frame(c, node, key, previous, fresh);
        return true;
    }
    if (!c->report) {
        path_leaf(&c->path);
        return false;
    }
    open_frame(c, node, key, previous, fresh);
    path_print(&c->path, NULL, &c->text);
    c->collecting = true;
    c->hidden = 0;
    if (c->list_max && *node->items > c->list_max) {
        c->hidden = *node->items - c->list_max;
        *node->items = c->list_max;
    }
    return true;
}

static void change_field(void *user, const penta_field *field)
{
    struct changes *c = user;
    c->failed |= field->name == field_incomplete;
    if (c->collecting) {
        if (c->value.out.size) writer_char(&c->value, ' ');
        view_value(&c->value, field, 16);
        return;
    }
    const struct change_frame *top = &c->at[c->depth];
    struct change_record *m = c->failed ? NULL : record_of(c, child_key(c, field->name, 2));
    if (!m) return;
    uint64_t value = value_hash(field);
    bool changed = top->fresh || m->seen != top->previous || m->value != value;
    m->seen = c->epoch;
    m->value = value;
    if (changed && c->report) {
        path_print(&c->path, field->name, &c->text);
        view_value(&c->value, field, 16);
        path_leaf(&c->path);
        changes_tell(c);
        return;
    }
    path_leaf(&c->path);
}

static void change_leave(void *user, const penta_node *node)
{
    struct changes *c = user;
    (void)node;
    if (c->collecting) {
        if (c->hidden) writer_print(&c->value, " .. %" PRIu64 " more", c->hidden);
        c->collecting = false;
        changes_tell(c);
    }
    path_leave(&c->path);
    c->depth--;
}

void changes_take(struct changes *c, const penta_vm *vm, change_report *report, void *user)
{
    c->report = report;
    c->user = user;
    c->path = (struct path){0};
    c->depth = 0;
    c->at[0] = (struct change_frame){.key = 7, .previous = c->epoch};
    c->epoch++;
    penta_visitor visitor = {c, change_enter, change_field, change_leave};
    vm->engine->describe(vm, &visitor);
}

void changes_free(struct changes *c)
{
    free(c->table);
    writer_free(&c->text);
    writer_free(&c->value);
    *c = (struct changes){0};
}
