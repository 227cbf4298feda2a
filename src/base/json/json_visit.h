/* These visitors write what a describe function reports into an open JSON list or object. */
#pragma once
#include "base/json/json_write.h"

/* A field with this name says that memory ran out during the walk and something is missing. The
 * name is known by its address. A JSON document with such a field fails. */
extern const char field_incomplete[];

/* Writes the value of the field. */
void json_field(struct json *j, const char *key, const penta_field *field);

/* Returns a visitor that writes values without offsets, for facts and for the state of a
 * machine: members become keys of the open object, lists become arrays. */
penta_visitor json_state_visitor(struct json *j);
/* Returns a visitor that writes objects with name, offset, size, and children or kind and value
 * into the open list. */
penta_visitor json_tree_visitor(struct json *j);
