/* Prints floats as text, so that the assembler reads the same value back. */
#include "coil/coil.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Prints the fewest digits from which the same value is read. Values between 1e-4 and 1e16 have
 * no exponent. */
void coil_print_real(struct writer *out, double value, bool single)
{
    if (isnan(value) || isinf(value)) {
        writer_text(out, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    char text[40];
    int precision = 0, most = single ? 8 : 16;
    for (;; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, value);
        if (precision == most) break;
        if (single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value) break;
    }
    char *e = strchr(text, 'e');
    int exponent = atoi(e + 1);
    if (exponent < -4 || exponent >= 16) {
        writer_text(out, text);
        return;
    }
    char digits[32];
    size_t n = 0;
    for (char *p = text; p < e; p++)
        if (*p >= '0' && *p <= '9') digits[n++] = *p;
    if (*text == '-') writer_char(out, '-');
    if (exponent < 0) {
        writer_text(out, "0.");
        for (int i = -1; i > exponent; i--) writer_char(out, '0');
        writer_bytes(out, digits, n);
        return;
    }
    for (size_t i = 0; i < n || i <= (size_t)exponent; i++) {
        if (i == (size_t)exponent + 1) writer_char(out, '.');
        writer_char(out, i < n ? digits[i] : '0');
    }
    if (n <= (size_t)exponent + 1) writer_text(out, ".0");
}
