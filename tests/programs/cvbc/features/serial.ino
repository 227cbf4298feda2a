// What a script sends to the serial ports, and what the sketch makes of it; tones.
void setup() {
  while (!Serial.available()) ;
  Serial.println(millis() >= 5);
  Serial.println(Serial.peek() == Serial.read());
  int first = Serial.parseInt(), second = Serial.parseInt();
  Serial.println(first + second);
  Serial.println(Serial.parseFloat());
  Serial.read();
  String name = Serial.readStringUntil('\n');
  Serial.println(name + "!");
  Serial.println(Serial.readString());
  Serial.println(Serial.read());
  Serial1.print("to one ");
  Serial1.println(5);
  Serial1.write('x');
  while (Serial1.available() < 3) ;
  Serial.println(millis() / 1000);
  for (int c; (c = Serial1.read()) >= 0;) Serial.println(c);
  tone(8, 440);
  delay(1);
  noTone(8);
}
void loop() {}
int events;
void serialEvent() {
  while (Serial.available()) Serial.write(Serial.read() + 1);
  Serial.println(++events);
}
