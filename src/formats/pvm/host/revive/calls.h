/* Declares the functions of the host calls from their list. */
#pragma once
#include "pvm/host/revive/revive.h"

#define CALL(name) bool revive_call_##name(const struct request *q);
#define MISSING(name)
#include "pvm/host/revive/calls.def"
