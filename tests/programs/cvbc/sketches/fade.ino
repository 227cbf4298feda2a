/* Fades an LED up and down. */
#define LED_PIN 9
int brightness = 0;
int fadeAmount = 51;

void setup() { pinMode(LED_PIN, OUTPUT); }

void loop() {
  analogWrite(LED_PIN, brightness);
  brightness += fadeAmount;
  if (brightness <= 0 || brightness >= 255) fadeAmount = -fadeAmount;
  delay(30);
}
