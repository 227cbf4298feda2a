// A traffic light as a state machine.
enum Light { RED, RED_YELLOW, GREEN, YELLOW };
typedef unsigned long Time;

static const uint8_t redPin = 10, yellowPin = 11, greenPin = 12;
Light light = RED;
Time since = 0;

void show(bool r, bool y, bool g) {
  digitalWrite(redPin, r);
  digitalWrite(yellowPin, y);
  digitalWrite(greenPin, g);
}

Time duration(Light which) {
  switch (which) {
    case RED:
    case GREEN:
      return 3000;
    case RED_YELLOW:
      return 500;
    default:
      return 1000;
  }
}

void setup() {
  pinMode(redPin, OUTPUT);
  pinMode(yellowPin, OUTPUT);
  pinMode(greenPin, OUTPUT);
  show(true, false, false);
}

void loop() {
  if (millis() - since < duration(light)) {
    delay(100);
    return;
  }
  since = millis();
  light = light == YELLOW ? RED : Light(light + 1);
  switch (light) {
    case RED:        show(1, 0, 0); break;
    case RED_YELLOW: show(1, 1, 0); break;
    case GREEN:      show(0, 0, 1); break;
    case YELLOW:     show(0, 1, 0); break;
  }
}
