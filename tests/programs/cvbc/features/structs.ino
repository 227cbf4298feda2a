// Structs, unions, enums and names of types; as values, in arrays, as parameters and results, behind pointers.
struct Point { int x; byte y; };
typedef struct { Point from, to; char name[6]; } Line;
union Both { int whole; unsigned bits; };
enum Color { RED, GREEN = 5, BLUE };
typedef unsigned char octet;

Point points[3] = {{1, 2}, {3, 4}, {5}};
Line lines[2] = {{{1, 2}, {3, 4}, "first"}, {.to = {7, 8}}};

Point made(int x, int y) { Point p; p.x = x; p.y = y; return p; }
int area(Point p) { p.x *= p.y; return p.x; }
void move(Point *p, int by) { p->x += by; (*p).y -= by; }
Color next(Color c) { return c == RED ? GREEN : BLUE; }

int main() {
  Point p = {10, 300}, q;
  q = p;
  q.x++;
  printf("%d %d %d %d\n", p.x, p.y, q.x, area(q));
  move(&p, 3);
  Point *at = &points[1];
  at->x += 7;
  at++;
  printf("%d %d %d %d %d\n", p.x, p.y, points[1].x, at->x, (at - 1)->y);
  for (int i = 0; i < 2; i++) printf("%d %d %d %d\n", lines[i].from.x, lines[i].to.y, lines[i].name[0], i);
  lines[1] = lines[0];
  lines[1].from = made(40, 41);
  Serial.println(lines[1].name);
  printf("%d %d %d\n", made(7, 8).x + made(1, 9).y, lines[1].from.y, area(lines[1].from));
  Both u;
  u.whole = -1;
  octet o = 255 + 2;
  printf("%u %d %d %d\n", u.bits, next(RED), next(GREEN), o);
  printf("%d %d %d %d\n", sizeof(Point), sizeof(Line), sizeof points / sizeof points[0], sizeof(u.bits));
  static Point kept = {5, 6};
  kept = points[kept.x - 4];
  printf("%d %d\n", kept.x, kept.y);
  return 0;
}
