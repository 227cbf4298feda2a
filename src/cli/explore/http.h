/* One page for browsers on this machine, over HTTP on loopback. Only whoever knows the token gets it, and only
 * under the address of the server itself: a name that another site lets point here is refused. */
#pragma once
#include "cli/server/server.h"

enum http_status {
    HTTP_INCOMPLETE, /* the request has not ended yet */
    HTTP_OK = 200,
    HTTP_BAD_REQUEST = 400,
    HTTP_FORBIDDEN = 403, /* the request is for another host */
    HTTP_NOT_FOUND = 404,
    HTTP_NOT_ALLOWED = 405, /* the method is not GET */
    HTTP_TOO_LARGE = 431,
};

enum { HTTP_REQUEST_MAX = 16384 };

/* What a request deserves, from its bytes so far. */
enum http_status http_judge(const struct server *s, penta_bytes request);
/* Answers requests; `once`: until the page was given once, else until the process is interrupted.
 * False: the server cannot go on. */
bool http_serve(const struct server *s, penta_bytes page, bool once, penta_error *err);
