// The class String.
String name = "global", empty, list[3];
String quoted(String s) { return "\"" + s + "\""; }
String longest(const String &a, String b) { if (a.length() > b.length()) return a; return b; }
void extend(String &s, int times) { while (times--) s += '-'; }
void setup() {
  String s = "abc";
  s += 1;
  s += 'x';
  s += 2.5;
  Serial.println(s);
  String t = s.substring(1, 3) + "!" + s, u = t;
  t.replace("b", "BB");
  t.toUpperCase();
  Serial.println(t + " " + u.length());
  Serial.println(quoted(name) + quoted(empty) + longest(name, "other one"));
  extend(name, 3);
  Serial.println(name);
  for (int i = 0; i < 3; i++) { String fresh; fresh += i; list[i] = fresh + list[(i + 2) % 3]; }
  Serial.println(list[0] + ',' + list[1] + ',' + list[2]);
  Serial.println(String(45, HEX) + String(255, BIN) + String(-5) + String(4000000000u) + String(5.698, 3));
  Serial.println(s.indexOf("1x") * 100 + s.lastIndexOf('c') * 10 + s.indexOf('z'));
  Serial.println(s.startsWith("abc") + s.endsWith(".50") + s.equals("ab") + s.equalsIgnoreCase("ABC1X2.50"));
  Serial.println(String("  trim me ").substring(1).toInt());
  String w = "  12 apples  ";
  w.trim();
  w.setCharAt(3, 'A');
  w.remove(2, 1);
  w.concat(7);
  Serial.println(w + w.toInt() + w.charAt(0) + w[1]);
  Serial.println(String("3.75").toFloat() * 2);
  Serial.println((name > "glob") + (name < "globe") + (name == name) + (name != "x") + (name.compareTo("a") > 0));
  String kept = empty.length() ? name : "none";
  kept = kept + kept;
  Serial.println(kept.c_str());
  for (int i = 0; i < 300; i++) { String more = kept + i; kept = more.substring(0, 8); }
  printf("%s %d\n", kept, kept.length());
}
