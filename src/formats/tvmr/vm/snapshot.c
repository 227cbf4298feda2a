/* What a machine says of itself, and its snapshots. */
#include "base/codec/checksum.h"
#include "core/describe.h"
#include "tvmr/kernels/kernels.h"
#include <stdio.h>

/* ---- describe ---- */

/* A stamp counts changes from 0, and a node's is not 0. */
static void describe_numbers(const penta_visitor *v, const char *name, const int32_t *data,
                             size_t count, uint64_t stamp)
{
    penta_node list = {.name = name, .list = true, .stamp = stamp + 1, .items = &count};
    if (!describe_enter(v, list)) return;
    for (size_t i = 0; i < count; i++)
        describe_field(v, (penta_field){.name = "value", .kind = PENTA_SINT, .as.i = data[i]});
    describe_leave(v, list);
}

static void describe_shape(const penta_visitor *v, const char *name, const struct tvmr_shape *s)
{
    penta_node list = {.name = name, .list = true};
    if (!describe_enter(v, list)) return;
    for (size_t i = 0; i < s->rank; i++) describe_uint(v, "dim", s->dims[i]);
    describe_leave(v, list);
}

static void describe_hot(const struct tvmr_hot *h, const char *name, const penta_visitor *v)
{
    penta_node node = {.name = name, .stamp = h->stamp + 1};
    if (!describe_enter(v, node)) return;
    describe_shape(v, "shape", &h->shape);
    describe_numbers(v, "data", h->data, h->count, h->stamp);
    describe_leave(v, node);
}

static void describe_cold(const struct tvmr_cold *c, const char *name, const penta_visitor *v)
{
    uint64_t stamp = c->stamp + 1;
    size_t weight_count = c->count, temp_count = c->count;
    penta_node node = {.name = name, .stamp = stamp};
    penta_node weights = {.name = "weights", .list = true, .stamp = stamp, .items = &weight_count};
    penta_node temps = {.name = "temperatures", .list = true, .stamp = stamp, .items = &temp_count};
    if (!describe_enter(v, node)) return;
    if (c->key_size)
        describe_field(
            v, (penta_field){.name = "key", .kind = PENTA_TEXT, .as.bytes = {c->key, c->key_size}});
    describe_shape(v, "shape", &c->shape);
    if (c->frozen) describe_bool(v, "frozen", true);
    if (c->dirty) describe_bool(v, "dirty", true);
    if (describe_enter(v, weights)) {
        for (size_t i = 0; i < weight_count; i++)
            describe_field(v, (penta_field){.name = "value",
                                            .kind = PENTA_SINT,
                                            .as.i = tvmr_value(c->weights[i])});
        describe_leave(v, weights);
    }
    if (c->temps && describe_enter(v, temps)) {
        for (size_t i = 0; i < temp_count; i++) describe_uint(v, "temperature", c->temps[i]);
        describe_leave(v, temps);
    }
    describe_leave(v, node);
}

static void describe_registers(const struct tvmr_vm *vm, const penta_visitor *v)
{
    penta_node node = {.name = "registers"};
    char name[8];
    if (!describe_enter(v, node)) return;
    for (unsigned i = 0; i < 256; i++) {
        unsigned k = i & 63;
        tvmr_register_name((uint8_t)i, name);
        if (i < 64 && vm->hot[k].present) describe_hot(&vm->hot[k], name, v);
        if (i >> 6 == 1 && vm->cold[k].present) describe_cold(&vm->cold[k], name, v);
        if (i >> 6 == 2 && vm->param[k])
            describe_field(v,
                           (penta_field){.name = name, .kind = PENTA_SINT, .as.i = vm->param[k]});
        if (i >> 6 == 3 && vm->shape[k].rank) describe_shape(v, name, &vm->shape[k]);
    }
    describe_leave(v, node);
}

static void describe_pressure(const struct tvmr_vm *vm, const penta_visitor *v)
{
    penta_node node = {.name = "pressure"};
    bool any = false;
    for (unsigned i = 0; i < TVMR_BANK; i++) any |= vm->pressure[i].present;
    if (!any || !describe_enter(v, node)) return;
    for (unsigned i = 0; i < TVMR_BANK; i++) {
        char name[8];
        tvmr_register_name((uint8_t)(64 + i), name);
        if (vm->pressure[i].present)
            describe_numbers(v, name, vm->pressure[i].data, vm->pressure[i].count,
                             vm->pressure[i].stamp);
    }
    describe_leave(v, node);
}

static void describe_outputs(const struct tvmr_vm *vm, const penta_visitor *v)
{
    describe_numbers(v, "output", vm->output.data, vm->output.count, vm->output.stamp);
    penta_node list = {.name = "outputs", .list = true, .stamp = vm->outputs.stamp + 1};
    if (vm->input_count < 2 || !describe_enter(v, list)) return;
    for (size_t i = 0, from = 0; i < vm->output_count; from = vm->output_ends[i++])
        describe_numbers(v, "run", vm->outputs.data + from, vm->output_ends[i] - from, vm->loads);
    describe_leave(v, list);
}

void tvmr_vm_describe(const penta_vm *base, const penta_visitor *v)
{
    static const char *const chemicals[] = {"dopamine", "serotonin", "norepinephrine", "gaba"};
    const struct tvmr_vm *vm = (const struct tvmr_vm *)base;
    describe_uint(v, "pc", vm->pc);
    describe_uint(v, "executed", vm->executed);
    penta_node fault = {.name = "fault"};
    if (vm->fault && describe_enter(v, fault)) {
        describe_text(v, "kind", tvmr_fault_name(vm->fault));
        describe_text(v, "text", vm->fault_text);
        describe_leave(v, fault);
    }
    if (*vm->warning) describe_text(v, "warning", vm->warning);
    describe_outputs(vm, v);
    describe_registers(vm, v);
    describe_pressure(vm, v);
    if (vm->current_error)
        describe_field(
            v,
            (penta_field){.name = "current_error", .kind = PENTA_SINT, .as.i = vm->current_error});
    if (vm->babble_scale || vm->babble_phase) {
        describe_uint(v, "babble_scale", (uint64_t)vm->babble_scale);
        describe_uint(v, "babble_phase", vm->babble_phase);
    }
    for (unsigned i = 0; i < 4; i++)
        if (vm->chem[i] != 128) describe_uint(v, chemicals[i], vm->chem[i]);
}

/* ---- snapshots: "TVMS", the checksum of the program, the state, XXH64 of all that ----
 * One walk serves both directions, so that they cannot disagree. */

struct stream {
    struct tvmr_vm *vm;
    struct writer *out; /* saving */
    struct reader *in;  /* or loading */
    bool failed;
};

static uint64_t number(struct stream *s, uint64_t value)
{
    if (s->out) writer_uint(s->out, value, 8);
    return s->out ? value : reader_uint(s->in, 8);
}
#define NUMBER(field) ((field) = (__typeof__(field))number(s, (uint64_t)(field)))

/* count items of so many bytes each, as little-endian numbers. */
static void array(struct stream *s, void *pointer, size_t *count, size_t *capacity, size_t item)
{
    uint64_t n = number(s, *count);
    void *data;
    if (s->in) {
        n = reader_count(s->in, n, item);
        if (!tvmr_reserve(s->vm, pointer, capacity, (size_t)n, item)) s->failed = true;
        if (s->failed || s->in->err->code) return;
        *count = (size_t)n;
    }
    memcpy(&data, pointer, sizeof data);
    for (size_t i = 0; i < n; i++) {
        uint8_t *p = (uint8_t *)data + i * item;
        uint64_t v = 0;
        if (s->out) {
            if (item == 1) v = *p;
            if (item == 4) v = *(uint32_t *)(void *)p;
            if (item == 8) v = *(uint64_t *)(void *)p;
            writer_uint(s->out, v, item);
        } else {
            v = reader_uint(s->in, item);
            if (item == 1) *p = (uint8_t)v;
            if (item == 4) *(uint32_t *)(void *)p = (uint32_t)v;
            if (item == 8) *(uint64_t *)(void *)p = v;
        }
    }
}

static void stream_shape(struct stream *s, struct tvmr_shape *shape)
{
    size_t rank = shape->rank, capacity = shape->capacity;
    array(s, &shape->dims, &rank, &capacity, sizeof *shape->dims);
    shape->rank = (uint32_t)rank;
    shape->capacity = (uint32_t)capacity;
}

static void stream_buffer(struct stream *s, struct tvmr_buffer *b)
{
    array(s, &b->data, &b->count, &b->capacity, sizeof *b->data);
    if (s->in) b->stamp++;
}

static void stream_pressure(struct stream *s, struct tvmr_pressure *p)
{
    if (s->in) p->stamp++;
    NUMBER(p->present);
    if (p->present) array(s, &p->data, &p->count, &p->capacity, sizeof *p->data);
}

static void stream_hot(struct stream *s, struct tvmr_hot *h)
{
    if (s->in) h->stamp++;
    NUMBER(h->present);
    if (!h->present) return;
    array(s, &h->data, &h->count, &h->capacity, sizeof *h->data);
    stream_shape(s, &h->shape);
}

static void stream_weights(struct stream *s, struct tvmr_cold *c)
{
    size_t bytes = c->count * 2, capacity = c->capacity * 2;
    array(s, &c->weights, &bytes, &capacity, 1);
    c->count = bytes / 2;
    c->capacity = capacity / 2;
    if (bytes % 2) s->failed = true;
}

static void stream_cold(struct stream *s, struct tvmr_cold *c)
{
    bool present = c->present, temps = c->temps != NULL;
    NUMBER(present);
    if (s->in) tvmr_cold_drop(s->vm, c);
    if (!present) return;
    c->present = true;
    NUMBER(c->frozen);
    NUMBER(c->dirty);
    NUMBER(c->key_size);
    for (unsigned i = 0; i < c->key_size; i++) {
        if (s->out)
            writer_uint(s->out, c->key[i], 1);
        else
            c->key[i] = (uint8_t)reader_uint(s->in, 1);
    }
    stream_weights(s, c);
    stream_shape(s, &c->shape);
    NUMBER(temps);
    size_t n = c->count;
    if (temps) array(s, &c->temps, &n, &c->temps_capacity, 1);
    uint64_t product = 1;
    for (unsigned i = 0; i < c->shape.rank; i++) {
        product *= c->shape.dims[i];
        if (product > UINT32_MAX) product = UINT32_MAX; /* more than any budget: stays wrong */
    }
    if (s->in && (n != c->count || product != c->count)) s->failed = true;
    if (s->in && temps && !c->temps && !tvmr_reserve(s->vm, &c->temps, &c->temps_capacity, 1, 1))
        s->failed = true;
}

static void stream_correlation(struct stream *s, struct tvmr_correlation *t)
{
    NUMBER(t->present);
    if (t->present) array(s, &t->data, &t->count, &t->capacity, sizeof *t->data);
}

static void stream_runs(struct stream *s)
{
    struct tvmr_vm *vm = s->vm;
    NUMBER(vm->input_next);
    stream_buffer(s, &vm->outputs);
    if (s->in && s->in->err->code) return;
    size_t capacity = vm->output_count;
    array(s, &vm->output_ends, &vm->output_count, &capacity, sizeof *vm->output_ends);
    if (vm->input_next > vm->input_count) s->failed = true;
    for (size_t i = 0; i < vm->output_count && s->in; i++)
        if (vm->output_ends[i] > vm->outputs.count ||
            (i && vm->output_ends[i] < vm->output_ends[i - 1]))
            s->failed = true;
}

static void stream_machine(struct stream *s)
{
    struct tvmr_vm *vm = s->vm;
    NUMBER(vm->pc);
    NUMBER(vm->executed);
    NUMBER(vm->final);
    NUMBER(vm->waiting);
    NUMBER(vm->halted);
    NUMBER(vm->fault);
    for (size_t i = 0; i < sizeof vm->fault_text; i += 8) {
        uint64_t part;
        memcpy(&part, vm->fault_text + i, 8);
        NUMBER(part);
        memcpy(vm->fault_text + i, &part, 8);
    }
    vm->fault_text[sizeof vm->fault_text - 1] = 0;
    uint64_t op =
        vm->yield_op ? (uint64_t)vm->yield_op->ext << 16 | vm->yield_op->opcode : UINT64_MAX;
    NUMBER(op);
    if (s->in) {
        vm->yield_op = op > UINT32_MAX ? NULL : tvmr_op_find((uint16_t)(op >> 16), (uint16_t)op);
        if ((op <= UINT32_MAX || vm->waiting) && (!vm->yield_op || !vm->yield_op->domain))
            s->failed = true;
    }
    for (unsigned i = 0; i < TVMR_YIELD_ARGS; i++) NUMBER(vm->yield_args[i]);
    NUMBER(vm->loop_depth);
    NUMBER(vm->call_depth);
    if (vm->loop_depth > TVMR_DEPTH || vm->call_depth > TVMR_DEPTH || vm->fault >= TVMR_FAULTS) {
        vm->loop_depth = vm->call_depth = 0;
        vm->fault = TVMR_E_NONE;
        s->failed = true;
    }
    for (size_t i = 0; i < vm->loop_depth; i++) {
        NUMBER(vm->loops[i].start);
        NUMBER(vm->loops[i].remaining);
    }
    for (size_t i = 0; i < vm->call_depth; i++) NUMBER(vm->calls[i]);
    for (unsigned i = 0; i < 4; i++) NUMBER(vm->chem[i]);
    NUMBER(vm->current_error);
    NUMBER(vm->babble_scale);
    NUMBER(vm->babble_phase);
    NUMBER(vm->chl_phase);
    NUMBER(vm->testing);
    NUMBER(vm->test_id);
}

static void stream_all(struct stream *s)
{
    struct tvmr_vm *vm = s->vm;
    stream_machine(s);
    stream_buffer(s, &vm->input);
    stream_buffer(s, &vm->output);
    stream_buffer(s, &vm->target);
    stream_runs(s);
    for (unsigned i = 0; i < TVMR_BANK && !s->failed; i++) {
        stream_hot(s, &vm->hot[i]);
        stream_cold(s, &vm->cold[i]);
        NUMBER(vm->param[i]);
        stream_shape(s, &vm->shape[i]);
        stream_pressure(s, &vm->pressure[i]);
        stream_correlation(s, &vm->chl_free[i]);
        stream_correlation(s, &vm->chl_clamped[i]);
        stream_cold(s, &vm->checkpoints[i]);
        stream_pressure(s, &vm->snapshots[i]);
    }
    for (unsigned i = 0; i < TVMR_MODELS; i++) {
        struct tvmr_model *m = &vm->models[i];
        uint64_t bits = (uint64_t)m->loaded | (uint64_t)m->running << 1 |
                        (uint64_t)m->has_input << 2 | (uint64_t)m->has_output << 3 |
                        (uint64_t)m->input << 8 | (uint64_t)m->output << 16;
        NUMBER(bits);
        *m = (struct tvmr_model){bits & 1,      bits >> 1 & 1,        bits >> 2 & 1,
                                 bits >> 3 & 1, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16)};
    }
}

bool tvmr_vm_save(const penta_vm *base, struct writer *out)
{
    struct stream s = {.vm = (struct tvmr_vm *)(uintptr_t)base, .out = out};
    size_t from = out->out.size;
    writer_bytes(out, "TVMS", 4);
    writer_uint(out, tvmr_module(base->module)->checksum, 8);
    stream_all(&s);
    if (!out->failed)
        writer_uint(out, checksum_xxh64(bytes_slice(writer_view(out), from, SIZE_MAX)), 8);
    return !out->failed;
}

bool tvmr_vm_load(penta_vm *base, penta_bytes saved, penta_error *err)
{
    if (saved.size < 20 || memcmp(saved.data, "TVMS", 4))
        return error_at(err, BASE_SNAPSHOT, 0, "not a snapshot of this machine");
    penta_bytes body = bytes_slice(saved, 0, saved.size - 8);
    if (checksum_xxh64(body) != get64(saved.data + body.size))
        return error_at(err, BASE_SNAPSHOT, body.size, "the snapshot is damaged");
    if (get64(saved.data + 4) != tvmr_module(base->module)->checksum)
        return error_at(err, BASE_SNAPSHOT, 4, "a snapshot of another program");
    struct reader r = {.in = body, .pos = 12, .err = err};
    struct stream s = {.vm = tvmr_vm(base), .in = &r};
    s.vm->loads++;
    stream_all(&s);
    tvmr_vm(base)->at_break = false;
    if (s.failed || (!err->code && reader_left(&r)))
        return error_at(err, BASE_SNAPSHOT, reader_at(&r), "the snapshot contradicts itself");
    return !err->code;
}
