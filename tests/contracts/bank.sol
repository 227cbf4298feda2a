// SPDX-License-Identifier: MIT
// Money: send, transfer and call; reentry; what a failing inner call takes back; depth.
pragma solidity ^0.8.24;

contract Bank {
    uint public pokes;
    uint public log;
    event Did(uint v);

    function poke() external { pokes++; }

    function viaSend(address payable to, uint v) external returns (bool ok) {
        ok = to.send(v);
        log++;
    }

    function viaTransfer(address payable to, uint v) external {
        log++;
        to.transfer(v);
    }

    function viaCall(address to, uint v) external returns (bool ok) {
        (ok,) = to.call{value: v}("");
        log++;
    }

    function inner(uint v, bool die) external payable {
        log += v;
        emit Did(v);
        if (die) revert("die");
    }

    function outer() external returns (bool a, bool c) {
        emit Did(1);
        (a,) = address(this).call{value: 3}(abi.encodeCall(Bank.inner, (100, true)));
        (c,) = address(this).call{value: 4}(abi.encodeCall(Bank.inner, (10, false)));
        emit Did(2);
    }

    function deep(uint n) external returns (uint) {
        if (n == 0) return 0;
        try this.deep(n - 1) returns (uint r) { return r + 1; } catch { return 0; }
    }

    receive() external payable {}
}

contract Sink {
    Bank bank;
    uint public got;
    uint mode;

    constructor(Bank b) { bank = b; }

    function setMode(uint m) external { mode = m; }

    receive() external payable {
        if (mode == 1) bank.poke();
        if (mode == 2) revert();
        got += msg.value;
    }
}
