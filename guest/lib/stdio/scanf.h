/* Declares formatted input of wide characters from a stream, or from text in UTF-8 when file is
 * NULL. */
#pragma once
#include <stdarg.h>
#include <stdio.h>

int penta_scan(FILE *file, const char *text, const char *format, va_list args);
