/* Implements the functions that the document of the format lists, as its examples use them.
 * Values that they need besides their arguments (board, policy, output) are settings of the
 * process. Their results are kept for each thread. */
#include "compat/cvbc/handles.h"
#include <pthread.h>
#include <string.h>

/* An application may define a function of its own with the same name. */
#define OVERRIDABLE __attribute__((weak))

static struct {
    pthread_mutex_t mutex;
    char board[4096]; /* name of the board; empty for the simulator */
    const cvbc_policy *policy;
    cvbc_sink output;
} settings = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local cvbc_status last_status;
static _Thread_local int last_vm_error;

cvbc_status cvbc_last_status(void) { return last_status; }
int cvbc_last_vm_error(void) { return last_vm_error; }

static bool end_with(cvbc_status status)
{
    last_status = status;
    return status == CVBC_OK;
}

uint32_t cvbc_calculate_crc32(const uint8_t *data, size_t length)
{
    return penta_cvbc_crc32(bytes_at(data, length));
}

bool cvbc_validate_format(const uint8_t *file_data, size_t file_size)
{
    cvbc_report ignored;
    penta_error err;
    if (!file_data) return false;
    report_begin(&ignored);
    penta_module *module = penta_cvbc_open(bytes_at(file_data, file_size), NULL, &err);
    bool ok = module && penta_cvbc_check(module, true, report_add, &ignored);
    penta_close(module);
    return ok;
}

bool cvbc_extract_hardware_requirements(const uint8_t *cvbc_data,
                                        cvbc_hardware_requirements_t *requirements)
{
    const cvbc_header_t *header = (const cvbc_header_t *)cvbc_data;
    uint64_t end = (uint64_t)header->metadata_offset + header->metadata_size;
    if (header->metadata_offset < sizeof *header || end > header->total_file_size ||
        header->metadata_size < sizeof(cvbc_core_metadata_t))
        return false;
    const cvbc_core_metadata_t *metadata =
        (const cvbc_core_metadata_t *)(cvbc_data + header->metadata_offset);
    size_t count = metadata->pin_config_count;
    if (count > UINT8_MAX ||
        sizeof *metadata + count * sizeof(cvbc_pin_config_t) > header->metadata_size)
        return false;
    /* In the struct of the document the pointer is not const. */
    *requirements = (cvbc_hardware_requirements_t){
        .pin_count = (uint8_t)count,
        .pin_configs = (cvbc_pin_config_t *)(uintptr_t)(metadata + 1),
        .peripheral_mask = metadata->target_features,
        .feature_requirements = metadata->target_features,
    };
    return true;
}

cvbc_status cvbc_set_board(const cvbc_board *board)
{
    penta_cvbc_board found;
    penta_error err;
    const char *name = board ? board->name : "";
    if (!name || strlen(name) >= sizeof settings.board) return CVBC_ERR_ARG;
    if (*name && !penta_cvbc_board_find(name, &found, &err)) return status_of(&err);
    pthread_mutex_lock(&settings.mutex);
    memcpy(settings.board, name, strlen(name) + 1);
    pthread_mutex_unlock(&settings.mutex);
    return CVBC_OK;
}

void cvbc_set_policy(const cvbc_policy *policy)
{
    pthread_mutex_lock(&settings.mutex);
    settings.policy = policy;
    pthread_mutex_unlock(&settings.mutex);
}

void cvbc_set_output(cvbc_sink sink)
{
    pthread_mutex_lock(&settings.mutex);
    settings.output = sink;
    pthread_mutex_unlock(&settings.mutex);
}

struct loading {
    char board[sizeof settings.board];
    const cvbc_policy *policy;
    cvbc_sink output;
};

static void document_calls_current(struct loading *out)
{
    pthread_mutex_lock(&settings.mutex);
    memcpy(out->board, *settings.board ? settings.board : "host",
           *settings.board ? sizeof out->board : 5);
    out->policy = settings.policy;
    out->output = settings.output;
    pthread_mutex_unlock(&settings.mutex);
}

OVERRIDABLE bool validate_hardware_compatibility(const cvbc_hardware_requirements_t *requirements)
{
    struct loading now;
    penta_cvbc_board board;
    penta_error err;
    document_calls_current(&now);
    if (!penta_cvbc_board_find(now.board, &board, &err)) return end_with(status_of(&err));
    if (board.any) return end_with(CVBC_OK);
    if (requirements->feature_requirements & ~board.features) return end_with(CVBC_ERR_TARGET);
    for (size_t i = 0; i < requirements->pin_count; i++) {
        const cvbc_pin_config_t *pin = &requirements->pin_configs[i];
        if (pin->port_identifier >= board.ports || pin->pin_number >= board.pins)
            return end_with(CVBC_ERR_TARGET);
    }
    return end_with(CVBC_OK);
}

static bool print_to_sink(void *user, const char *text, size_t size)
{
    const cvbc_sink *sink = user;
    return sink->write(sink->user, "printf", (const uint8_t *)text, size);
}

static cvbc_status document_calls_execute(const cvbc_file *file, struct loading *now)
{
    cockpit_vm *vm = cockpit_vm_new();
    if (!vm) return CVBC_ERR_NOMEM;
    cockpit_vm_hal hal = {.user = &now->output, .print = print_to_sink};
    if (now->output.write) cockpit_vm_set_hal(vm, &hal);
    cvbc_status status = cockpit_vm_load(vm, file);
    if (!status) {
        last_vm_error = cockpit_vm_run(vm, 0);
        if (last_vm_error)
            status = last_vm_error == COCKPIT_VM_BUDGET ? CVBC_ERR_LIMIT : CVBC_ERR_BYTECODE;
    }
    cockpit_vm_free(vm);
    return status;
}

OVERRIDABLE bool load_vm_program(const uint8_t *cvbc_data)
{
    struct loading now;
    cvbc_file *file = NULL;
    cvbc_report report;
    last_vm_error = COCKPIT_VM_OK;
    if (!cvbc_data) return end_with(CVBC_ERR_ARG);
    document_calls_current(&now);
    cvbc_status status = cvbc_open(cvbc_data, ((const cvbc_header_t *)cvbc_data)->total_file_size,
                                   now.policy, &file);
    bool careful = !now.policy || !now.policy->allow_unverified;
    report_begin(&report);
    if (!status && careful && !penta_validate(file->module, report_add, &report))
        status = report.status;
    cvbc_board board = {now.board};
    if (!status) status = cvbc_check_board(file, &board, NULL);
    if (!status) status = document_calls_execute(file, &now);
    cvbc_close(file);
    return end_with(status);
}

/* The functions below are for programs older than the container. */

static pthread_key_t converted_key;
static pthread_once_t converted_once = PTHREAD_ONCE_INIT;

static void converted_free(void *buffer)
{
    penta_buffer_free(buffer);
    free(buffer);
}

static void converted_init(void) { pthread_key_create(&converted_key, converted_free); }

/* Returns the buffer of the current thread, which is freed when the thread ends, or NULL if
 * memory ran out. */
static penta_buffer *document_calls_converted(void)
{
    pthread_once(&converted_once, converted_init);
    penta_buffer *buffer = pthread_getspecific(converted_key);
    if (buffer) return buffer;
    buffer = calloc(1, sizeof *buffer);
    if (buffer && pthread_setspecific(converted_key, buffer)) {
        free(buffer);
        buffer = NULL;
    }
    return buffer;
}

OVERRIDABLE bool is_legacy_format(const uint8_t *data, size_t size)
{
    penta_cvbc_legacy layout;
    return data && penta_cvbc_legacy_detect(bytes_at(data, size), &layout);
}

OVERRIDABLE bool convert_legacy_to_cvbc(const uint8_t *data, size_t size)
{
    penta_buffer *out = document_calls_converted();
    cvbc_report report;
    if (!out) return end_with(CVBC_ERR_NOMEM);
    penta_buffer_free(out);
    *out = (penta_buffer){0};
    report_begin(&report);
    if (penta_cvbc_legacy_convert(bytes_at(data, size), NULL, false, out, report_add, &report))
        return end_with(CVBC_OK);
    return end_with(report.status ? report.status : CVBC_ERR_NOMEM);
}

bool cvbc_load_legacy_format(const uint8_t *data, size_t size)
{
    if (!is_legacy_format(data, size)) return end_with(CVBC_ERR_LEGACY);
    return convert_legacy_to_cvbc(data, size);
}

const uint8_t *cvbc_legacy_result(size_t *size)
{
    const penta_buffer *out = document_calls_converted();
    *size = out ? out->size : 0;
    return *size ? out->data : NULL;
}
