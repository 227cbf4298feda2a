// Turns a stepper motor by half steps, forwards and back.
const uint8_t coils[4] = {8, 9, 10, 11};
const bool steps[8][4] = {
  {1, 0, 0, 0}, {1, 1, 0, 0}, {0, 1, 0, 0}, {0, 1, 1, 0},
  {0, 0, 1, 0}, {0, 0, 1, 1}, {0, 0, 0, 1}, {1, 0, 0, 1},
};
int8_t position = 0;
int16_t turned = 32760;

void step(int direction) {
  position = (position + direction + 8) % 8;
  for (int i = 0; i < 4; i++) digitalWrite(coils[i], steps[position][i]);
  turned += direction * 5;
  delay(2);
}

void setup() {
  for (int i = 0; i < 4; i++) pinMode(coils[i], OUTPUT);
  for (int i = 0; i < 3; i++) step(+1);
  Serial.println(turned); // 16 bits: it wrapped
  for (int i = 0; i < 2; i++) step(-1);
}

void loop() { delay(500); }
