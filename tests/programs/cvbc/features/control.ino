// Statements and operators; escapes; widths of integers.
#include "limits.h"
#include "headers/control.h"
#include "headers/control.h"
int calls;
int touched(int v) { calls++; return v; }
int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }
int late(int n);
int main() {
  int i = 0;
again:
  if (i < 3) { i++; goto again; }
  printf("%d\n", i);
  for (int k = 0; k < 5; k++) {
    switch (k) {
    case 0: continue;
    case 1: printf("one ");
    case 2: { int z = k * 10; printf("%d ", z); } break;
    case 3: if (i) goto out; else break;
    default: printf("never");
    }
  }
out:
  do { i--; if (i == 1) continue; } while (i > 0);
  printf("%d %d\n", i, fact(10));
  printf("%d %d %d\n", touched(0) && touched(1), touched(2) || touched(3), calls);
  byte b = 250;
  b += 10;
  char c = 127;
  c++;
  short s = 32767;
  s++;
  unsigned u = 0;
  u--;
  bool t = 7;
  printf("%d %d %d %u %d\n", b, c, s, u, t);
  printf("%d %d %d %d\n", -7 / 2, -7 % 3, -7 >> 1, (unsigned)-7 >> 28);
  printf("%d %d %d\n", b--, --b, (c = 5, c + 1));
  printf("%u %u %d\n", u / 10, u % 7, u > 5);
  int x = 1;
  x <<= 4; x |= 3; x ^= 1; x &= ~16; x -= -5; x *= 3; x /= 2; x %= 7;
  printf("%d %d %d\n", x, x ? x > 1 ? 8 : 9 : 10, sizeof(long) + sizeof(char) + sizeof "ab");
  Serial.print("\ttab\x41\101\\\"\'\?\a\n");
  Serial.println('\n' + '\0' + '\x10' + '\101');
  Serial.println(0x1F + 0b101 + 017 + B11, HEX);
  printf("%d %d %s\n", TRIPLE(4), header_value(2), HEADER_NAME);
  const int table[] = {1, 2, 3};
  static int often;
  often = 4;
  return often + table[late(1)];
}
int late(int n) { return n + 1; }
