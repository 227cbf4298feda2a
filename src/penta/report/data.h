/* Writes what a report knows of a file as one JSON object, which page/common.js describes. */
#pragma once
#include "base/writer.h"
#include "penta/report.h"

bool report_data(const penta_report_input *input, const char *title, struct writer *out,
                 penta_error *err);
