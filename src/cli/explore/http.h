/* Declares a server of one page for browsers on this machine, over HTTP on loopback. Only a
 * client that knows the token gets the page, and only under the address of the server itself: a
 * name that another site lets point here is refused. */
#pragma once
#include "cli/server/server.h"

enum http_status {
    HTTP_INCOMPLETE, /* The request has not ended yet. */
    HTTP_OK = 200,
    HTTP_BAD_REQUEST = 400,
    HTTP_FORBIDDEN = 403, /* The request is for another host. */
    HTTP_NOT_FOUND = 404,
    HTTP_NOT_ALLOWED = 405, /* The method is not GET. */
    HTTP_TOO_LARGE = 431,
};

enum { HTTP_REQUEST_MAX = 16384 };

/* Returns the status for a request, from its bytes so far. */
enum http_status http_judge(const struct server *s, penta_bytes request);
/* Answers requests. With `once` it ends when the page was sent once, otherwise when the process
 * is interrupted. Returns false when the server cannot continue. */
bool http_serve(const struct server *s, penta_bytes page, bool once, penta_error *err);
