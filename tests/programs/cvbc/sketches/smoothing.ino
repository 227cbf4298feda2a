// The average of the last readings of a sensor.
#ifndef SAMPLES
#define SAMPLES 4
#endif
#define AVERAGE(sum, n) ((sum) / (n))

int readings[SAMPLES];
int readIndex = 0;
long total = 0;
int average = 0;
const int inputPin = A0;

void setup() {
  Serial.begin(9600);
  for (int thisReading = 0; thisReading < SAMPLES; thisReading++) readings[thisReading] = 0;
}

void loop() {
  total -= readings[readIndex];
  readings[readIndex] = analogRead(inputPin);
  total += readings[readIndex++];
  if (readIndex >= SAMPLES) readIndex = 0;
  average = AVERAGE(total, SAMPLES);
  Serial.print("raw ");
  Serial.print(readings[(readIndex + SAMPLES - 1) % SAMPLES]);
  Serial.print(" average ");
  Serial.println(average);
  delay(100);
}
