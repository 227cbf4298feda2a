// SPDX-License-Identifier: MIT
// An auction that ends at a time: bids are money, outbid bidders take theirs back.
pragma solidity ^0.8.24;

contract Auction {
    address payable public immutable seller;
    uint public immutable end;
    address public leader;
    uint public highest;
    bool public settled;
    mapping(address => uint) public refund;
    event Bid(address indexed who, uint amount);
    event Settled(address indexed winner, uint amount);
    error TooEarly(uint left);
    error TooLate();
    error TooLow(uint highest);

    constructor(uint duration) {
        seller = payable(msg.sender);
        end = block.timestamp + duration;
    }

    function bid() external payable {
        if (block.timestamp >= end) revert TooLate();
        if (msg.value <= highest) revert TooLow(highest);
        if (leader != address(0)) refund[leader] += highest;
        leader = msg.sender;
        highest = msg.value;
        emit Bid(msg.sender, msg.value);
    }

    function withdraw() external returns (uint amount) {
        amount = refund[msg.sender];
        refund[msg.sender] = 0;
        (bool ok,) = msg.sender.call{value: amount}("");
        require(ok, "unpaid");
    }

    function settle() external {
        if (block.timestamp < end) revert TooEarly(end - block.timestamp);
        require(!settled, "settled");
        settled = true;
        emit Settled(leader, highest);
        seller.transfer(highest);
    }
}
