// SPDX-License-Identifier: MIT
// A token with allowances and an owner who alone may mint, and a shop that takes its price by them.
pragma solidity ^0.8.24;

contract Token {
    string public constant name = "Penta Token";
    address public immutable owner;
    uint public totalSupply;
    mapping(address => uint) public balanceOf;
    mapping(address => mapping(address => uint)) public allowance;
    event Transfer(address indexed from, address indexed to, uint amount);
    event Approval(address indexed holder, address indexed spender, uint amount);
    error NotOwner(address who);
    error TooLittle(uint has, uint needs);

    constructor(uint supply) {
        owner = msg.sender;
        give(address(0), msg.sender, supply);
    }

    function mint(address to, uint amount) external {
        if (msg.sender != owner) revert NotOwner(msg.sender);
        give(address(0), to, amount);
    }

    function transfer(address to, uint amount) external returns (bool) {
        take(msg.sender, amount);
        give(msg.sender, to, amount);
        return true;
    }

    function approve(address spender, uint amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        emit Approval(msg.sender, spender, amount);
        return true;
    }

    function transferFrom(address from, address to, uint amount) external returns (bool) {
        uint allowed = allowance[from][msg.sender];
        if (allowed < amount) revert TooLittle(allowed, amount);
        allowance[from][msg.sender] = allowed - amount;
        take(from, amount);
        give(from, to, amount);
        return true;
    }

    function take(address from, uint amount) private {
        uint has = balanceOf[from];
        if (has < amount) revert TooLittle(has, amount);
        balanceOf[from] = has - amount;
    }

    function give(address from, address to, uint amount) private {
        if (from == address(0)) totalSupply += amount;
        balanceOf[to] += amount;
        emit Transfer(from, to, amount);
    }
}

contract Shop {
    Token immutable token;
    uint immutable price;
    mapping(address => uint) public bought;

    constructor(Token t, uint p) {
        token = t;
        price = p;
    }

    function buy(uint count) external returns (uint) {
        bought[msg.sender] += count;
        require(token.transferFrom(msg.sender, address(this), count * price), "unpaid");
        return bought[msg.sender];
    }

    // Buys, and takes the purchase back when it cannot be paid.
    function tryBuy(uint count) external returns (bool ok) {
        (ok,) = address(this).delegatecall(abi.encodeCall(Shop.buy, (count)));
    }
}
