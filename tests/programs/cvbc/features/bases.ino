// Numbers in other bases, printed without recursion.
void setup() { Serial.println(5, BIN); Serial.println(-1, BIN); Serial.println(0, OCT); Serial.println(4294967295u, OCT); int b = 36; Serial.println(123456, b); Serial.println(7, millis() < 0 ? 1 : 0); }
void loop() { while (1); }
