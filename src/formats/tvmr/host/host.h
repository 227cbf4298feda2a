/* Declares the default host, which keeps chemicals, fields, banks, pools and weights in memory
 * or in a folder. */
#pragma once
#include "core/host.h"

extern const struct host tvmr_host;
