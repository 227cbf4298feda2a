// Rolls a die when the button is pressed and counts what came.
const int button = 2;
unsigned int counts[6];

int roll() { return random(1, 7); }

void setup() {
  pinMode(button, INPUT_PULLUP);
  randomSeed(42);
}

void loop() {
  static int rolls = 0;
  if (digitalRead(button) == LOW && rolls < 60) {
    int value = roll();
    counts[value - 1]++;
    if (++rolls % 20 == 0) {
      Serial.print(rolls);
      Serial.print(':');
      for (byte i = 0; i < 6; i++) {
        Serial.print(' ');
        Serial.print(counts[i]);
      }
      Serial.println();
    }
  }
  delayMicroseconds(1500);
}
