// float as IEEE single, and how numbers are printed.
union Bits { float f; unsigned u; };
unsigned bits(float f) { Bits b; b.f = f; return b.u; }
float half = .5, small = 1e-40f;
double pi = 3.14159265358979;
int main() {
  Serial.println(1.5);
  Serial.println(pi, 5);
  Serial.println(-0.05, 1);
  Serial.println(2.0 / 3, 0);
  Serial.println(1e10f);
  Serial.println(0.0 / 0.0);
  Serial.println(1 / 0.0);
  printf("%x %x %x %x\n", bits(0.1f), bits(small), bits(small * half), bits(-half));
  printf("%x %x %x %x\n", bits(1e38f * 10), bits(16777216.0f + 1), bits(1.0f / 3), bits(-0.0f));
  printf("%x %x %x\n", bits(sqrt(2.0f)), bits(sqrt(half)), bits(sqrt(16)));
  int n = 7;
  float x = n / 2, y = n / 2.0f;
  x += 0.25;
  y *= n;
  y -= 1;
  printf("%d %d %d %d\n", (int)x, (int)y, (int)-y, x < y);
  printf("%d %d %d\n", (int)3e9f, (int)-3e9f, (unsigned)3e9f);
  printf("%f|%.2f|%.0f\n", 1.25, pi, 2.4f);
  byte level = 255 * 0.5;
  level++;
  Serial.println(level);
  Serial.println(constrain(1.75, 0.0, 1.0) + max(half, 0.25f) + abs(-2.5) + sq(1.5) + min(3, 2.5));
  Serial.println(round(2.5) + round(-2.5) + round(1.4));
  y++;
  Serial.println(y--, 1);
  Serial.println(!y ? "zero" : "more");
  Serial.println(millis() < 1000 && half ? 'y' : 'n');
  return 0;
}
