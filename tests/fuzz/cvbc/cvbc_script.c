/* Reads any bytes as a script of inputs for a program that waits for them. A script that can be
 * read must give the same output when waiting loops are executed and when they are skipped. What
 * is printed depends only on the number of instructions that would have been executed, so the
 * longer output starts with the shorter one. */
#include <sys/mman.h>
#include <unistd.h>
#include "fuzz.h"
#include "penta/session_struct.h"

static const char program[] =
    ".target target_features=0x2f uart_instances_mask=0x1 i2c_instances_mask=0x1 "
    "spi_instances_mask=0x1 adc_channels_mask=0xff\n"
    ".dependency \"cvbc\" min_version_major=1 min_version_minor=3 required_features=3 "
    "compatibility_level=abi criticality=enforced\n"
    ".string \"%u %d %d\\n\"\n"
    "PUSH 5\n PUSH 7\n PUSH 1\n ATTACH\n PUSH 6\n PUSH 8\n PUSH 0\n ATTACH\n"
    "PUSH 10\n PUSH 1\n PIN_MODE\n"
    "again: PUSH 2\n DIGITAL_READ\n JMP_TRUE high\n"
    "PUSH 3\n ANALOG_READ\n PUSH 600\n GT_S\n JMP_FALSE again\n"
    "high: MICROS\n PUSH 2\n DIGITAL_READ\n PUSH 3\n ANALOG_READ\n PUSH 3\n PRINTF 0\n"
    "MICROS\n TAKE\n PUSH 0\n PUSH 1\n SPI_TRANSFER\n PUSH 3\n PRINTF 0\n"
    "PUSH 0\n PUSH 104\n I2C_BEGIN\n PUSH 0\n PUSH 16\n I2C_WRITE\n PUSH 0\n I2C_END\n"
    "PUSH 0\n PUSH 104\n PUSH 2\n I2C_REQUEST\n PUSH 0\n I2C_READ\n PUSH 3\n PRINTF 0\n"
    "PUSH 50\n WAIT\n MILLIS\n STORE_GLOBAL 0\n"
    "wait: MILLIS\n LOAD_GLOBAL 0\n SUB\n PUSH 20\n LT_S\n JMP_FALSE again\n"
    "PENDING\n JMP_TRUE again\n PUSH 4\n DIGITAL_READ\n JMP_FALSE wait\n JMP again\n";

static bool run_script(const penta_module *module, const char *path, const char *hz, bool plain,
                       struct writer *out)
{
    penta_option options[] = {
        {"script", path}, {"clock-hz", hz}, {"budget", "20000"}, {"plain", "1"}};
    penta_error err = {0};
    penta_session *s = penta_session_new(module, NULL, options, plain ? 4 : 3, NULL, &err);
    CHECK(!s == !!err.code);
    if (!s) return false;
    penta_stop stop;
    penta_session_run(s, UINT64_MAX, &stop);
    CHECK(stop.kind == PENTA_STOP_TRAP);
    writer_bytes(out, s->output.out.data, s->output.out.size);
    penta_session_free(s);
    return true;
}

void fuzz_one(const uint8_t *data, size_t size)
{
    static const char *const rates[] = {"1000000", "777", "1000", "33000000"};
    struct writer slow = {0}, fast = {0};
    char path[64];
    int file = size ? memfd_create("fuzz", 0) : -1;
    if (file < 0) return;
    CHECK(write(file, data + 1, size - 1) == (ssize_t)(size - 1));
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    penta_module *module = penta_assemble(bytes_of(program), "cvbc", NULL, 0, ignore_finding, NULL);
    CHECK(module);
    const char *hz = rates[data[0] % 4];
    bool read = run_script(module, path, hz, true, &slow);
    CHECK(run_script(module, path, hz, false, &fast) == read);
    size_t shorter = slow.out.size < fast.out.size ? slow.out.size : fast.out.size;
    CHECK(!shorter || !memcmp(slow.out.data, fast.out.data, shorter));
    penta_close(module);
    writer_free(&slow);
    writer_free(&fast);
    close(file);
}
