// Pointers, arrays as parameters, references, functions behind pointers, texts that are read.
typedef int (*op)(int, int);
int add(int a, int b) { return a + b; }
int sub(int a, int b) { return a - b; }
op ops[] = {add, sub};
int grid[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9}};
int large[100];
const char *names[] = {"zero", "one", "two"};
char buffer[20];
int counter = 5;

void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
void increment(int &a) { a++; }
int sum(const int *t, int n) { int s = 0; for (int i = 0; i < n; i++) s += t[i]; return s; }
int backwards(int t[], int n) { int s = 0; while (n--) s = s * 10 + *t++; return s; }
int row(int t[][4], int i) { return t[i][0] + t[i][3]; }
int twice(int (*f)(int, int), int a) { return f(f(a, a), 1); }
int length(const char *text) { const char *p = text; while (*p) p++; return p - text; }
int *larger(int *a, int *b) { return *a > *b ? a : b; }

int main() {
  int a = 3, b = 4;
  swap(&a, &b);
  increment(a);
  printf("%d %d\n", a, b);
  *larger(&a, &b) = 99;
  printf("%d %d\n", a, b);
  printf("%d %d %d\n", ops[0](5, 2), ops[1](5, 2), twice(sub, 9));
  op chosen = a > b ? &sub : add;
  printf("%d %d\n", chosen(8, 3), chosen == sub);
  printf("%d %d %d %d\n", sum(grid[1], 4), backwards(&grid[0][1], 3), row(grid, 1), sum(*(grid + 2), 4));
  for (int i = 0; i < 100; i++) large[i] = i * i;
  int *p = large + 70, *end = large + 100;
  printf("%d %d %d\n", *p, p[5], end - p);
  for (int i = 0; i < 3; i++) { Serial.print(names[i]); Serial.print(length(names[i])); }
  Serial.println();
  strcpy(buffer, "hello");
  strcat(buffer, " w");
  buffer[0] -= 32;
  Serial.println(buffer);
  printf("%d %d %d\n", strlen(buffer), strcmp(buffer, "Hello w"), strcmp("a", "b") < 0);
  int *c = &counter, **cc = &c;
  (**cc)++;
  int &alias = counter;
  alias *= 2;
  printf("%d %d\n", counter, *c);
  int local[4] = {1, 2};
  local[counter & 3] = 7;
  printf("%d %d\n", sum(local, 4), c ? 1 : 0);
  return 0;
}
