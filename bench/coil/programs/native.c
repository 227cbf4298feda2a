/* The programs of this folder in C, as one writes them there. native NAME SIZE prints what the COIL
 * program of that name prints. Sizes come from the command line, so that a compiler cannot use them. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- nbody ---- */

struct body {
    double x, y, z, vx, vy, vz, mass;
};
static struct body bodies[5] = {
    {0, 0, 0, 0, 0, 0, 39.47841760435743},
    {4.84143144246472090, -1.16032004402742839, -0.103622044471123109, 0.606326392995832,
     2.81198684491626, -0.02521836165988763, 0.03769367487038949},
    {8.34336671824457987, 4.12479856412430479, -0.403523417114321038, -1.01077434617879236,
     1.82566237123041186, 0.008415761376584154, 0.011286326131968767},
    {12.8943695621391310, -15.1111514016986312, -0.223307578892655734, 1.08279100644153536,
     0.8687130181696082, -0.010832637401363636, 0.0017237240570597112},
    {15.3796971148509165, -25.9193146099879641, 0.179258772950371181, 0.979090732243897976,
     0.5946989986476762, -0.034755955504078104, 0.0020336868699246304},
};

static double nbody(int steps)
{
    const double dt = 0.01;
    for (int n = 0; n < steps; n++) {
        for (int i = 0; i < 5; i++) {
            struct body *a = &bodies[i];
            for (int j = i + 1; j < 5; j++) {
                struct body *b = &bodies[j];
                double dx = a->x - b->x, dy = a->y - b->y, dz = a->z - b->z;
                double d2 = dx * dx + dy * dy + dz * dz;
                double mag = dt / (d2 * sqrt(d2));
                a->vx -= dx * b->mass * mag;
                a->vy -= dy * b->mass * mag;
                a->vz -= dz * b->mass * mag;
                b->vx += dx * a->mass * mag;
                b->vy += dy * a->mass * mag;
                b->vz += dz * a->mass * mag;
            }
        }
        for (int i = 0; i < 5; i++) {
            struct body *a = &bodies[i];
            a->x += dt * a->vx;
            a->y += dt * a->vy;
            a->z += dt * a->vz;
        }
    }
    return bodies[0].x * 1e6 + bodies[1].x + bodies[4].vz;
}

/* ---- spectral norm ---- */

static double u[4096], v[4096], t[4096];

static double spectral_element(int i, int j) { return 1.0 / ((i + j) * (i + j + 1) / 2 + i + 1); }

static void spectral_times(int n, const double *from, double *to)
{
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++) sum += spectral_element(i, j) * from[j];
        to[i] = sum;
    }
}

static void times_transposed(int n, const double *from, double *to)
{
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++) sum += spectral_element(j, i) * from[j];
        to[i] = sum;
    }
}

static double spectral(int n)
{
    double above = 0, below = 0;
    for (int i = 0; i < n; i++) u[i] = 1;
    for (int k = 0; k < 10; k++) {
        spectral_times(n, u, t);
        times_transposed(n, t, v);
        spectral_times(n, v, t);
        times_transposed(n, t, u);
    }
    for (int i = 0; i < n; i++) {
        above += u[i] * v[i];
        below += v[i] * v[i];
    }
    return sqrt(above / below);
}

/* ---- sha256 ---- */

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t word_ror(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void sha256_compress(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[64];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t s0 = word_ror(w[i - 15], 7) ^ word_ror(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = word_ror(w[i - 2], 17) ^ word_ror(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5],
             g = state[6], h = state[7];
    for (int i = 0; i < 64; i++) {
        uint32_t s1 = word_ror(e, 6) ^ word_ror(e, 11) ^ word_ror(e, 25),
                 choice = (e & f) ^ (~e & g);
        uint32_t t1 = h + s1 + choice + constants[i] + w[i];
        uint32_t s0 = word_ror(a, 2) ^ word_ror(a, 13) ^ word_ror(a, 22),
                 most = (a & b) ^ (a & c) ^ (b & c);
        uint32_t t2 = s0 + most;
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

static uint8_t message[65536];

static uint32_t sha256(int rounds)
{
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int i = 0; i < 65536; i++) message[i] = (uint8_t)(i * 7);
    for (int r = 0; r < rounds; r++)
        for (int at = 0; at < 65536; at += 64) sha256_compress(state, message + at);
    return state[0];
}

/* ---- a loop over bytecode ---- */

enum op { LDI, ADD, SUB, MUL, AND, SHR, JNZ, JZ, JMP, MOV, XOR, HALT };
struct code {
    uint8_t op, a, b, c;
    int32_t imm;
};
static struct code program[] = {
    {LDI, 0, 0, 0, 0}, {LDI, 9, 0, 0, 1}, {LDI, 8, 0, 0, 3}, {LDI, 7, 0, 0, 0}, {MOV, 1, 0, 0, 0},
    {SUB, 2, 1, 9, 0}, {JZ, 2, 0, 0, 14}, {AND, 3, 1, 9, 0}, {ADD, 7, 7, 9, 0}, {JZ, 3, 0, 0, 12},
    {MUL, 1, 1, 8, 0}, {ADD, 1, 1, 9, 0}, {SHR, 1, 0, 0, 1}, {JMP, 0, 0, 0, 5}, {XOR, 7, 0, 0, 0},
    {SUB, 0, 0, 9, 0}, {JNZ, 0, 0, 0, 4}, {HALT, 0, 0, 0, 0}};
static uint64_t registers[16];

static uint64_t bytecode(int size)
{
    program[0].imm = size;
    uint64_t *r = registers;
    for (uint32_t pc = 0;;) {
        const struct code *x = &program[pc++];
        switch ((enum op)x->op) {
        case LDI: r[x->a] = (uint64_t)(int64_t)x->imm; break;
        case ADD: r[x->a] = r[x->b] + r[x->c]; break;
        case SUB: r[x->a] = r[x->b] - r[x->c]; break;
        case MUL: r[x->a] = r[x->b] * r[x->c]; break;
        case AND: r[x->a] = r[x->b] & r[x->c]; break;
        case SHR: r[x->a] >>= x->imm; break;
        case JNZ:
            if (r[x->a]) pc = (uint32_t)x->imm;
            break;
        case JZ:
            if (!r[x->a]) pc = (uint32_t)x->imm;
            break;
        case JMP: pc = (uint32_t)x->imm; break;
        case MOV: r[x->a] = r[x->b]; break;
        case XOR: r[x->a] ^= r[x->b]; break;
        default: return r[7];
        }
    }
}

/* ---- string search ---- */

static unsigned char text[1 << 20];

static long search(int rounds)
{
    const unsigned char *word = (const unsigned char *)"abacabad";
    long n = 1 << 20, m = 8, found = 0;
    uint32_t seed = 1;
    for (long i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        text[i] = (unsigned char)('a' + (seed >> 24) % 4);
    }
    for (int r = 0; r < rounds; r++)
        for (long i = 0; i + m <= n; i++) {
            long j = 0;
            while (j < m && text[i + j] == word[j]) j++;
            if (j == m) found++;
        }
    return found;
}

int main(int argc, char **argv)
{
    if (argc < 3) return 2;
    const char *name = argv[1];
    int size = atoi(argv[2]);
    if (!strcmp(name, "nbody")) printf("%.17g\n", nbody(size));
    if (!strcmp(name, "spectral")) printf("%.17g\n", spectral(size));
    if (!strcmp(name, "sha256")) printf("%u\n", sha256(size));
    if (!strcmp(name, "bytecode")) printf("%llu\n", (unsigned long long)bytecode(size));
    if (!strcmp(name, "search")) printf("%ld\n", search(size));
    return 0;
}
