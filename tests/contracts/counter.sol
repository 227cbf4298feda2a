// SPDX-License-Identifier: MIT
// One contract that calls another: return values, static calls, every way to fail.
pragma solidity ^0.8.24;

contract Counter {
    uint public n;
    address public by;
    event Set(address indexed by, uint v);
    error Bad(uint code);

    function set(uint v) external payable returns (uint old) {
        old = n;
        n = v;
        by = msg.sender;
        emit Set(msg.sender, v);
    }

    function fail(uint k) external returns (uint) {
        n = 999;
        emit Set(msg.sender, k);
        if (k == 0) revert("plain");
        if (k == 1) revert Bad(42);
        if (k == 2) return 1 / (k - 2);
        if (k == 3) assembly { invalid() }
        return k;
    }
}

contract User {
    function set(Counter c, uint v) external payable returns (uint) {
        return c.set{value: msg.value}(v);
    }

    function peek(address c, uint v) external returns (bool ok, bytes memory r) {
        (ok, r) = c.staticcall(abi.encodeCall(Counter.set, (v)));
    }

    function attempt(Counter c, uint k) external returns (uint kind, uint val, uint size) {
        try c.fail(k) returns (uint r) {
            return (0, r, 0);
        } catch Error(string memory s) {
            return (1, 0, bytes(s).length);
        } catch Panic(uint p) {
            return (2, p, 0);
        } catch (bytes memory b) {
            return (3, 0, b.length);
        }
    }
}
