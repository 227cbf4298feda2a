// Devices at I2C and SPI, which the script answers for.
#include <Wire.h>
#include <SPI.h>
const int CS = 10;
SPISettings settings(2000000, MSBFIRST, SPI_MODE1);
void setup() {
  Wire.begin();
  Wire.setClock(400000);
  Wire.beginTransmission(0x68);
  Wire.write(0x6B); Wire.write(0);
  Serial.println(Wire.endTransmission());
  Wire.beginTransmission(0x50);
  Serial.println(Wire.endTransmission());
  Wire.beginTransmission(0x68); Wire.write(0x3B); Wire.endTransmission(false);
  Serial.println(Wire.requestFrom(0x68, 4));
  while (Wire.available()) { Serial.print(Wire.read()); Serial.print(' '); }
  Serial.println(Wire.read());
  pinMode(CS, OUTPUT); digitalWrite(CS, HIGH);
  SPI.begin();
  SPI.beginTransaction(SPISettings(4000000, MSBFIRST, SPI_MODE0));
  Serial.println(SPI.transfer(0x9F));
  digitalWrite(CS, LOW);
  Serial.println(SPI.transfer(0x9F), HEX);
  Serial.println(SPI.transfer16(0x1234), HEX);
  byte buf[3] = {1, 2, 3};
  SPI.transfer(buf, 3);
  for (int i = 0; i < 3; i++) Serial.println(buf[i]);
  digitalWrite(CS, HIGH);
  SPI.endTransaction();
}
void loop() {}
