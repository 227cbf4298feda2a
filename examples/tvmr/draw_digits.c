/* Draws pictures of digits and writes them as IDX files, the form of well-known
 * digit collections.
 *
 *     draw_digits SEED COUNT IMAGES LABELS
 *
 * A digit is a few strokes. Each picture moves, turns, slants and stretches
 * them, draws them with a pen of another width, and adds noise; the seed
 * chooses all of it, so that another seed gives other pictures. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 16, POINTS = 24 };

/* The strokes of digits, as points in a square from -1 to 1, x to the right, y down. A stroke
 * ends at PEN_UP. */
#define PEN_UP 9, 9
static const double digits[10][2 * POINTS] = {
    {0, -.9, .5, -.6, .6, 0, .5, .6, 0, .9, -.5, .6, -.6, 0, -.5, -.6, 0, -.9, PEN_UP, PEN_UP},
    {-.3, -.5, .1, -.9, .1, .9, PEN_UP, PEN_UP},
    {-.5, -.5, -.2, -.9, .3, -.9, .5, -.5, .3, -.1, -.5, .9, .6, .9, PEN_UP, PEN_UP},
    {-.5, -.8, .2, -.9, .5, -.5, .2,  -.1, -.1,    -.1,   PEN_UP,
     .2,  -.1, .6, .4,  .2, .9,  -.5, .8,  PEN_UP, PEN_UP},
    {.3, .9, .3, -.9, -.6, .3, .6, .3, PEN_UP, PEN_UP},
    {.5, -.9, -.4, -.9, -.5, -.1, .2, -.2, .6, .3, .3, .8, -.5, .8, PEN_UP, PEN_UP},
    {.4, -.9, -.2, -.5, -.5, .3, -.2, .9, .3, .8, .5, .4, .2, .1, -.4, .3, PEN_UP, PEN_UP},
    {-.6, -.9, .6, -.9, .1, 0, -.2, .9, PEN_UP, PEN_UP},
    {0, -.1, -.4, -.5, 0, -.9, .4, -.5, 0, -.1, .5, .4, 0, .9, -.5, .4, 0, -.1, PEN_UP, PEN_UP},
    {.4, -.4, 0, -.1, -.4, -.5, 0, -.9, .4, -.6, .4, .2, 0, .9, PEN_UP, PEN_UP},
};

static uint64_t state;

/* Returns a random number from 0 up to 1. */
static double random_chance(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = (state ^ state >> 29) * 0xBF58476D1CE4E5B9u;
    return (double)(x >> 40) / (1 << 24);
}
static double random_between(double low, double high)
{
    return low + (high - low) * random_chance();
}

struct pen {
    double a, b, c, d, x, y; /* a matrix and a shift, which move each point of a digit */
    double width;
};

static double line_distance(double px, double py, double x, double y, double u, double v)
{
    double dx = u - x, dy = v - y, t = ((px - x) * dx + (py - y) * dy) / (dx * dx + dy * dy + 1e-9);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    dx = px - x - t * dx;
    dy = py - y - t * dy;
    return sqrt(dx * dx + dy * dy);
}

static void pen_stroke(uint8_t *picture, const struct pen *pen, const double *from,
                       const double *to)
{
    double x = pen->a * from[0] + pen->b * from[1] + pen->x,
           y = pen->c * from[0] + pen->d * from[1] + pen->y,
           u = pen->a * to[0] + pen->b * to[1] + pen->x,
           v = pen->c * to[0] + pen->d * to[1] + pen->y;
    for (int i = 0; i < SIZE * SIZE; i++) {
        double ink = pen->width + .5 - line_distance(i % SIZE, i / SIZE, x, y, u, v);
        int level = ink >= 1 ? 255 : ink <= 0 ? 0 : (int)(255 * ink);
        if (level > picture[i]) picture[i] = (uint8_t)level;
    }
}

static void digit_draw(int digit, uint8_t *picture)
{
    double turn = random_between(-.2, .2), slant = random_between(-.2, .2),
           wide = random_between(4.2, 6.4), high = random_between(5.2, 7);
    struct pen pen = {.a = wide * cos(turn),
                      .b = -high * sin(turn) + slant * high,
                      .c = wide * sin(turn),
                      .d = high * cos(turn),
                      .x = SIZE / 2.0 - .5 + random_between(-1.2, 1.2),
                      .y = SIZE / 2.0 - .5 + random_between(-1, 1),
                      .width = random_between(.4, 1.3)};
    double points[2 * POINTS];
    for (int i = 0; i < 2 * POINTS; i++)
        points[i] = digits[digit][i] < 9 ? digits[digit][i] + random_between(-.12, .12) : 9;
    for (int i = 0; i < SIZE * SIZE; i++) picture[i] = 0;
    for (int i = 0; i + 1 < POINTS; i++) {
        if (points[2 * i] == 9 && points[2 * i + 2] == 9) break;
        if (points[2 * i] == 9 || points[2 * i + 2] == 9) continue;
        pen_stroke(picture, &pen, points + 2 * i, points + 2 * i + 2);
    }
    for (int i = 0; i < SIZE * SIZE; i++) {
        int level = picture[i] + (int)random_between(-40, 40);
        if (random_chance() < .01) level = 255 - level;
        picture[i] = (uint8_t)(level < 0 ? 0 : level > 255 ? 255 : level);
    }
}

static void big_endian(FILE *file, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8) fputc((int)(value >> shift & 255), file);
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: draw_digits SEED COUNT IMAGES LABELS\n");
        return 2;
    }
    state = strtoull(argv[1], NULL, 10) * 0x9E3779B97F4A7C15u + 1;
    uint32_t count = (uint32_t)strtoul(argv[2], NULL, 10);
    FILE *images = fopen(argv[3], "wb"), *labels = fopen(argv[4], "wb");
    if (!images || !labels) {
        perror(images ? argv[4] : argv[3]);
        return 1;
    }
    big_endian(images, 0x803); /* marks a file of bytes in three dimensions */
    big_endian(images, count);
    big_endian(images, SIZE);
    big_endian(images, SIZE);
    big_endian(labels, 0x801); /* marks a file of bytes in one dimension */
    big_endian(labels, count);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t picture[SIZE * SIZE];
        int digit = (int)(10 * random_chance());
        digit_draw(digit, picture);
        fwrite(picture, 1, sizeof picture, images);
        fputc(digit, labels);
    }
    return fclose(images) || fclose(labels);
}
