/* Reads any bytes as a table. The table must be refused, or be no larger than the file can hold. */
#include "fuzz.h"
#include "base/table/table.h"

void fuzz_one(const uint8_t *data, size_t size)
{
    struct penta_table t;
    penta_error err = {0};
    bool ok = table_read((penta_bytes){data, size}, 1.5, &t, &err);
    if (ok == (err.code != 0)) check_failed("success and an error", ok, err.code);
    if (ok && t.rows * t.columns > size) check_failed("more numbers than bytes", t.rows, t.columns);
    if (!ok && err.offset > size) check_failed("an offset after the file", err.offset, size);
    int64_t sum = 0;
    for (size_t i = 0; ok && i < t.rows * t.columns; i++) sum += t.numbers[i];
    if (sum == INT64_MIN) check_failed("a sum that cannot be", 0, 0);
    if (ok) table_free(&t);
}
