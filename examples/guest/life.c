/* Plays the Game of Life on a torus.
 *
 *     penta run life.polkavm [GENERATIONS [PATTERN]]
 *
 * PATTERN is glider (the default), acorn or soup. It draws every generation; on a terminal that is an
 * animation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 40, HEIGHT = 16 };
typedef unsigned char board[HEIGHT][WIDTH];

static const char *const glider[] = {".#.", "..#", "###", NULL};
static const char *const acorn[] = {".#.....", "...#...", "##..###", NULL};

static void board_place(board b, const char *const *rows, int top, int left)
{
    for (int y = 0; rows[y]; y++)
        for (int x = 0; rows[y][x]; x++)
            b[(top + y) % HEIGHT][(left + x) % WIDTH] = rows[y][x] == '#';
}

static void board_step(board b)
{
    board next;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            int around = -b[y][x];
            for (int dy = HEIGHT - 1; dy <= HEIGHT + 1; dy++)
                for (int dx = WIDTH - 1; dx <= WIDTH + 1; dx++)
                    around += b[(y + dy) % HEIGHT][(x + dx) % WIDTH];
            next[y][x] = around == 3 || (around == 2 && b[y][x]);
        }
    memcpy(b, next, sizeof next);
}

/* Draws two rows of the board in one line of text. */
static void board_draw(board b, long generation)
{
    static const char *const blocks[] = {" ", "\u2580", "\u2584", "\u2588"};
    printf("\033[Hgeneration %ld\n", generation);
    for (int y = 0; y < HEIGHT; y += 2) {
        for (int x = 0; x < WIDTH; x++) fputs(blocks[b[y][x] | b[y + 1][x] << 1], stdout);
        putchar('\n');
    }
}

int main(int argc, char **argv)
{
    static board b;
    long generations = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
    const char *pattern = argc > 2 ? argv[2] : "glider";
    if (!strcmp(pattern, "glider")) {
        board_place(b, glider, 1, 1);
    } else if (!strcmp(pattern, "acorn")) {
        board_place(b, acorn, HEIGHT / 2, WIDTH / 2);
    } else if (!strcmp(pattern, "soup")) {
        srand((unsigned)time(NULL));
        for (int i = 0; i < WIDTH * HEIGHT; i++) b[i / WIDTH][i % WIDTH] = rand() % 3 == 0;
    } else {
        fprintf(stderr, "unknown pattern '%s'\n", pattern);
        return 1;
    }
    printf("\033[2J");
    for (long g = 0; g <= generations; g++) {
        if (g) {
            usleep(50000);
            board_step(b);
        }
        board_draw(b, g);
    }
    return 0;
}
