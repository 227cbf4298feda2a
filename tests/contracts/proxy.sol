// SPDX-License-Identifier: MIT
// Delegate calls: another contract's code on one's own storage, with its immutable data.
pragma solidity ^0.8.24;

contract Logic {
    uint public n;
    address public who;
    address public me;
    uint public paid;
    uint public immutable tag;

    constructor(uint t) { tag = t; }

    function bump(uint d) external payable returns (uint) {
        n += d;
        who = msg.sender;
        me = address(this);
        paid = msg.value;
        return n;
    }

    function boom() external {
        n = 77;
        revert("boom");
    }
}

contract Proxy {
    address immutable impl;

    constructor(address i) { impl = i; }

    fallback() external payable {
        address i = impl;
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), i, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if ok { return(0, returndatasize()) }
            revert(0, returndatasize())
        }
    }
}
