-- Patterns, tables and sorting.
local words = {}
for word in ("the quick brown fox jumps over the lazy dog"):gmatch("%a+") do words[#words + 1] = word end
table.sort(words, function(a, b) if #a ~= #b then return #a < #b end return a < b end)
print(table.concat(words, " "))
print(("hello world"):gsub("o", "0"), ("key = value"):match("^(%w+)%s*=%s*(%w+)$"))
print(("abc"):rep(3, "-"), ("%d"):format(7), ("x"):byte(), utf8.char(228, 8364), #utf8.char(8364))
for p, c in utf8.codes("aä€") do io.write(p, ":", c, " ") end
print()
print(string.pack("<i4", 100):byte(1, -1))
print(select("#", table.unpack({1, nil, 3}, 1, 3)), next({}))
