/* Fills a build from the options of create and compile. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/file/file.h"
#include "base/number.h"
#include "cvbc/format/hardware/board.h"
#include "cvbc/format/build.h"

void cvbc_creation_fini(struct cvbc_creation *c)
{
    cvbc_build_fini(&c->b);
    cvbc_secret_free(&c->secret);
    key_private_free(c->key);
}

void cvbc_build_hint(struct cvbc_build *b, unsigned type, unsigned priority, penta_bytes data)
{
    struct cvbc_hint head = {(uint8_t)type, (uint8_t)priority, (uint16_t)data.size};
    cvbc_hint_write(&b->hints, &head);
    writer_bytes(&b->hints, data.data, data.size);
    b->hint_count++;
}

enum { LOOP_UNROLL = 3, CACHE_FRIENDLY = 5 };

/* A hint as an option gives it: TYPE:FIRST-LAST[:PRIORITY] or loop_unroll=N:FIRST-LAST. */
struct hint_words {
    penta_bytes name, factor, region, level;
    uint64_t type, first, last, priority, times;
};

/* Reads the numbers of a hint whose type is known. Returns what is wrong with them, or NULL. */
static const char *hint_wrong(struct hint_words *h)
{
    const uint8_t *dash = h->region.size ? memchr(h->region.data, '-', h->region.size) : NULL;
    size_t at = dash ? (size_t)(dash - h->region.data) : 0;
    h->priority = 128;
    h->times = 2;
    if (h->type < 1 || h->type > 6) return "types are 1 to 6";
    if (h->type == CACHE_FRIENDLY)
        return "no option can say its data: .hint in the text gives the bytes";
    if (!dash || !number_parse_bytes(bytes_slice(h->region, 0, at), &h->first) ||
        !number_parse_bytes(bytes_slice(h->region, at + 1, h->region.size), &h->last))
        return "it is not TYPE:FIRST-LAST[:PRIORITY]";
    if (h->first > h->last || h->last > UINT16_MAX)
        return "FIRST is at most LAST, and LAST at most 65535";
    if (h->level.size &&
        (!number_parse_bytes(h->level, &h->priority) || h->priority < 1 || h->priority > UINT8_MAX))
        return "a priority is 1 to 255";
    if (h->factor.data && h->type != LOOP_UNROLL) return "only loop_unroll has a number";
    if (h->factor.data &&
        (!number_parse_bytes(h->factor, &h->times) || h->times < 1 || h->times > UINT8_MAX))
        return "a loop is unrolled 1 to 255 times";
    return NULL;
}

static bool hint_option(struct cvbc_build *b, const char *text, penta_error *err)
{
    penta_bytes rest = bytes_of(text), name = cvbc_option_part(&rest);
    const uint8_t *equals = name.size ? memchr(name.data, '=', name.size) : NULL;
    size_t size = equals ? (size_t)(equals - name.data) : name.size;
    struct hint_words h = {.name = bytes_slice(name, 0, size)};
    h.region = cvbc_option_part(&rest);
    h.level = cvbc_option_part(&rest);
    if (equals) h.factor = (penta_bytes){equals + 1, name.size - size - 1};
    char word[24];
    snprintf(word, sizeof word, "%.*s", BYTES_ARG(h.name, 20));
    if (!cvbc_option_word("hint_type", h.name, &h.type))
        return error_not_in(err, "hint", word, cvbc_hint_name);
    const char *wrong = hint_wrong(&h);
    if (!wrong && b->hint_count == UINT16_MAX) wrong = "there are 65535 already";
    if (wrong) {
        option_refuse(err, "hint", text, "is wrong: %s", wrong);
        return error_note(err, "for example hot_path:10-40, loop_unroll=4:10-40:200");
    }
    struct writer data = {0};
    if (h.type == LOOP_UNROLL) writer_uint(&data, h.times, 1);
    writer_uint(&data, h.first, 2);
    writer_uint(&data, h.last, 2);
    cvbc_build_hint(b, (unsigned)h.type, (unsigned)h.priority, writer_view(&data));
    b->hints.failed |= data.failed;
    writer_free(&data);
    return true;
}

static bool dependency_option(struct cvbc_build *b, const char *text, penta_error *err)
{
    penta_bytes rest = bytes_of(text), name = cvbc_option_part(&rest),
                version = cvbc_option_part(&rest);
    penta_bytes level = cvbc_option_part(&rest), criticality = cvbc_option_part(&rest);
    uint64_t l = 1, c = 3;
    unsigned major = 0, minor = 0;
    char numbers[32] = "";
    if (version.size < sizeof numbers) bytes_copy(numbers, version);
    if (name.size > 15)
        return error_at(err, BASE_OPTION_VALUE, 0,
                        "dependency '%.50s': a name has at most 15 bytes", text);
    bool ok = name.size && sscanf(numbers, "%u.%u", &major, &minor) == 2 &&
              (!level.size || cvbc_option_word("compatibility_level", level, &l)) &&
              (!criticality.size || cvbc_option_word("criticality", criticality, &c));
    if (!ok)
        return error_at(err, BASE_OPTION_VALUE, 0,
                        "dependency '%.50s' is not NAME:MAJOR.MINOR[:LEVEL[:CRITICALITY]]", text);
    struct cvbc_dependency d = {.min_version_major = major,
                                .min_version_minor = minor,
                                .compatibility_level = (uint8_t)l,
                                .criticality = (uint8_t)c};
    bytes_copy(d.lib_name, name);
    cvbc_dependency_write(&b->dependencies, &d);
    b->dependency_count++;
    return true;
}

bool cvbc_source_hash(const penta_option *options, size_t count, uint8_t out[32], penta_error *err)
{
    struct writer all = {0};
    bool any = false, ok = true;
    for (size_t i = 0; i < count && ok; i++) {
        if (strcmp(options[i].key, "source")) continue;
        penta_buffer file = {0};
        ok = file_read(options[i].value, UINT64_C(1) << 30, &file, err);
        writer_bytes(&all, file.data, file.size);
        penta_buffer_free(&file);
        any = true;
    }
    ok = ok && writer_ok(&all, err);
    if (ok && any) cvbc_digest(writer_view(&all), out);
    writer_free(&all);
    return ok;
}

static bool small_number(const penta_option *options, size_t count, const char *key, uint32_t *out,
                         penta_error *err)
{
    uint64_t v = *out;
    if (!option_uint(options, count, key, &v, err)) return false;
    if (v > UINT32_MAX)
        return error_at(err, BASE_OPTION_VALUE, 0, "option '%s' has at most 32 bits", key);
    *out = (uint32_t)v;
    return true;
}

static bool target_options(struct cvbc_build *b, const penta_option *options, size_t count,
                           penta_error *err)
{
    const char *target = option_text(options, count, "target"),
               *language = option_text(options, count, "language");
    uint64_t value = 0;
    struct cvbc_board board;
    if (target) {
        if (!cvbc_board_find(target, &board, err)) return false;
        b->core.target_architecture = (uint8_t)board.architecture;
        b->core.target_family = (uint8_t)board.family;
        b->core.target_variant = (uint16_t)board.variant;
    }
    if (language && !cvbc_value("source_language", bytes_of(language), &value))
        return error_not_in(err, "language", language, cvbc_language_name);
    if (language) b->core.source_language = (uint8_t)value;
    if (!cvbc_create_pins(b, target ? &board : NULL, options, count, err)) return false;
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(options[i].key, "hint") && !hint_option(b, options[i].value, err)) return false;
        if (!strcmp(options[i].key, "dependency") && !dependency_option(b, options[i].value, err))
            return false;
    }
    return small_number(options, count, "min-flash", &b->core.min_flash_kb, err) &&
           small_number(options, count, "min-ram", &b->core.min_ram_kb, err) &&
           small_number(options, count, "max-steps", &b->core.max_execution_cycles, err) &&
           small_number(options, count, "build-number", &b->build_number, err);
}

bool cvbc_create_options(struct cvbc_creation *c, const penta_option *options, size_t count,
                         penta_error *err)
{
    struct cvbc_build *b = &c->b;
    const char *epoch = getenv("SOURCE_DATE_EPOCH"), *key = option_text(options, count, "sign-key");
    const char *hash = option_text(options, count, "hash");
    uint64_t algorithm = 1;
    b->flags |= CVBC_DETERMINISTIC;
    if (epoch && !number_parse(epoch, &b->timestamp))
        return error_at(err, BASE_OPTION_VALUE, 0, "SOURCE_DATE_EPOCH '%.40s' is not a number",
                        epoch);
    if (option_text(options, count, "compress")) b->flags |= CVBC_COMPRESSED;
    if (hash && !cvbc_value("hash_algorithm", bytes_of(hash), &algorithm))
        return error_not_in(err, "hash", hash, cvbc_hash_name);
    b->hash_algorithm = (uint8_t)algorithm;
    b->external_key = option_text(options, count, "external-key") != NULL;
    if (!target_options(b, options, count, err) ||
        !cvbc_source_hash(options, count, b->source_sha256, err))
        return false;
    if (key && !(c->key = cvbc_private_key_option(options, count, err))) return false;
    b->sign_key = c->key;
    bool seals =
        option_text(options, count, "key-file") || option_text(options, count, "password-file");
    if (seals && b->debug.size && !option_text(options, count, "keep-debug")) {
        error_at(err, CVBC_SEALED, 0, "debug data would stay readable");
        return error_note(err, "option 'strip' leaves it out, option 'keep-debug' allows it");
    }
    b->keep_debug = option_text(options, count, "keep-debug") != NULL;
    return !seals || cvbc_build_cipher(b, &c->secret, options, count, err);
}

bool cvbc_create_from(struct cvbc_creation *c, const struct cvbc_module *m, penta_error *err)
{
    struct cvbc_build *b = &c->b;
    const struct cvbc_metadata *meta = &m->meta;
    if (!cvbc_build_from(b, m, err)) return false;
    b->has_metadata = false;
    b->force_compression = false;
    b->core = meta->core;
    b->core.pin_config_count = b->core.gpio_pin_count = 0;
    for (size_t i = 0; i < meta->pin_count; i++) cvbc_build_pin(b, &meta->pins[i]);
    for (size_t i = 0; i < meta->dependency_count; i++)
        cvbc_dependency_write(&b->dependencies, &meta->dependencies[i]);
    b->dependency_count = (uint16_t)meta->dependency_count;
    for (size_t i = 0; i < meta->hint_count; i++) {
        cvbc_hint_write(&b->hints, &meta->hints[i].head);
        writer_bytes(&b->hints, meta->hints[i].data.data, meta->hints[i].data.size);
    }
    b->hint_count = (uint16_t)meta->hint_count;
    writer_bytes(&b->custom, meta->custom.data, meta->custom.size);
    return true;
}
