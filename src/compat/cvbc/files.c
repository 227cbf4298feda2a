/* Implements the functions about statuses, reports, keys, files and the contents of files. */
#include "compat/cvbc/handles.h"
#include <string.h>
#include "penta/debug.h"

#define STATUS(number, name, ...) _Static_assert((int)CVBC_ERR_##name == number, #name);
#define RULE(...)
#include "cvbc/rules.def"

const char *cvbc_status_name(cvbc_status status)
{
    return penta_cvbc_status_name((uint32_t)status);
}

void report_begin(cvbc_report *report)
{
    if (report) memset(report, 0, sizeof *report);
}

void report_add(void *user, const penta_error *finding)
{
    cvbc_report *report = user;
    bool warning = finding->severity == PENTA_WARNING;
    if (!report) return;
    if (warning)
        report->warnings++;
    else if (!report->errors++)
        report->status = status_of(finding);
    if (report->count == CVBC_REPORT_MESSAGES) return;
    cvbc_message *m = &report->messages[report->count++];
    *m = (cvbc_message){.status = warning ? CVBC_OK : status_of(finding),
                        .warning = warning,
                        .offset = finding->offset,
                        .decoded = finding->decoded};
    memcpy(m->text, finding->message, sizeof m->text);
    memcpy(m->note, finding->note, sizeof m->note);
}

void cvbc_free(void *data) { free(data); }

static cvbc_status key_new(penta_buffer *pem, bool private, cvbc_key **out)
{
    penta_error err;
    cvbc_key *key = calloc(1, sizeof *key);
    if (key && penta_cvbc_key_read(view_of(pem), &key->public, &err)) {
        key->pem = *pem;
        key->private = private;
        *out = key;
        return CVBC_OK;
    }
    penta_cvbc_wipe(pem);
    cvbc_status status = key ? status_of(&err) : CVBC_ERR_NOMEM;
    free(key);
    return status;
}

cvbc_status cvbc_key_generate(int algorithm, cvbc_key **out)
{
    penta_buffer pem = {0};
    penta_error err;
    if (!out) return CVBC_ERR_ARG;
    *out = NULL;
    if (!penta_cvbc_key_generate((uint32_t)algorithm, &pem, &err)) return status_of(&err);
    return key_new(&pem, true, out);
}

static bool files_contains(const char *text, size_t size, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= size; i++)
        if (!memcmp(text + i, word, n)) return true;
    return false;
}

cvbc_status cvbc_key_load_pem(const char *text, size_t size, cvbc_key **out)
{
    if (!text || !out) return CVBC_ERR_ARG;
    *out = NULL;
    penta_buffer pem = {malloc(size + 1), size, size + 1};
    if (!pem.data) return CVBC_ERR_NOMEM;
    memcpy(pem.data, text, size);
    pem.data[size] = 0;
    return key_new(&pem, files_contains(text, size, "PRIVATE KEY-----"), out);
}

static cvbc_status text_of(penta_buffer *from, char **out)
{
    char *text = malloc(from->size + 1);
    if (text) {
        memcpy(text, from->data, from->size);
        text[from->size] = 0;
    }
    *out = text;
    return text ? CVBC_OK : CVBC_ERR_NOMEM;
}

cvbc_status cvbc_key_private_pem(const cvbc_key *key, char **out)
{
    penta_buffer pem = key->pem;
    return key->private ? text_of(&pem, out) : CVBC_ERR_KEY;
}

cvbc_status cvbc_key_public_pem(const cvbc_key *key, char **out)
{
    penta_buffer pem = {0};
    penta_error err;
    if (!penta_cvbc_key_public(view_of(&key->pem), &pem, &err)) return status_of(&err);
    cvbc_status status = text_of(&pem, out);
    penta_buffer_free(&pem);
    return status;
}

size_t cvbc_key_public(const cvbc_key *key, uint8_t raw[260])
{
    memcpy(raw, key->public.raw, key->public.size);
    return key->public.size;
}

void cvbc_key_fingerprint(const cvbc_key *key, uint8_t sha256[32])
{
    memcpy(sha256, key->public.fingerprint, 32);
}

int cvbc_key_algorithm(const cvbc_key *key) { return (int)key->public.type; }

void cvbc_key_free(cvbc_key *key)
{
    if (key) penta_cvbc_wipe(&key->pem);
    free(key);
}

cvbc_status cvbc_check(const uint8_t *data, size_t size, cvbc_report *report)
{
    penta_error err;
    cvbc_report local;
    if (!report) report = &local;
    report_begin(report);
    penta_module *module = penta_cvbc_open(bytes_at(data, size), NULL, &err);
    if (!module) {
        report_add(report, &err);
        return report->status;
    }
    penta_cvbc_check(module, false, report_add, report);
    penta_close(module);
    return report->status;
}

cvbc_status cvbc_open(const uint8_t *data, size_t size, const cvbc_policy *policy, cvbc_file **out)
{
    penta_error err = {0};
    penta_cvbc_policy p = {0};
    penta_bytes *trusted = NULL;
    if (!out || (!data && size)) return CVBC_ERR_ARG;
    *out = NULL;
    if (policy) {
        trusted = calloc(policy->trusted_key_count + 1, sizeof *trusted);
        if (!trusted) return CVBC_ERR_NOMEM;
        for (size_t i = 0; i < policy->trusted_key_count; i++)
            trusted[i] = view_of(&policy->trusted_keys[i]->pem);
        p = (penta_cvbc_policy){.trusted = trusted,
                                .trusted_count = policy->trusted_key_count,
                                .secret = bytes_at(policy->secret, policy->secret_size),
                                .require_signature = policy->require_signature,
                                .inflate_max = policy->max_inflate,
                                .iterations_max = policy->max_iterations};
    }
    cvbc_file *file = calloc(1, sizeof *file);
    if (file) file->module = penta_cvbc_open(bytes_at(data, size), &p, &err);
    free(trusted);
    penta_cvbc_verdict verdict = {.status = file ? penta_cvbc_status(err.code) : CVBC_ERR_NOMEM};
    if (file && file->module) penta_cvbc_verify(file->module, false, false, &verdict);
    if (verdict.status)
        cvbc_close(file);
    else
        *out = file;
    return (cvbc_status)verdict.status;
}

void cvbc_close(cvbc_file *file)
{
    if (file) penta_close(file->module);
    free(file);
}

bool cvbc_is_trusted(const cvbc_file *file, uint8_t fingerprint[32])
{
    penta_cvbc_verdict verdict;
    penta_cvbc_verify(file->module, false, false, &verdict);
    if (verdict.trust != PENTA_CVBC_TRUST_KEY) return false;
    if (fingerprint) memcpy(fingerprint, verdict.fingerprint, 32);
    return true;
}

/* An opened file has passed every check, so the counts that the functions below read fit their
 * section. */

static penta_bytes files_part(const cvbc_file *file, const char *name)
{
    penta_bytes bytes = {0};
    penta_error err;
    return penta_cvbc_part(file->module, name, &bytes, &err) ? bytes : (penta_bytes){0};
}

void cvbc_get_header(const cvbc_file *file, cvbc_header_t *out)
{
    memcpy(out, files_part(file, "header").data, sizeof *out);
}

void cvbc_get_metadata(const cvbc_file *file, cvbc_core_metadata_t *out)
{
    memcpy(out, files_part(file, "metadata").data, sizeof *out);
}

bool cvbc_get_pin(const cvbc_file *file, size_t i, cvbc_pin_config_t *out)
{
    penta_bytes metadata = files_part(file, "metadata");
    cvbc_core_metadata_t core;
    memcpy(&core, metadata.data, sizeof core);
    if (i >= core.pin_config_count) return false;
    memcpy(out, metadata.data + sizeof core + i * sizeof *out, sizeof *out);
    return true;
}

bool cvbc_get_dependency(const cvbc_file *file, size_t i, cvbc_dependency_t *out)
{
    penta_bytes metadata = files_part(file, "metadata");
    cvbc_core_metadata_t core;
    memcpy(&core, metadata.data, sizeof core);
    if (i >= core.dependency_count) return false;
    size_t from = sizeof core + core.pin_config_count * sizeof(cvbc_pin_config_t);
    memcpy(out, metadata.data + from + i * sizeof *out, sizeof *out);
    return true;
}

bool cvbc_get_hint(const cvbc_file *file, size_t i, cvbc_performance_hint_t *out,
                   const uint8_t **data)
{
    penta_bytes bytes;
    if (!penta_cvbc_hint(file->module, i, &out->hint_type, &out->priority, &bytes)) return false;
    out->hint_data_size = (uint16_t)bytes.size;
    if (data) *data = bytes.data;
    return true;
}

const uint8_t *cvbc_get_custom(const cvbc_file *file, size_t *size)
{
    penta_bytes custom = files_part(file, "custom");
    *size = custom.size;
    return custom.size ? custom.data : NULL;
}

bool cvbc_get_bytecode(const cvbc_file *file, const vm_instruction_t **code, size_t *count,
                       size_t *entry)
{
    penta_cvbc_program program;
    penta_error err;
    if (!penta_cvbc_program_get(file->module, &program, &err)) return false;
    /* The struct is packed, so the pointer may have any alignment. */
    *code = (const vm_instruction_t *)program.code.data;
    *count = program.count;
    if (entry) *entry = program.entry;
    return true;
}

const char *cvbc_get_string(const cvbc_file *file, size_t id, size_t *length)
{
    penta_bytes text;
    if (!penta_cvbc_string(file->module, id, &text)) return NULL;
    if (length) *length = text.size;
    return (const char *)text.data;
}

const char *cvbc_get_symbol(const cvbc_file *file, size_t i, int *kind, uint32_t *value,
                            size_t *length)
{
    penta_bytes name;
    uint8_t k;
    if (!penta_cvbc_symbol(file->module, i, &k, value, &name)) return NULL;
    *kind = k;
    *length = name.size;
    return (const char *)name.data;
}

uint32_t cvbc_line_for_pc(const cvbc_file *file, size_t pc, const char **name, size_t *length)
{
    penta_line line;
    if (!penta_line_at(file->module, pc, &line)) return 0;
    if (name) *name = (const char *)line.file.data;
    if (length) *length = line.file.size;
    return (uint32_t)line.line;
}

cvbc_status cvbc_verify_bytecode(const vm_instruction_t *code, size_t count, size_t nstrings,
                                 cvbc_report *report)
{
    cvbc_report local;
    if (!report) report = &local;
    report_begin(report);
    if (count > UINT16_MAX || nstrings > UINT32_MAX) return report->status = CVBC_ERR_LIMIT;
    penta_cvbc_verify_code(bytes_at(code, count * sizeof *code), 0, (uint32_t)nstrings, NULL, NULL,
                           report_add, report);
    return report->status;
}

cvbc_status cvbc_check_board(const cvbc_file *file, const cvbc_board *board, cvbc_report *report)
{
    cvbc_report local;
    if (!report) report = &local;
    report_begin(report);
    penta_cvbc_board_check(file->module, board->name, report_add, report);
    return report->status;
}

cvbc_status cvbc_trinity_generate(const cvbc_file **files, size_t count, const cvbc_board *board,
                                  cvbc_sink sink)
{
    penta_buffer out[PENTA_CVBC_TRINITY_FILES] = {{0}};
    penta_error err = {0};
    const penta_module **modules = calloc(count + 1, sizeof *modules);
    if (!modules) return CVBC_ERR_NOMEM;
    for (size_t i = 0; i < count; i++) modules[i] = files[i]->module;
    bool ok = penta_cvbc_trinity(modules, count, board ? board->name : NULL, out, &err);
    cvbc_status status = ok ? CVBC_OK : status_of(&err);
    for (size_t i = 0; ok && i < PENTA_CVBC_TRINITY_FILES; i++) {
        ok = sink.write(sink.user, penta_cvbc_trinity_name(i), out[i].data, out[i].size);
        if (!ok) status = CVBC_ERR_IO;
    }
    for (size_t i = 0; i < PENTA_CVBC_TRINITY_FILES; i++) penta_buffer_free(&out[i]);
    free(modules);
    return status;
}
