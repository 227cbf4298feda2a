/* Runs a program once: it makes the machine, gives it gas, answers its host calls and reads how
 * it ended. */
#include "base/bytes.h"
#include "core/engine.h"
#include "pvm/host/jam/host.h"
#include <stdlib.h>
#include <string.h>

void jam_run_init(struct jam_run *run, struct penta_jam_host *host, enum jam_context context,
                  struct jam_layer *layer, penta_error *err)
{
    static const uint8_t no_entropy[JAM_HASH];
    *run = (struct jam_run){
        .host = host, .context = context, .layer = layer, .err = err, .entropy = no_entropy};
}

void jam_run_fini(struct jam_run *run)
{
    writer_free(&run->scratch[0]);
    writer_free(&run->scratch[1]);
    writer_free(&run->value);
    writer_free(&run->all_items_bytes);
    writer_free(&run->exports);
    free(run->transfers);
    for (size_t i = 0; i < run->now.provisions; i++) free(run->provisions[i].blob);
    free(run->provisions);
    for (size_t i = 0; i < run->inner_count; i++) {
        if (run->inner[i].vm) run->inner[i].vm->base.engine->close(&run->inner[i].vm->base);
        free(run->inner[i].bytes);
    }
    free(run->inner);
    run->inner = NULL;
    run->inner_count = 0;
}

enum { ARGUMENTS_MAX = 1 << 24 }; /* how many bytes the area for arguments has */

static bool run_begin(struct jam_run *run, struct pvm_vm *vm, uint32_t pc, penta_bytes arguments,
                      uint64_t gas)
{
    const uint64_t page = PVM_PAGE, length = (arguments.size + page - 1) / page * page;
    run->vm = vm;
    if (!pvm_memory_map(&vm->memory, vm->layout.aux, length, false, arguments, true))
        return error_at(run->err, length > ARGUMENTS_MAX ? BASE_LIMIT : BASE_MEMORY, 0,
                        "%zu bytes of arguments do not fit", arguments.size);
    pvm_vm_call_registers(vm, vm->state->regs);
    vm->state->regs[PVM_A0] = vm->layout.aux;
    vm->state->regs[PVM_A1] = arguments.size;
    vm->state->gas = vm->gas_start = gas > INT64_MAX ? INT64_MAX : (int64_t)gas;
    pvm_vm_jump(vm, pc);
    return true;
}

penta_bytes jam_run_output(struct pvm_vm *vm, struct writer *scratch)
{
    uint64_t at = vm->state->regs[PVM_A0], size = vm->state->regs[PVM_A1];
    penta_bytes none = {0};
    if (!pvm_memory_allows(&vm->memory, at, size, PVM_READ)) return none;
    return pvm_memory_view(&vm->memory, at, size, scratch);
}

/* Runs the machine and answers its host calls until the program ends. */
static bool run_loop(struct jam_run *run, penta_jam_exit *exit)
{
    penta_vm *vm = &run->vm->base;
    for (;;) {
        penta_stop stop;
        vm->engine->run(vm, UINT64_MAX, &stop);
        switch (stop.kind) {
        case PENTA_STOP_HOST: break;
        case PENTA_STOP_HALT: *exit = PENTA_JAM_HALT; return true;
        case PENTA_STOP_GAS: *exit = PENTA_JAM_OUT_OF_GAS; return true;
        case PENTA_STOP_INTERRUPT:
            return error_at(run->err, BASE_STATE, stop.pc, "the program was interrupted");
        case PENTA_STOP_DISAGREE:
            return error_at(run->err, BASE_BUG, stop.pc, "the engines disagree: %.80s",
                            vm->engine->detail(vm, &stop));
        default: *exit = PENTA_JAM_PANIC; return true;
        }
        switch (jam_call(run)) {
        case JAM_GO_ON: break;
        case JAM_END_PANIC: *exit = PENTA_JAM_PANIC; return true;
        case JAM_END_GAS: *exit = PENTA_JAM_OUT_OF_GAS; return true;
        case JAM_END_ERROR: return false;
        case JAM_END_INTERRUPT:
            return error_at(run->err, BASE_STATE, stop.pc, "the program was interrupted");
        }
        if (!pvm_vm_answer(vm, NULL, 0, run->err)) return false;
    }
}

bool jam_run_program(struct jam_run *run, struct jam_program *program, uint32_t pc,
                     penta_bytes arguments, uint64_t gas, penta_jam_result *out)
{
    out->gas_used = 0;
    if (!program->valid) {
        out->exit = PENTA_JAM_PANIC;
        return true;
    }
    struct pvm_vm *vm = jam_program_take(run->host, program, run->err);
    if (!vm) return false;
    bool ok = run_begin(run, vm, pc, arguments, gas) && run_loop(run, &out->exit);
    if (ok) {
        uint64_t given = (uint64_t)vm->gas_start;
        out->gas_used = out->exit == PENTA_JAM_OUT_OF_GAS ? gas : given - (uint64_t)vm->state->gas;
        if (out->exit == PENTA_JAM_HALT) {
            penta_bytes output = jam_run_output(vm, &run->value);
            struct writer w = {.out = out->output};
            w.out.size = 0;
            writer_bytes(&w, output.data, output.size);
            out->output = w.out;
            ok = writer_ok(&w, run->err);
        }
    }
    jam_program_return(vm);
    run->vm = NULL;
    return ok;
}

const char *penta_jam_exit_name(penta_jam_exit exit)
{
    static const char *const names[] = {[PENTA_JAM_HALT] = "halt",
                                        [PENTA_JAM_OUT_OF_GAS] = "out of gas",
                                        [PENTA_JAM_PANIC] = "panic",
                                        [PENTA_JAM_BAD_EXPORTS] = "bad exports",
                                        [PENTA_JAM_OVERSIZE] = "oversize",
                                        [PENTA_JAM_NO_CODE] = "no code",
                                        [PENTA_JAM_BIG_CODE] = "code too big"};
    return (unsigned)exit < sizeof names / sizeof *names ? names[exit] : "?";
}

void penta_jam_result_free(penta_jam_result *result)
{
    penta_buffer_free(&result->output);
    penta_buffer_free(&result->exports);
    penta_buffer_free(&result->transfers);
    *result = (penta_jam_result){0};
}
