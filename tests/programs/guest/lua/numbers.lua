-- Integers and floats, their text, and arithmetic at the edges.
print(1 // 0.0, -7 // 2, -7 % 3, 7 % -3.0, 2 ^ 53, 1 << 62, ~0)
print(math.maxinteger + 1 == math.mininteger, math.type(1), math.type(1.0), math.tointeger(3.0))
print(string.format("%5.2f|%-8d|%08x|%q|%g", math.pi, 42, 48879, "a\nb", 1e100))
print(tonumber("0x1p4"), tonumber("  12  "), tonumber("z", 36), tonumber("1e"), 10 // 3, 10 / 4)
print(pcall(function() return 1 // 0 end))
local sum = 0
for i = 1, 1000 do sum = sum + math.floor(math.sqrt(i) * 1000) end
print(sum, math.fmod(-6, 4), math.ult(1, -1))
