// Blinks three times and prints a line each time.
int main() {
    pinMode(13, OUTPUT);
    for (int i = 1; i <= 3; i++) {
        digitalWrite(13, HIGH);
        delay(100);
        digitalWrite(13, LOW);
        delay(100);
        printf("blink %d\n", i);
    }
    return 0;
}
