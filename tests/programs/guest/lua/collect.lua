-- The collector: much is allocated, weak tables lose what nobody holds, finalizers run.
local count = 0
local weak = setmetatable({}, {__mode = "v"})
for i = 1, 20000 do
    local t = setmetatable({i, tostring(i)}, {__gc = function() count = count + 1 end})
    weak[i] = t
end
collectgarbage()
collectgarbage()
print(count, next(weak))
local primes, sieve = 0, {}
for i = 2, 30000 do
    if not sieve[i] then
        primes = primes + 1
        for k = i * i, 30000, i do sieve[k] = true end
    end
end
print(primes, collectgarbage("count") < 20000)
collectgarbage("generational")
local s = ""
for i = 1, 500 do s = s .. i end
print(#s)
