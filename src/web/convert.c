/* Converts an open file into another form, and encrypts and decrypts it. */
#include "web/web.h"

typedef bool conversion(const penta_module *module, const penta_option *options, size_t count,
                        penta_buffer *out, penta_report *report, void *user);

static void first_error(void *user, const penta_error *finding)
{
    if (finding->severity == PENTA_ERROR) web_error(user, finding);
}

static void write_converted(struct web_call *c, conversion *convert)
{
    const struct web_file *file = web_file_of(c, "file");
    struct web_options o = {0};
    penta_buffer out = {0};
    if (file && web_options_read(c, "options", &o)) {
        if (convert(file->module, o.list, o.count, &out, first_error, c))
            writer_bytes(c->bytes, out.data, out.size);
        else if (!c->err.code)
            error_at(&c->err, BASE_STATE, 0, "the file cannot be converted");
    }
    penta_buffer_free(&out);
    web_options_free(&o);
}

void web_convert(struct web_call *c) { write_converted(c, penta_convert); }
void web_seal(struct web_call *c) { write_converted(c, penta_seal); }
void web_unseal(struct web_call *c) { write_converted(c, penta_unseal); }
