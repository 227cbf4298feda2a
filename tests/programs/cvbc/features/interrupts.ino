// Handlers of interrupts: edges of the script, a delay that they interrupt, and what noInterrupts holds back.
volatile int count = 0;
volatile unsigned long last = 0;
volatile bool pressed = false;
const byte button = 2;
void onPress() { count++; last = millis(); pressed = true; }
void onOther() { Serial.print("other "); Serial.println(millis()); }
void setup() {
  pinMode(button, INPUT_PULLUP);
  pinMode(13, OUTPUT);
  attachInterrupt(digitalPinToInterrupt(button), onPress, FALLING);
  attachInterrupt(3, onOther, CHANGE);
}
void loop() {
  while (!pressed);
  pressed = false;
  Serial.print(count); Serial.print(' '); Serial.print(last); Serial.print(' '); Serial.println(millis());
  if (count == 2) { delay(1000); Serial.println(millis()); }
  if (count == 4) { noInterrupts(); delay(500); Serial.println("on"); interrupts(); }
  if (count == 6) { detachInterrupt(button); Serial.println("off"); while(1); }
}
