/* Reads requests. It is strict, since only browsers send them. */
#include <string.h>
#include <strings.h>
#include "base/bytes.h"
#include "cli/explore/http.h"

/* Takes the bytes up to a mark, and the mark. Returns false when the mark is not there. */
static bool take_to_mark(penta_bytes *in, const char *mark, penta_bytes *part)
{
    size_t size = strlen(mark);
    const uint8_t *at = in->size ? memmem(in->data, in->size, mark, size) : NULL;
    if (!at) return false;
    *part = (penta_bytes){in->data, (size_t)(at - in->data)};
    *in = bytes_slice(*in, part->size + size, in->size);
    return true;
}

static penta_bytes http_request_trimmed(penta_bytes text)
{
    while (text.size && (text.data[0] == ' ' || text.data[0] == '\t')) text.data++, text.size--;
    while (text.size && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\t'))
        text.size--;
    return text;
}

/* Tells whether the host is the address of the server, or its port on localhost. */
static bool is_own_host(const struct server *s, penta_bytes host)
{
    char local[64] = "localhost";
    const char *port = strrchr(s->address, ':');
    if (port && strlen(port) < sizeof local - strlen(local)) strcat(local, port);
    return bytes_equal(host, bytes_of(s->address)) || bytes_equal(host, bytes_of(local));
}

static bool is_host(penta_bytes name)
{
    return name.size == 4 && !strncasecmp((const char *)name.data, "host", 4);
}

/* Checks that exactly one header has this name, and that it has this value. */
static enum http_status judge_host(const struct server *s, penta_bytes headers)
{
    unsigned hosts = 0;
    penta_bytes line, name;
    while (take_to_mark(&headers, "\r\n", &line)) {
        if (!take_to_mark(&line, ":", &name)) return HTTP_BAD_REQUEST;
        if (!is_host(name)) continue;
        if (!is_own_host(s, http_request_trimmed(line))) return HTTP_FORBIDDEN;
        hosts++;
    }
    return hosts == 1 ? HTTP_OK : HTTP_BAD_REQUEST;
}

/* Checks the target. The only page is /TOKEN/. */
static enum http_status judge_target(const struct server *s, penta_bytes target)
{
    bool framed = target.size > 2 && target.data[0] == '/' && target.data[target.size - 1] == '/';
    penta_bytes token = framed ? bytes_slice(target, 1, target.size - 2) : (penta_bytes){0};
    return server_knows(s, token) ? HTTP_OK : HTTP_NOT_FOUND;
}

enum http_status http_judge(const struct server *s, penta_bytes request)
{
    penta_bytes head, line, method, target, headers = request;
    if (!take_to_mark(&request, "\r\n\r\n", &head))
        return request.size < HTTP_REQUEST_MAX ? HTTP_INCOMPLETE : HTTP_TOO_LARGE;
    headers.size = head.size + 2; /* The headers include the end of their last line. */
    if (!take_to_mark(&headers, "\r\n", &line) || !take_to_mark(&line, " ", &method) ||
        !take_to_mark(&line, " ", &target) ||
        !(bytes_equal(line, bytes_of("HTTP/1.1")) || bytes_equal(line, bytes_of("HTTP/1.0"))))
        return HTTP_BAD_REQUEST;
    enum http_status status = judge_host(s, headers);
    if (status == HTTP_OK) status = judge_target(s, target);
    if (status == HTTP_OK && !bytes_equal(method, bytes_of("GET"))) status = HTTP_NOT_ALLOWED;
    return status;
}
