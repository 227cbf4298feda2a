/* Tests kernel blobs without a device: built, checked, decoded, executed, and as text. */
#include "device.h"

/* Builds one of every instruction that the builder has. */
static void blobs_test_built(void)
{
    static const kblob_inst expected[] = {
        {1, 0, 0, 0, 0},      {2, 0, 0, 0x1000, 0xab}, {3, 0, 0, 0x1008, 0x11223344},
        {4, 0, 0, 0x1000, 0}, {5, 0, 0, 0x1008, 0},    {6, 0, 0, 0x1009, 2},
        {7, 0, 0, 0, 25},     {8, 0, 0, 0, 0},
    };
    enum { COUNT = sizeof expected / sizeof *expected };
    kblob_inst back[COUNT];
    void *blob, *again;
    size_t size, size_again, count;
    kblob_builder *b = kblob_builder_new();
    /* The blob is empty. */
    REQUIRE(b && kblob_builder_finish(b, 0, &blob, &size) == -1 && !blob && !size);
    REQUIRE(!kblob_builder_nop(b) && !kblob_builder_write8(b, 0x1000, 0xab));
    REQUIRE(!kblob_builder_write64(b, 0x1008, 0x11223344) && !kblob_builder_read8(b, 0x1000));
    REQUIRE(!kblob_builder_read64(b, 0x1008) && !kblob_builder_memset(b, 0x1009, 2));
    REQUIRE(!kblob_builder_sleep(b, 25) && !kblob_builder_halt(b));
    REQUIRE(!kblob_builder_finish(b, 0, &blob, &size) && size == 16 + 16 * COUNT);
    REQUIRE(kblob_validate(blob, size, 0, NULL) == KBLOB_CODE_OK);
    REQUIRE(kblob_decode(blob, size, back, COUNT, &count) == KBLOB_CODE_OK && count == COUNT);
    for (size_t i = 0; i < COUNT; i++)
        REQUIRE(back[i].opcode == expected[i].opcode && !back[i].flags && !back[i].reserved &&
                back[i].arg0 == expected[i].arg0 && back[i].arg1 == expected[i].arg1);
    back[1].opcode = 0; /* With room for one instruction, one is written; the count is that of
                         * all. */
    REQUIRE(kblob_decode(blob, size, back, 1, &count) == KBLOB_CODE_OK && count == COUNT);
    REQUIRE(back[0].opcode == 1 && !back[1].opcode);

    REQUIRE(!kblob_builder_finish(b, 1, &again, &size_again) && size_again > size);
    REQUIRE(!memcmp(again, blob, size));
    REQUIRE(kblob_validate(again, size_again, GPU_CHECK_TRAILER, NULL) == KBLOB_CODE_OK);
    ((uint8_t *)again)[size - 16] = 1; /* The last instruction is NOP now, and the checksum is
                                        * wrong. */
    REQUIRE(kblob_validate(again, size_again, 0, NULL) == KBLOB_CODE_OK);
    REQUIRE(kblob_validate(again, size_again, GPU_CHECK_TRAILER, NULL) == KBLOB_CODE_BAD_TRAILER);
    kblob_free(again);
    kblob_free(blob);
    kblob_builder_free(b);
    kblob_builder_free(NULL);
}

/* Checks that the builder refuses an instruction more than a blob may have, and everything after
 * it. */
static void too_many(void)
{
    void *blob;
    size_t size;
    kblob_builder *b = kblob_builder_new();
    for (uint32_t i = 0; i < UINT32_C(1) << 20; i++) REQUIRE(!kblob_builder_nop(b));
    REQUIRE(kblob_builder_halt(b) == -1 && kblob_builder_sleep(b, 1) == -1);
    REQUIRE(kblob_builder_finish(b, 0, &blob, &size) == -1 && !blob);
    kblob_builder_free(b);
}

static void blobs_test_refused(void)
{
    static const struct {
        uint8_t at, value; /* one byte of `NOP; HALT` */
        size_t size;
        kblob_code code;
        uint32_t index;
        const char *name;
    } rows[] = {
        {0, 0x05, 48, KBLOB_CODE_OK, UINT32_MAX, "OK"},
        {0, 0x05, 15, KBLOB_CODE_TRUNCATED_HEADER, UINT32_MAX, "TRUNCATED_HEADER"},
        {0, 0x06, 48, KBLOB_CODE_BAD_MAGIC, UINT32_MAX, "BAD_MAGIC"},
        {12, 0, 48, KBLOB_CODE_EMPTY, UINT32_MAX, "EMPTY"},
        {0, 0x05, 47, KBLOB_CODE_TRUNCATED_CODE, UINT32_MAX, "TRUNCATED_CODE"},
        {32, 0x77, 48, KBLOB_CODE_BAD_OPCODE, 1, "BAD_OPCODE"},
        {33, 1, 48, KBLOB_CODE_BAD_INST_FLAGS, 1, "BAD_INST_FLAGS"},
        {18, 1, 48, KBLOB_CODE_BAD_RESERVED, 0, "BAD_RESERVED"},
    };
    void *blob;
    size_t size, count;
    kblob_inst out[2];
    kblob_result result;
    kblob_memory *mem = kblob_memory_new(0);
    REQUIRE(mem && !kblob_assemble("NOP\nHALT", &blob, &size, NULL, 0) && size == 48);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t bytes[48];
        uint32_t index = 7;
        memcpy(bytes, blob, sizeof bytes);
        bytes[rows[i].at] = rows[i].value;
        REQUIRE(kblob_validate(bytes, rows[i].size, 0, &index) == rows[i].code);
        REQUIRE(index == rows[i].index && !strcmp(kblob_code_name(rows[i].code), rows[i].name));
        REQUIRE(kblob_decode(bytes, rows[i].size, out, 2, &count) == rows[i].code);
        REQUIRE(count == (rows[i].code ? 0 : 2));
        REQUIRE(kblob_exec(bytes, rows[i].size, mem, &result) == rows[i].code);
        REQUIRE(kblob_disassemble(bytes, rows[i].size, stdout) == (rows[i].code ? -1 : 0));
    }
    REQUIRE(!strcmp(kblob_code_name(KBLOB_CODE_NO_MEMORY), "NO_MEMORY"));
    REQUIRE(!strcmp(kblob_code_name((kblob_code)200), "UNDEFINED"));
    kblob_memory_delete(mem);
    kblob_memory_delete(NULL);
    kblob_free(blob);
}

static void blobs_test_memory(void)
{
    uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8] = {9};
    kblob_memory *mem = kblob_memory_new(4096);
    REQUIRE(mem && !kblob_memory_map(mem, 0x1000, 64) && !kblob_memory_map(mem, 0x2000, 4032));
    REQUIRE(kblob_memory_map(mem, 0x4000, 1) == -1); /* The memory is over the limit. */
    REQUIRE(!kblob_memory_unmap(mem, 0x2000) && kblob_memory_unmap(mem, 0x2000) == -1);
    REQUIRE(kblob_memory_map(mem, 0x1020, 64) == -1); /* The memory overlaps other memory. */
    REQUIRE(!kblob_memory_peek(mem, 0x1000, back, 8) && !back[0]);
    REQUIRE(!kblob_memory_poke(mem, 0x1038, bytes, 8) && !kblob_memory_peek(mem, 0x1038, back, 8));
    REQUIRE(!memcmp(back, bytes, 8));
    REQUIRE(kblob_memory_poke(mem, 0x1039, bytes, 8) == -1);
    REQUIRE(kblob_memory_peek(mem, 0x2000, back, 1) == -1);
    kblob_memory_delete(mem);
}

/* Runs a text and returns what it does to 64 bytes at 0x1000. */
static kblob_result blobs_test_executed(const char *text, uint8_t bytes[64])
{
    void *blob;
    size_t size;
    char message[200];
    kblob_result result;
    kblob_memory *mem = kblob_memory_new(0);
    REQUIRE(mem && !kblob_memory_map(mem, 0x1000, 64));
    if (kblob_assemble(text, &blob, &size, message, sizeof message))
        fprintf(stderr, "%s\n", message), exit(1);
    REQUIRE(kblob_exec(blob, size, mem, &result) == KBLOB_CODE_OK);
    REQUIRE(!kblob_memory_peek(mem, 0x1000, bytes, 64));
    kblob_memory_delete(mem);
    kblob_free(blob);
    return result;
}

static void blobs_test_execution(void)
{
    uint8_t bytes[64];
    kblob_result r = blobs_test_executed(
        "WRITE64 0x1000, 0x11223344\nSLEEP 40\nREAD8 0x1001\nSLEEP 2\nHALT\nNOP", bytes);
    REQUIRE(r.state == GPU_TASK_DONE && r.halted_explicitly && r.instructions == 5 &&
            r.slept_ms == 42);
    REQUIRE(r.has_last_read && r.last_read == 0x33 && bytes[0] == 0x44 && bytes[3] == 0x11);
    r = blobs_test_executed("WRITE8 0x103f, 7", bytes);
    REQUIRE(r.state == GPU_TASK_DONE && !r.halted_explicitly && r.instructions == 1 &&
            !r.has_last_read);
    REQUIRE(bytes[63] == 7);
    r = blobs_test_executed("WRITE8 0x1000, 1\nWRITE64 0x103c, 1\nWRITE8 0x1001, 1", bytes);
    REQUIRE(r.state == GPU_TASK_FAULTED && r.fault_instruction == 1 && r.fault_opcode == 3);
    REQUIRE(r.fault_kind == GPU_FAULT_OUT_OF_BOUNDS);
    REQUIRE(r.fault_address == 0x103c && r.fault_length == 8 && r.instructions == 1);
    REQUIRE(bytes[0] == 1 && !bytes[1] && !bytes[0x3c]);
    /* The program is of version 2. */
    r = blobs_test_executed("MOV r1, 0x1000\nID r2, threads.x\nST8 [r1], r2\nHALT", bytes);
    REQUIRE(r.state == GPU_TASK_DONE && r.instructions == 4 && bytes[0] == 1);
}

static void blobs_test_text(void)
{
    static const char expected[] = "WRITE64 0x1000, 0x2A\n";
    void *blob, *again;
    size_t size, size_again;
    char message[200], lines[400] = "", small[8];
    REQUIRE(!kblob_assemble(expected, &blob, &size, message, sizeof message) && !*message);
    FILE *file = tmpfile();
    REQUIRE(file && !kblob_disassemble(blob, size, file));
    rewind(file);
    REQUIRE(fread(lines, 1, sizeof lines - 1, file) > 0 && strstr(lines, "WRITE64"));
    REQUIRE(!kblob_assemble(lines, &again, &size_again, NULL, 0));
    REQUIRE(size == size_again && !memcmp(blob, again, size));
    fclose(file);
    kblob_free(blob);
    kblob_free(again);
    file = fopen("/dev/full", "w");
    REQUIRE(file);
    setvbuf(file, NULL, _IONBF, 0);
    REQUIRE(!kblob_assemble("HALT", &blob, &size, NULL, 0) &&
            kblob_disassemble(blob, size, file) == -1);
    fclose(file);
    kblob_free(blob);

    REQUIRE(kblob_assemble("NOP\n  HLT\n", &blob, &size, message, sizeof message) == -1);
    REQUIRE(!blob && !size && !strcmp(message, "2:3: unknown instruction 'HLT'"));
    REQUIRE(kblob_assemble("NOP\n  HLT\n", &blob, &size, small, sizeof small) == -1);
    REQUIRE(!strcmp(small, "2:3: un"));
    REQUIRE(kblob_assemble("", &blob, &size, NULL, 0) == -1 && !blob);
}

int main(void)
{
    blobs_test_built();
    too_many();
    blobs_test_refused();
    blobs_test_memory();
    blobs_test_execution();
    blobs_test_text();
    return checks_end();
}
