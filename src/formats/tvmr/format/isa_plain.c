/* Makes the tables of isa.c in builds without machines: one handler stands for all and is never called. */
#define TVMR_HANDLER(name) op_yield
#include "tvmr/format/isa.c"
