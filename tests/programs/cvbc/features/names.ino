// What C allows with names, results, designators and texts, and functions over memory and angles.
struct cell { int x, y; };
struct cell cell[3];
enum color { RED, GREEN } color;
int add(int a, int b) { return a + b; }
int sub(int a, int b) { return a - b; }
int (*pick(int which))(int, int) { return which ? sub : add; }
typedef int (*op_t)(int, int);
op_t pick2(int w) { return w ? sub : add; }
const char text[] = "ab\0cd";
int table[6] = {[2] = 5, [4] = 7, 8};
struct pair { struct cell a, b; int n[3]; };
struct pair p = {.a.x = 1, .b = {.y = 2}, .n[1] = 9};
char line[40];
int numbers[4] = {1, 2, 3, 4}, copy[4];
void setup() {
  cell[1].x = 4;
  color = GREEN;
  Serial.println(pick(0)(5, 3)); Serial.println(pick(1)(5, 3)); Serial.println(pick2(1)(9, 1));
  Serial.println(sizeof(text)); Serial.println(text[3]);
  Serial.println(table[2]); Serial.println(table[5]); Serial.println(p.a.x + p.b.y + p.n[1]);
  memcpy(copy, numbers, sizeof(numbers)); Serial.println(copy[3]);
  memset(copy, 0, sizeof copy); Serial.println(copy[3]);
  Serial.println(sin(1.0f), 6); Serial.println(cos(1.0f), 6);
}
void loop() { while (1); }
