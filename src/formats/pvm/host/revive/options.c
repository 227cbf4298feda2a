/* Makes the chain and the transactions from the options. Options before the first "call" hold
 * for all calls, and those after a "call" only for that one. */
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/number.h"
#include "pvm/host/revive/revive.h"

static penta_bytes text_without_0x(penta_bytes text)
{
    if (text.size >= 2 && text.data[0] == '0' && (text.data[1] | 32) == 'x')
        return (penta_bytes){text.data + 2, text.size - 2};
    return text;
}

bool revive_address_parse(penta_bytes text, uint8_t out[ADDRESS])
{
    size_t size = 0;
    uint8_t *bytes = hex_parse(text_without_0x(text), &size, NULL);
    bool ok = bytes && size == ADDRESS;
    if (ok) memcpy(out, bytes, ADDRESS);
    free(bytes);
    return ok;
}

static bool address_option(const penta_option *o, uint8_t out[ADDRESS], penta_error *err)
{
    return revive_address_parse(bytes_of(o->value), out) ||
           error_at(err, BASE_OPTION_VALUE, 0, "%s is not %d bytes in hex", o->key, ADDRESS);
}

static bool number_option(const penta_option *o, struct u256 *out, penta_error *err)
{
    return revive_u256_parse(bytes_of(o->value), out) ||
           error_at(err, BASE_OPTION_VALUE, 0, "%s is not a number below 2^256", o->key);
}

/* The functions below read options of the form ADDRESS=SOMETHING. */

static const char *address_and(const penta_option *o, uint8_t address[ADDRESS], penta_error *err)
{
    const char *equals = strchr(o->value, '=');
    if (equals &&
        revive_address_parse((penta_bytes){(const uint8_t *)o->value, (size_t)(equals - o->value)},
                             address))
        return equals + 1;
    error_at(err, BASE_OPTION_VALUE, 0, "%s '%.50s' does not start with an address and '='", o->key,
             o->value);
    return NULL;
}

static bool balance_option(struct pvm_revive *r, const penta_option *o, penta_error *err)
{
    uint8_t address[ADDRESS];
    const char *rest = address_and(o, address, err);
    if (!rest) return false;
    struct account *a = revive_chain_account(&r->chain, address);
    if (!a) return error_at(err, BASE_MEMORY, 0, "no memory for the chain");
    a->counted = true;
    return revive_u256_parse(bytes_of(rest), &a->is.balance) ||
           error_at(err, BASE_OPTION_VALUE, 0, "balance '%.50s' is not ADDRESS=N", o->value);
}

static bool options_install(struct pvm_revive *r, const uint8_t address[ADDRESS], struct code *code,
                            penta_error *err)
{
    struct account *a = revive_chain_account(&r->chain, address);
    if (!a) return error_at(err, BASE_MEMORY, 0, "no memory for the chain");
    if (a->is.contract) return error_at(err, BASE_OPTION_VALUE, 0, "two contracts at one address");
    if (!code->has_call)
        return error_at(err, BASE_OPTION_VALUE, 0, "a contract without an export 'call'");
    a->is.code = code;
    a->is.contract = true;
    a->is.nonce = 1;
    return true;
}

static bool contract_option(struct pvm_revive *r, const penta_option *o, penta_error *err)
{
    uint8_t address[ADDRESS];
    const char *path = address_and(o, address, err);
    struct code *code = path ? revive_code_read(r, path, err) : NULL;
    return code && options_install(r, address, code, err);
}

static bool chain_option(struct pvm_revive *r, const penta_option *o, penta_error *err)
{
    if (!strcmp(o->key, "contract")) return contract_option(r, o, err);
    if (!strcmp(o->key, "balance")) return balance_option(r, o, err);
    if (!strcmp(o->key, "upload")) return revive_code_read(r, o->value, err) != NULL;
    if (!strcmp(o->key, "block")) return number_option(o, &r->block.number, err);
    return true;
}

static bool option_is_call(const penta_option *o)
{
    return !strcmp(o->key, "call") || !strcmp(o->key, "pc") || !strcmp(o->key, "entry");
}

static bool input_option(struct transaction *t, const penta_option *o, penta_error *err)
{
    size_t size = 0;
    uint8_t *bytes = hex_parse(text_without_0x(bytes_of(o->value)), &size, err);
    if (!bytes) return error_at(err, BASE_OPTION_VALUE, 0, "calldata is not hex");
    free(t->input.data);
    t->input = (struct blob){bytes, size};
    return true;
}

static bool gas_option(struct transaction *t, const penta_option *o, penta_error *err)
{
    t->has_gas = number_parse(o->value, &t->gas) && t->gas <= INT64_MAX;
    return t->has_gas || error_at(err, BASE_OPTION_VALUE, 0, "gas is not a number below 2^63");
}

static bool transaction_option(struct transaction *t, const penta_option *o, bool own,
                               penta_error *err)
{
    if (!strcmp(o->key, "calldata")) return input_option(t, o, err);
    if (!strcmp(o->key, "value")) return number_option(o, &t->value, err);
    if (!strcmp(o->key, "time")) return number_option(o, &t->time, err);
    if (!strcmp(o->key, "caller")) return address_option(o, t->caller, err);
    if (!strcmp(o->key, "address")) return address_option(o, t->address, err);
    if (!strcmp(o->key, "gas") && own) return gas_option(t, o, err);
    return true;
}

static enum entry option_entry(const penta_option *o, const struct pvm_program *p)
{
    penta_bytes name = {0};
    if (o && !strcmp(o->key, "call")) name = bytes_of(o->value);
    if (!o && p->export_count) name = p->exports[0].name;
    if (name.size == 4 && !memcmp(name.data, "call", 4)) return ENTRY_CALL;
    if (name.size == 6 && !memcmp(name.data, "deploy", 6)) return ENTRY_DEPLOY;
    return ENTRY_OTHER;
}

/* Reads the options of one call, which are options[0..first] and options[at..to]. A call goes to
 * the same contract as the call before, unless it gives an address. */
static bool read_transaction(struct pvm_revive *r, struct transaction *t,
                             const penta_option *options, size_t first, size_t at, size_t to,
                             penta_error *err)
{
    const struct transaction *before = t == r->transactions ? NULL : t - 1;
    memset(t->caller, 0x11, ADDRESS);
    memset(t->address, 0x22, ADDRESS);
    t->time = r->block.time;
    t->entry = option_entry(at < to ? &options[at] : NULL, &pvm_module(r->module)->program);
    bool ok = true;
    for (size_t i = 0; ok && i < first; i++) ok = transaction_option(t, &options[i], false, err);
    if (before) memcpy(t->address, before->address, ADDRESS);
    for (size_t i = at; ok && i < to; i++) ok = transaction_option(t, &options[i], true, err);
    return ok;
}

static bool read_transactions(struct pvm_revive *r, const penta_option *options, size_t count,
                              penta_error *err)
{
    size_t calls = 0, first = 0;
    for (size_t i = 0; i < count; i++) calls += option_is_call(&options[i]);
    while (first < count && !option_is_call(&options[first])) first++;
    r->transactions = calloc(calls + 1, sizeof *r->transactions);
    if (!r->transactions) return error_at(err, BASE_MEMORY, 0, "no memory for the calls");
    r->transaction_count = calls ? calls : 1;
    for (size_t k = 0, at = first; k < r->transaction_count; k++) {
        size_t to = at < count ? at + 1 : count;
        while (to < count && !option_is_call(&options[to])) to++;
        if (!read_transaction(r, &r->transactions[k], options, first, at, to, err)) return false;
        at = to;
    }
    return true;
}

/* Makes the program a contract at the address of the first call, when that call is no deployment
 * and no contract is there. */
static bool install_program(struct pvm_revive *r, penta_error *err)
{
    const struct transaction *t = &r->transactions[0];
    const struct account *a = revive_chain_find(&r->chain, t->address);
    if (t->entry == ENTRY_DEPLOY || (a && a->is.contract)) return true;
    if (t->entry == ENTRY_CALL) return options_install(r, t->address, r->program, err);
    struct account *new = revive_chain_account(&r->chain, t->address);
    if (!new) return error_at(err, BASE_MEMORY, 0, "no memory for the chain");
    new->is.contract = true;
    new->is.nonce = 1;
    new->is.code = r->program;
    return true;
}

bool revive_options_read(struct pvm_revive *r, const penta_option *options, size_t count,
                         penta_error *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        if (!strcmp(options[i].key, "state")) ok = revive_state_read(r, options[i].value, err);
    for (size_t i = 0; ok && i < count; i++) ok = chain_option(r, &options[i], err);
    return ok && read_transactions(r, options, count, err) && install_program(r, err);
}
