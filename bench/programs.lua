-- What an interpreter does all day: calls, tables, text, sorting, closures and the collector. Prints what it found.
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
print("fib", fib(27))

local seed = 1
local function random(n)
    seed = (seed * 1103515245 + 12345) & 0x7fffffff
    return (seed >> 8) % n
end

local numbers = {}
for i = 1, 60000 do numbers[i] = random(1000000) end
table.sort(numbers)
local checksum = 0
for i, n in ipairs(numbers) do checksum = (checksum * 31 + n * i) & 0xffffffff end
print("sort", checksum)

local counts, words = {}, 0
local text = {}
for _ = 1, 60000 do text[#text + 1] = "word" .. random(700) end
for word in table.concat(text, " "):gmatch("%a+%d+") do
    counts[word] = (counts[word] or 0) + 1
    words = words + 1
end
local most = 0
for _, count in pairs(counts) do most = math.max(most, count) end
print("words", words, most, #(table.concat(text, ","):gsub("7", "<%0>"):upper()))

local function tree(depth)
    if depth == 0 then return {} end
    return {tree(depth - 1), tree(depth - 1)}
end
local function nodes(t) return t[1] and 1 + nodes(t[1]) + nodes(t[2]) or 1 end
local total = 0
for _ = 1, 40 do total = total + nodes(tree(11)) end
print("trees", total)

local function matrix(n, f)
    local m = {}
    for i = 1, n do
        m[i] = {}
        for k = 1, n do m[i][k] = f(i, k) end
    end
    return m
end
local size = 90
local a, b = matrix(size, function(i, k) return i + k / 2 end), matrix(size, function(i, k) return i - k end)
local product = matrix(size, function(i, k)
    local sum = 0
    for j = 1, size do sum = sum + a[i][j] * b[j][k] end
    return sum
end)
print("matrix", string.format("%.3f %.3f", product[1][size], product[size][1]))

local account = {}
account.__index = account
function account.new() return setmetatable({balance = 0}, account) end
function account:add(n) self.balance = self.balance + n return self end
local mine, adders = account.new(), {}
for i = 1, 100 do adders[i] = function(x) return mine:add(x * i) end end
for round = 1, 4000 do for i = 1, 100 do adders[i](round) end end
print("objects", mine.balance)
