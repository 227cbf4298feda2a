/* Cards (TVMR 16): packages of the upstream tools around an image.
 *
 *     "TVMR" | major u8 = 1 | minor u8 = 0 | flags u16 | length u32 | JSON | image | CRC32 u32
 *
 * Flag 1 says that the CRC32 of the image follows the image. An image, or a compressed one when the flag is set,
 * may begin with the same eight bytes. So a card is recognised by its JSON and by the magic after the JSON. The
 * image is opened as a module of its own. The module of the card has its contents and another file, so that offsets
 * of findings and of the tree are those of the card. */
#include "base/codec/checksum.h"
#include "core/describe.h"
#include "tvmr/tvmr.h"
#include <stdlib.h>

enum { HEAD = 12, SUMMED = 1 };

bool tvmr_is_card(penta_bytes file)
{
    if (file.size < HEAD + 8 || bytes_get32(file.data) != TVMR_MAGIC ||
        bytes_get16(file.data + 4) != 1 || bytes_get16(file.data + 6) > SUMMED)
        return false;
    uint64_t at = HEAD + (uint64_t)bytes_get32(file.data + 8);
    if (at > file.size - 4 || file.data[HEAD] != '{') return false;
    uint32_t magic = bytes_get32(file.data + at);
    return magic == TVMR_MAGIC || magic == TERN_MAGIC;
}

/* Finds where the image ends: where the JSON says, if the file has that many bytes. */
static void find_image(struct tvmr_card *card, penta_bytes file)
{
    size_t sum = bytes_get16(file.data + 6) & SUMMED ? 4 : 0, left = file.size - card->at;
    card->sum_size = left >= sum ? sum : 0;
    size_t room = left - card->sum_size;
    if (card->payload_size >= 0 && (uint64_t)card->payload_size <= room)
        room = (size_t)card->payload_size;
    card->image = bytes_slice(file, card->at, room);
}

bool tvmr_card_parse(struct tvmr_module *m, const penta_option *options, size_t count,
                     penta_error *err)
{
    penta_module base = m->base;
    penta_bytes file = base.file;
    struct tvmr_card card = {.payload_size = -1, .at = HEAD + (size_t)bytes_get32(file.data + 8)};
    struct arena arena = {0};
    card.json = bytes_slice(file, HEAD, card.at - HEAD);
    if (!tvmr_card_read(card.json, &card, &arena, &card.error) && card.error.code == BASE_MEMORY) {
        *err = card.error;
        arena_free(&arena);
        return false;
    }
    find_image(&card, file);
    penta_module *inner =
        tvmr_is_card(card.image) ? NULL : tvmr_parse(card.image, options, count, err);
    if (inner) { /* The card takes everything but the file from the module of the image. */
        *m = *(struct tvmr_module *)inner;
        m->base = base;
        m->base.damage = inner->damage;
        if (m->base.damage.code && !m->base.damage.decoded) m->base.damage.offset += card.at;
        m->expanded = (struct writer){0};
        m->base.passed_count = inner->passed_count;
        for (size_t i = 0; i < inner->passed_count; i++) {
            m->base.passed[i] = inner->passed[i];
            if (!inner->passed[i].decoded) m->base.passed[i].offset += card.at;
        }
    } else if (!err->code) {
        error_at(&m->base.damage, TVMR_CARD, card.at, "a card in a card");
    }
    m->arena = arena;
    m->inner = (struct tvmr_module *)inner;
    m->card = card;
    m->is_card = true;
    return !err->code;
}

/* The functions below report the findings of the image, with offsets of the card. */

struct shift {
    struct findings *findings;
    penta_visitor next;
    uint64_t by;
    unsigned decoded; /* how many decoded nodes are open around this one */
};

static void shift_finding(void *user, const penta_error *finding)
{
    struct shift *s = user;
    penta_error e = *finding;
    if (!e.decoded) e.offset += s->by;
    findings_pass(s->findings, &e);
}

void tvmr_card_verify(const struct tvmr_module *m, struct findings *f)
{
    const struct tvmr_card *c = &m->card;
    penta_bytes file = m->base.file;
    size_t end = c->at + c->image.size;
    findings_add(f, TVMR_CARD_FOUND, 0, NULL, "a card; its image starts at byte %zu", c->at);
    if (c->error.code)
        findings_add(f, TVMR_CARD, HEAD + c->error.offset, NULL, "%.110s", c->error.message);
    if (c->payload_size >= 0 && (uint64_t)c->payload_size != c->image.size)
        findings_add(f, TVMR_CARD, HEAD, NULL, "payload_size %lld, the card has %zu bytes",
                     (long long)c->payload_size, c->image.size);
    if (c->sum_size && bytes_get32(file.data + end) != checksum_crc32(c->image))
        findings_add(f, TVMR_CARD, end, NULL, "CRC32 0x%08x, the image has 0x%08x",
                     (unsigned)bytes_get32(file.data + end), (unsigned)checksum_crc32(c->image));
    if (end + c->sum_size < file.size)
        findings_add(f, TVMR_TRAILING, end + c->sum_size, NULL, "%zu bytes after the card",
                     file.size - end - c->sum_size);
    if (!m->inner) {
        findings_pass(f, &m->base.damage);
        return;
    }
    struct shift shift = {.findings = f, .by = c->at};
    struct findings inner = {.rules = f->rules, .report = shift_finding, .user = &shift};
    tvmr_verify(&m->inner->base, &inner);
}

/* The functions below describe the image inside the card, with offsets of the card. */

static bool shift_enter(void *user, const penta_node *node)
{
    struct shift *s = user;
    penta_node n = *node;
    bool decoded = s->decoded || n.decoded;
    if (!decoded && n.size) n.offset += s->by;
    if (!describe_enter(&s->next, n)) return false;
    s->decoded += decoded;
    return true;
}

static void shift_field(void *user, const penta_field *field)
{
    struct shift *s = user;
    penta_field f = *field;
    if (!s->decoded && f.size) f.offset += s->by;
    describe_field(&s->next, f);
}

static void shift_leave(void *user, const penta_node *node)
{
    struct shift *s = user;
    penta_node n = *node;
    if (s->decoded)
        s->decoded--;
    else if (n.size)
        n.offset += s->by;
    describe_leave(&s->next, n);
}

void tvmr_card_describe(const struct tvmr_module *m, const penta_visitor *v)
{
    const struct tvmr_card *c = &m->card;
    penta_bytes file = m->base.file;
    size_t end = c->at + c->image.size;
    layout_describe(v, "card", tvmr_card_head_fields, file.data, 0, false, NULL);
    describe_field(v, (penta_field){.name = "json",
                                    .offset = HEAD,
                                    .size = c->json.size,
                                    .kind = PENTA_TEXT,
                                    .as.bytes = c->json});
    penta_node node = {.name = "image", .offset = c->at, .size = c->image.size};
    if (c->image.size && m->inner && describe_enter(v, node)) {
        struct shift shift = {.next = *v, .by = c->at};
        penta_visitor visitor = {&shift, shift_enter, shift_field, shift_leave};
        tvmr_describe(&m->inner->base, &visitor);
        describe_leave(v, node);
    } else if (c->image.size && !m->inner) {
        describe_raw(v, "damaged", c->image, c->at, m->base.damage.message);
    }
    if (c->sum_size)
        describe_field(v, (penta_field){.name = "crc32",
                                        .offset = end,
                                        .size = 4,
                                        .kind = PENTA_WORD,
                                        .as.u = bytes_get32(file.data + end)});
    end += c->sum_size;
    if (end < file.size)
        describe_raw(v, "trailing", bytes_slice(file, end, file.size - end), end, "ignored");
}
