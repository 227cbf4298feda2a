/* Opens a machine as the options say, and makes it ready for its first call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file/file.h"
#include "base/number.h"
#include "core/map_option.h"
#include "pvm/vm/vm.h"

const struct pvm_profile *pvm_default_profile(const struct pvm_program *program)
{
    return pvm_profile_find(program->dialect == PVM_JAM ? "gp-0.8" : "polkavm");
}

static bool read_gas(struct pvm_config *config, const char *text, penta_error *err)
{
    uint64_t gas = 0;
    if (!number_parse(text, &gas) || gas > INT64_MAX)
        return error_at(err, BASE_OPTION_VALUE, 0, "gas '%.40s' is not a number below 2^63", text);
    config->metered = true;
    config->gas = (int64_t)gas;
    return true;
}

/* Reads the size of a page. Programs of the jam dialect have pages of 4096 bytes; for other
 * programs the host chooses. */
static bool read_page(struct pvm_config *config, const struct pvm_program *program,
                      const char *text, penta_error *err)
{
    uint64_t n = PVM_PAGE;
    if (text && (!number_parse(text, &n) || n < PVM_PAGE || n > PVM_PAGE_MAX || n & (n - 1)))
        return error_at(err, BASE_OPTION_VALUE, 0,
                        "page-size '%.40s' is no power of two from 4096 to 65536", text);
    if (n != PVM_PAGE && program->dialect == PVM_JAM)
        return error_at(err, BASE_OPTION_VALUE, 0, "jam programs have pages of 4096 bytes");
    config->page = (uint32_t)n;
    return true;
}

bool pvm_config_read(struct pvm_config *config, const struct pvm_program *program,
                     const penta_option *options, size_t count, penta_error *err)
{
    const char *profile = option_text(options, count, "profile");
    const char *model = option_text(options, count, "gas-model");
    const char *gas = option_text(options, count, "gas");
    *config = (struct pvm_config){.profile = profile ? pvm_profile_find(profile)
                                                     : pvm_default_profile(program)};
    if (!config->profile) return error_not_in(err, "profile", profile, pvm_profile_name);
    config->model = config->profile->gas;
    config->paging = option_text(options, count, "paging") != NULL;
    config->perf_map = option_text(options, count, "perf-map") != NULL;
    config->perf_dump = option_text(options, count, "perf-dump");
    if (config->perf_dump && access(config->perf_dump, W_OK | X_OK))
        return error_at(err, BASE_OPTION_VALUE, 0, "perf-dump: no files can be made in '%.200s'",
                        config->perf_dump);
    config->poll = option_text(options, count, "poll") != NULL;
    if (!read_page(config, program, option_text(options, count, "page-size"), err)) return false;
    const char *mode = option_text(options, count, "gas-mode");
    if (mode && strcmp(mode, "sync") && strcmp(mode, "async"))
        return error_at(err, BASE_OPTION_VALUE, 0, "gas-mode '%.40s' is not sync or async", mode);
    config->async = mode && !strcmp(mode, "async");
    if (model && !pvm_gas_model_parse(model, &config->model))
        return error_not_in(err, "gas model", model, pvm_gas_model_name);
    if (config->async && config->model == PVM_GAS_STEP)
        return error_at(err, BASE_OPTION_VALUE, 0,
                        "gas model step stops at the instruction: gas-mode async cannot");
    return !gas || read_gas(config, gas, err);
}

static bool number_signed(const char *text, uint64_t *value)
{
    bool negative = *text == '-';
    if (!number_parse(text + negative, value)) return false;
    if (negative) *value = 0 - *value;
    return true;
}

static bool register_number(penta_bytes name, unsigned *reg)
{
    for (unsigned i = 0; i < PVM_REGISTERS; i++) {
        char plain[8];
        snprintf(plain, sizeof plain, "r%u", i);
        const char *names[] = {pvm_register_names[i], plain};
        for (unsigned k = 0; k < 2; k++)
            if (strlen(names[k]) == name.size && !memcmp(names[k], name.data, name.size)) {
                *reg = i;
                return true;
            }
    }
    return false;
}

static const uint8_t argument_registers[PVM_ARGUMENTS] = {PVM_A0, PVM_A1, PVM_A2, PVM_A3, PVM_A4,
                                                          PVM_A5, PVM_T0, PVM_T1, PVM_T2};

/* Sets the registers that the options from `from` to `to` give. */
static bool apply_values(uint64_t *regs, const penta_option *options, size_t from, size_t to,
                         penta_error *err)
{
    unsigned argument = 0;
    for (size_t i = from; i < to; i++) {
        const char *text = options[i].value;
        if (!strcmp(options[i].key, "arg")) {
            if (argument == PVM_ARGUMENTS)
                return error_at(err, BASE_OPTION_VALUE, 0, "more than nine arguments");
            if (!number_signed(text, &regs[argument_registers[argument++]]))
                return error_at(err, BASE_OPTION_VALUE, 0, "arg '%.40s' is not a number", text);
        } else if (!strcmp(options[i].key, "reg")) {
            const char *equals = strchr(text, '=');
            unsigned reg;
            uint64_t value;
            if (!equals || !number_signed(equals + 1, &value) ||
                !register_number((penta_bytes){(const uint8_t *)text, (size_t)(equals - text)},
                                 &reg))
                return error_at(err, BASE_OPTION_VALUE, 0, "reg '%.40s' is not NAME=N", text);
            regs[reg] = value;
        }
    }
    return true;
}

bool pvm_starts_call(const penta_option *o)
{
    return !strcmp(o->key, "call") || !strcmp(o->key, "pc") || !strcmp(o->key, "entry");
}

static bool names_exports(const struct pvm_program *p, penta_error *err, const char *what,
                          const char *name)
{
    char list[100] = "";
    size_t used = 0;
    for (size_t i = 0; i < p->export_count; i++) {
        penta_bytes n = p->exports[i].name;
        if (used + n.size + 3 > sizeof list) {
            if (used + 4 < sizeof list) strcpy(list + used, " ..");
            break;
        }
        if (used) list[used++] = ' ';
        bytes_copy(list + used, n);
        list[used += n.size] = 0;
    }
    error_at(err, BASE_OPTION_VALUE, 0, "%s%.60s", what, name);
    return error_note(err, "%s%s", p->export_count ? "exports: " : "it has no exports", list);
}

static const struct {
    const char *name;
    uint32_t pc;
} entries[] = {{"refine", 0}, {"is-authorized", 0}, {"accumulate", 5}, {"on-transfer", 10}};
enum { ENTRIES = sizeof entries / sizeof *entries };

const char *pvm_entry_name(size_t i) { return i < ENTRIES ? entries[i].name : NULL; }

static bool call_target(const struct pvm_program *p, const penta_option *o, uint32_t *pc,
                        penta_error *err)
{
    uint64_t n;
    if (!strcmp(o->key, "entry")) {
        for (size_t i = 0; i < ENTRIES; i++)
            if (!strcmp(o->value, entries[i].name)) {
                *pc = entries[i].pc;
                return true;
            }
        return error_not_in(err, "entry", o->value, pvm_entry_name);
    }
    if (!strcmp(o->key, "pc")) {
        if (!number_parse(o->value, &n) || n > UINT32_MAX)
            return error_at(err, BASE_OPTION_VALUE, 0, "pc '%.40s' is not a code offset", o->value);
        *pc = (uint32_t)n;
        return true;
    }
    size_t size = strlen(o->value);
    for (size_t i = 0; i < p->export_count; i++)
        if (p->exports[i].name.size == size && !memcmp(p->exports[i].name.data, o->value, size)) {
            *pc = p->exports[i].pc;
            return true;
        }
    return names_exports(p, err, "no export is called ", o->value);
}

static void start_registers(const struct pvm_vm *vm, const struct pvm_program *p,
                            uint64_t arguments, uint64_t *regs)
{
    if (p->dialect == PVM_JAM && !p->spi) { /* A generic program has no calling convention. */
        memset(regs, 0, PVM_REGISTERS * sizeof *regs);
        return;
    }
    pvm_vm_call_registers(vm, regs);
    if (p->dialect != PVM_JAM) return;
    regs[PVM_A0] = vm->layout.aux;
    regs[PVM_A1] = arguments;
}

/* Queues the calls that the options ask for, and begins the first one. */
static bool queue_calls(struct pvm_vm *vm, const struct pvm_program *p, uint64_t arguments,
                        const penta_option *options, size_t count, penta_error *err)
{
    size_t first = 0, calls = 0;
    for (size_t i = 0; i < count; i++) calls += pvm_starts_call(&options[i]);
    while (first < count && !pvm_starts_call(&options[first])) first++;
    if (!calls && p->export_count > 1)
        return names_exports(p, err, "more than one export: option 'call' chooses one", "");
    vm->calls = calloc(calls + 1, sizeof *vm->calls);
    if (!vm->calls) return error_at(err, BASE_MEMORY, 0, "no memory for the calls");
    vm->call_count = calls ? calls : 1;
    if (!calls) vm->calls[0].pc = p->export_count ? p->exports[0].pc : 0;
    size_t k = 0, i = first;
    do {
        size_t next = i < count ? i + 1 : count;
        struct pvm_call *call = &vm->calls[k++];
        if (i < count && !call_target(p, &options[i], &call->pc, err)) return false;
        while (next < count && !pvm_starts_call(&options[next])) next++;
        start_registers(vm, p, arguments, call->regs);
        if (!apply_values(call->regs, options, 0, first, err) ||
            !apply_values(call->regs, options, i < count ? i : count, next, err))
            return false;
        for (unsigned j = 0; vm->w32 && j < PVM_REGISTERS; j++)
            call->regs[j] = (uint32_t)call->regs[j];
        i = next;
    } while (i < count);
    pvm_vm_begin(vm, &vm->calls[vm->next_call++]);
    return true;
}

static bool map_option(struct pvm_vm *vm, const char *text, penta_error *err)
{
    struct map_option map;
    if (!map_option_parse(text, &map, err)) return false;
    penta_bytes contents = {map.contents.data, map.contents.size};
    uint64_t page = vm->memory.page, length = (map.length + page - 1) / page * page;
    if (map.length > UINT32_MAX || map.address % page ||
        !pvm_memory_map(&vm->memory, map.address, length, !map.read_only, contents, true))
        error_at(err, BASE_OPTION_VALUE, 0, "map '%.40s' does not start at a page or is too large",
                 text);
    penta_buffer_free(&map.contents);
    return !err->code;
}

static bool aux_bytes(const struct pvm_program *p, const penta_option *options, size_t count,
                      penta_buffer *out, penta_error *err)
{
    const char *aux = option_text(options, count, "aux");
    const char *arguments = option_text(options, count, "spi-args");
    if (arguments && p->dialect != PVM_JAM)
        return error_at(err, BASE_OPTION_VALUE, 0, "spi-args are for standard programs of jam");
    if (aux && !file_read(aux, UINT64_C(1) << 31, out, err)) return false;
    if (!arguments) return true;
    penta_buffer_free(out);
    out->data =
        hex_parse((penta_bytes){(const uint8_t *)arguments, strlen(arguments)}, &out->size, err);
    return out->data ||
           error_at(err, BASE_OPTION_VALUE, 0, "spi-args '%.40s' is not hex", arguments);
}

static bool run_options_fill(struct pvm_vm *vm, const struct pvm_program *p,
                             const penta_option *options, size_t count, penta_error *err)
{
    penta_buffer aux = {0};
    const char *host = option_text(options, count, "host");
    bool ok = aux_bytes(p, options, count, &aux, err) &&
              pvm_vm_populate(vm, p, (penta_bytes){aux.data, aux.size}, err);
    for (size_t i = 0; ok && i < count; i++)
        if (!strcmp(options[i].key, "map")) ok = map_option(vm, options[i].value, err);
    vm->fresh_calls = host && !strcmp(host, "revive");
    ok = ok && queue_calls(vm, p, aux.size, options, count, err);
    penta_buffer_free(&aux);
    return ok;
}

penta_vm *pvm_vm_open_with(const penta_module *module, const penta_option *options, size_t count,
                           pvm_adopt_fn *adopt, struct long_work *work, penta_error *err)
{
    const struct pvm_program *p = &pvm_module(module)->program;
    struct pvm_config config;
    if (!pvm_config_read(&config, p, options, count, err)) return NULL;
    config.adopt = adopt;
    config.work = work;
    struct pvm_vm *vm = pvm_vm_create(module, &p->code, &config, NULL, err);
    if (!vm) return NULL;
    if (run_options_fill(vm, p, options, count, err)) return &vm->base;
    /* The engine closes the machine, because the engine may have added a second one. */
    vm->base.engine->close(&vm->base);
    return NULL;
}
