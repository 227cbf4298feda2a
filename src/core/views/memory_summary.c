/* Prints the first runs of changed memory and counts the others by region. */
#include "core/views/memory_summary.h"
#include <inttypes.h>
#include <string.h>
#include "core/describe.h"

static bool memory_summary_shown(const struct memory_summary *s)
{
    return !s->inside || s->runs <= MEMORY_RUNS_SHOWN;
}

static bool memory_summary_enter(void *user, const penta_node *node)
{
    struct memory_summary *s = user;
    if (!s->depth && node->list && !strcmp(node->name, "memory")) s->inside = true;
    if (s->inside && s->depth == 1) s->runs++;
    if (memory_summary_shown(s) && !describe_enter(&s->next, *node)) return false;
    s->depth++;
    return true;
}

static void memory_summary_count(struct memory_summary *s, uint64_t size)
{
    struct memory_region *last = s->region_count ? &s->regions[s->region_count - 1] : NULL;
    if (last && s->address - last->to < MEMORY_GAP) {
        /* The run belongs to the region before it. */
    } else if (s->region_count < MEMORY_REGIONS) {
        last = &s->regions[s->region_count++];
        last->from = s->address;
    } else {
        last = &s->others;
    }
    last->to = s->address + size;
    last->runs++;
    last->bytes += size;
}

static void memory_summary_field(void *user, const penta_field *f)
{
    struct memory_summary *s = user;
    if (memory_summary_shown(s))
        describe_field(&s->next, *f);
    else if (!strcmp(f->name, "address"))
        s->address = f->as.u;
    else if (f->kind == PENTA_RAW)
        memory_summary_count(s, f->as.bytes.size);
}

static void memory_summary_amount(struct writer *out, const struct memory_region *r)
{
    writer_print(out, "%" PRIu64 " byte%s in %" PRIu64 " run%s\n", r->bytes,
                 r->bytes == 1 ? "" : "s", r->runs, r->runs == 1 ? "" : "s");
}

static void memory_summary_tell(struct memory_summary *s)
{
    if (!s->region_count) return;
    writer_text(s->out, "  more");
    if (s->hint) writer_print(s->out, ", all with %s", s->hint);
    writer_text(s->out, ":\n");
    for (size_t i = 0; i < s->region_count; i++) {
        writer_print(s->out, "    0x%" PRIx64 " to 0x%" PRIx64 "  ", s->regions[i].from,
                     s->regions[i].to);
        memory_summary_amount(s->out, &s->regions[i]);
    }
    if (!s->others.runs) return;
    writer_text(s->out, "    elsewhere  ");
    memory_summary_amount(s->out, &s->others);
}

static void memory_summary_leave(void *user, const penta_node *node)
{
    struct memory_summary *s = user;
    s->depth--;
    if (s->inside && !s->depth) {
        memory_summary_tell(s);
        s->inside = false;
    } else if (!memory_summary_shown(s)) {
        return;
    }
    describe_leave(&s->next, *node);
}

penta_visitor memory_summary_visitor(struct memory_summary *s)
{
    return (penta_visitor){s, memory_summary_enter, memory_summary_field, memory_summary_leave};
}
