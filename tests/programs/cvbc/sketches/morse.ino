// Sends a message in Morse code.
const char message[] = "SOS";
char text[] = "SOS";
#define UNIT 200

void on(int units) {
  digitalWrite(LED_BUILTIN, HIGH);
  delay(units * UNIT);
  digitalWrite(LED_BUILTIN, LOW);
  delay(UNIT);
}

void letter(char c) {
  int code, count = 3;
  switch (c) {
    case 'S': code = 0b000; break;
    case 'O': code = 0b111; break;
    default:
      Serial.print("no code for ");
      Serial.println(c);
      return;
  }
  do {
    on(bitRead(code, --count) ? 3 : 1);
  } while (count > 0);
  delay(2 * UNIT);
}

void setup() {
  pinMode(LED_BUILTIN, OUTPUT);
  Serial.println(message);
  for (int i = 0; text[i] != '\0'; i++) letter(text[i]);
  letter('?');
}

void loop() { delay(1000); }
