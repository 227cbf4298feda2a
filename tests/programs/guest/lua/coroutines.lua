-- Coroutines, closures, metatables and errors.
local function permutations(a, n)
    n = n or #a
    if n <= 1 then coroutine.yield(table.concat(a, " ")) return end
    for i = 1, n do
        a[n], a[i] = a[i], a[n]
        permutations(a, n - 1)
        a[n], a[i] = a[i], a[n]
    end
end
for p in coroutine.wrap(function() permutations({1, 2, 3}) end) do print(p) end
local vector = {}
vector.__index = vector
vector.__add = function(a, b) return setmetatable({a[1] + b[1], a[2] + b[2]}, vector) end
vector.__tostring = function(v) return "(" .. v[1] .. ", " .. v[2] .. ")" end
print(tostring(setmetatable({1, 2}, vector) + setmetatable({3, 4}, vector)))
print(pcall(error, {code = 7}) == false, select(2, pcall(error, "message", 0)))
print(xpcall(function() local x = nil; return x.y end, function(m) return "handled: " .. m:match("attempt.*") end))
local closed = {}
do local c <close> = setmetatable({}, {__close = function() closed[1] = "closed" end}) end
print(closed[1])
goto done
print("never")
::done::
print(#arg >= 0, load("return 1 + 1")())
