// SPDX-License-Identifier: MIT
// Contracts that make contracts, by nonce and by salt, and constructors that fail.
pragma solidity ^0.8.24;

contract Child {
    uint public v;
    address public immutable parent;
    uint public immutable endow;
    uint public size;

    constructor(uint x) payable {
        require(x != 13, "unlucky");
        v = x;
        parent = msg.sender;
        endow = msg.value;
        size = address(this).code.length;
    }
}

contract Factory {
    function make(uint x) external payable returns (address) {
        return address(new Child{value: msg.value}(x));
    }

    function make2(uint x, bytes32 s) external returns (address) {
        return address(new Child{salt: s}(x));
    }

    function try2(uint x, bytes32 s) external returns (bool, uint) {
        try new Child{salt: s}(x) returns (Child) {
            return (true, 0);
        } catch (bytes memory e) {
            return (false, e.length);
        }
    }

    function hash(address a) external view returns (bytes32) { return a.codehash; }
}
