// SPDX-License-Identifier: MIT
// The precompiled contracts, and return data copied in parts.
pragma solidity ^0.8.24;

contract Pre {
    function sha(bytes calldata x) external pure returns (bytes32) { return sha256(x); }

    function rip(bytes calldata x) external pure returns (bytes20) { return ripemd160(x); }

    function rec(bytes32 h, uint8 v, bytes32 r, bytes32 s) external pure returns (address) {
        return ecrecover(h, v, r, s);
    }

    function any(address p, bytes calldata x) external view returns (bool ok, bytes memory o) {
        (ok, o) = p.staticcall(x);
    }

    function part(uint off, uint len) external view returns (bytes32 r) {
        assembly {
            mstore(0, shl(224, 0x01020304))
            pop(staticcall(gas(), 4, 0, 4, 0, 0))
            mstore(0, 0)
            returndatacopy(0, off, len)
            r := mload(0)
        }
    }
}
