// A light runs along a row of LEDs and back.
int timer = 100;
const int ledPins[] = {2, 7, 4, 6, 5, 3};
const int pinCount = sizeof(ledPins) / sizeof(ledPins[0]);

void flash(int pin) {
  digitalWrite(pin, HIGH);
  delay(timer);
  digitalWrite(pin, LOW);
}

void setup() {
  for (int thisPin = 0; thisPin < pinCount; thisPin++) {
    pinMode(ledPins[thisPin], OUTPUT);
  }
}

void loop() {
  for (int thisPin = 0; thisPin < pinCount; thisPin++) flash(ledPins[thisPin]);
  for (int thisPin = pinCount - 2; thisPin > 0; thisPin--) flash(ledPins[thisPin]);
}
