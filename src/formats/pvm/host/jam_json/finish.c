/* Ends an invocation in a session: reports the program's changes and merges them into the state,
 * which can then be saved. */
#include "base/bytes.h"
#include "pvm/host/jam_json/session_state.h"

static bool finish_over(const penta_stop *stop)
{
    return stop->kind == PENTA_STOP_HALT || stop->kind == PENTA_STOP_TRAP ||
           stop->kind == PENTA_STOP_FAULT || stop->kind == PENTA_STOP_GAS;
}

static penta_jam_exit stop_exit(const penta_stop *stop)
{
    if (stop->kind == PENTA_STOP_HALT) return PENTA_JAM_HALT;
    return stop->kind == PENTA_STOP_GAS ? PENTA_JAM_OUT_OF_GAS : PENTA_JAM_PANIC;
}

static void finish_tell(struct writer *w, struct json *j, const char *key, penta_bytes value)
{
    if (j) {
        json_hex(j, key, value);
        return;
    }
    writer_print(w, "%s ", key);
    writer_hex(w, value);
    writer_char(w, '\n');
}

static void tell_transfers(const struct pvm_jam *s, struct writer *w, struct json *j)
{
    if (j) json_list(j, "transfers");
    for (size_t i = 0; i < s->run.now.transfers; i++) {
        const struct jam_transfer *t = &s->run.transfers[i];
        if (!j) {
            writer_print(w, "transfer to %u amount %llu gas %llu memo ", t->to,
                         (unsigned long long)t->amount, (unsigned long long)t->gas);
            writer_hex(w, (penta_bytes){t->memo, sizeof t->memo});
            writer_char(w, '\n');
            continue;
        }
        json_object(j, NULL);
        json_uint(j, "to", t->to);
        json_uint(j, "amount", t->amount);
        json_uint(j, "gas", t->gas);
        json_hex(j, "memo", (penta_bytes){t->memo, sizeof t->memo});
        json_end(j);
    }
    if (j) json_end(j);
}

static void tell_exports(const struct pvm_jam *s, struct writer *w, struct json *j)
{
    uint8_t root[JAM_HASH];
    penta_jam_segments_root(writer_view(&s->run.exports), root);
    if (j)
        json_uint(j, "exports", s->run.exports.out.size / PENTA_JAM_SEGMENT);
    else
        writer_print(w, "exports %zu\n", s->run.exports.out.size / PENTA_JAM_SEGMENT);
    finish_tell(w, j, "exports_root", (penta_bytes){root, JAM_HASH});
}

/* Shows the work result that a report has for this item. Without a package there is none. */
static void tell_work_result(const struct pvm_jam *s, const penta_jam_result *result,
                             uint64_t gas_used, struct writer *w, struct json *j)
{
    const struct jam_work_item *item = &s->package.items[s->run.item];
    penta_bytes output = {result->output.data, result->output.size};
    bool halted = result->exit == PENTA_JAM_HALT;
    size_t exports = halted ? s->run.exports.out.size / PENTA_JAM_SEGMENT : 0;
    uint64_t size = output.size + s->given.trace.size + s->earlier;
    if (!s->packaged) return;
    penta_jam_exit exit =
        jam_item_exit(&s->host->chain, result->exit, size, exports, item->exports);
    const char *name = exit == PENTA_JAM_HALT ? "ok" : penta_jam_exit_name(exit);
    if (!j) {
        writer_print(w, "work result %s\n", name);
        return;
    }
    struct writer digest = {0};
    jam_put_digest(&digest, item, exit, output, gas_used);
    json_text(j, "work_result", name);
    json_hex(j, "digest", writer_view(&digest));
    writer_free(&digest);
}

bool pvm_jam_save(struct pvm_jam *s, struct writer *out, penta_error *err)
{
    if (!s->ended)
        return error_at(err, BASE_STATE, 0,
                        "the program has not ended: there is no state after it to save");
    bool ok = penta_jam_state_write(s->state, &out->out, err);
    if (!ok) out->failed = true;
    return ok;
}

bool pvm_jam_finish(struct pvm_jam *s, penta_vm *base, const penta_stop *stop, struct writer *w,
                    struct json *j, penta_error *err)
{
    struct pvm_vm *vm = pvm_vm(base);
    penta_jam_result result = {.exit = stop_exit(stop)};
    struct jam_round round = {.host = s->host,
                              .layer = &s->state->changes,
                              .slot = s->input.slot,
                              .entropy = s->input.entropy};
    if (!finish_over(stop) || s->ended) return true;
    if (result.exit == PENTA_JAM_HALT) {
        penta_bytes output = jam_run_output(vm, &s->run.value);
        struct writer copy = {0};
        writer_bytes(&copy, output.data, output.size);
        result.output = copy.out;
    }
    if (s->context == JAM_AUTHORIZE && result.output.size > s->host->chain.report_size)
        result.exit = PENTA_JAM_OVERSIZE;
    uint64_t used = (uint64_t)(vm->gas_start - vm->state->gas);
    if (result.exit == PENTA_JAM_OUT_OF_GAS) used = (uint64_t)vm->gas_start;
    if (j) {
        json_object(j, "jam");
        json_text(j, "exit", penta_jam_exit_name(result.exit));
        json_uint(j, "gas_used", used);
    } else {
        writer_print(w, "%s, gas used %llu\n", penta_jam_exit_name(result.exit),
                     (unsigned long long)used);
    }
    s->run.err = err;
    if (pvm_jam_on_chain(s)) {
        jam_accumulate_end(&s->run, &result);
        jam_round_merge(&round, &s->run, err);
        if (s->run.now.has_yield)
            finish_tell(w, j, "yield", (penta_bytes){s->run.now.yield, JAM_HASH});
        tell_transfers(s, w, j);
        jam_state_diff(s->state, w, j, "changes");
    } else if (s->context == JAM_REFINE) {
        if (result.exit == PENTA_JAM_HALT) tell_exports(s, w, j);
        tell_work_result(s, &result, used, w, j);
    }
    if (j) json_end(j);
    penta_jam_result_free(&result);
    s->ended = !err->code;
    return s->ended;
}
