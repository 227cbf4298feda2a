/* Visitors that write what is described into an open JSON list or object. */
#pragma once
#include "base/json/json_write.h"

/* The name, by its address, of a field that says that memory ran out during the walk, so that
 * something is missing. A document with it fails. */
extern const char field_incomplete[];

void json_field(struct json *j, const char *key, const penta_field *field); /* its value */

/* Values without offsets, for facts and the state of a machine: members are keys of the open object,
 * lists are arrays. */
penta_visitor json_state_visitor(struct json *j);
/* Into the open list: objects with name, offset, size, children or kind and value. */
penta_visitor json_tree_visitor(struct json *j);
