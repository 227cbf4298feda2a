/* Sends any bytes as a browser's request. Only GET of /TOKEN/ with the server's own host may be
 * granted. */
#include "fuzz.h"
#include "cli/explore/http.h"

void fuzz_one(const uint8_t *data, size_t size)
{
    static const char start[] = "GET /0123456789abcdef0123456789abcdef/ HTTP/1.";
    const struct server s = {.listener = -1,
                             .client = -1,
                             .address = "127.0.0.1:4711",
                             .token = "0123456789abcdef0123456789abcdef"};
    enum http_status status = http_judge(&s, (penta_bytes){data, size});
    if (status == HTTP_OK && (size < sizeof start || memcmp(data, start, sizeof start - 1)))
        check_failed("the page is given to a stranger", size, 0);
    if (status == HTTP_INCOMPLETE && size >= HTTP_REQUEST_MAX)
        check_failed("a request without an end is read on", size, 0);
}
