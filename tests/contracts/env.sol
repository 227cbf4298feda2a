// SPDX-License-Identifier: MIT
// What a contract sees of its surroundings; events; transient storage.
pragma solidity ^0.8.24;

contract Env {
    bytes32 immutable b;
    bool immutable f;
    mapping(address => uint) public m;
    event Four(uint indexed a, address indexed b, bytes32 indexed c, string s);
    event None(uint v) anonymous;

    constructor(bytes32 x) {
        b = x;
        f = true;
    }

    function imm() external view returns (bytes32, bool) { return (b, f); }

    function blk() external view returns (uint, uint, uint, address) {
        return (block.number, block.timestamp, block.chainid, block.coinbase);
    }

    function hash(uint n) external view returns (bytes32) { return blockhash(n); }

    function who() external payable returns (address, address, uint, uint) {
        return (msg.sender, tx.origin, msg.value, address(this).balance);
    }

    function log(string calldata s) external {
        m[msg.sender] += 5;
        emit Four(7, msg.sender, bytes32("k"), s);
        emit None(9);
    }

    function tset(uint k, uint v) external { assembly { tstore(k, v) } }

    function tget(uint k) external view returns (uint v) { assembly { v := tload(k) } }

    function tboth(uint k, uint v) external returns (uint, uint) {
        this.tset(k, v);
        return (this.tget(k), this.tget(k + 1));
    }
}
