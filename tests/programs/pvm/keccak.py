"""Keccak-256 for tests, from its definition."""


def keccak(data):
    """Keccak-256 with the padding of the submission."""
    mask = (1 << 64) - 1
    lanes = [0] * 25
    block = bytearray(data) + b"\x01" + bytes(-(len(data) + 1) % 136)
    block[-1] |= 0x80

    def rotate(v, n):
        return (v << n | v >> (64 - n)) & mask if n else v
    for at in range(0, len(block), 136):
        for i in range(17):
            lanes[i] ^= int.from_bytes(block[at + 8 * i:at + 8 * i + 8], "little")
        lfsr = 1
        for _ in range(24):
            c = [lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20] for x in range(5)]
            lanes = [lanes[i] ^ c[(i + 4) % 5] ^ rotate(c[(i + 1) % 5], 1) for i in range(25)]
            x, y, moving = 1, 0, lanes[1]
            for t in range(24):
                x, y = y, (2 * x + 3 * y) % 5
                lanes[x + 5 * y], moving = rotate(moving, (t + 1) * (t + 2) // 2 % 64), lanes[x + 5 * y]
            for row in range(0, 25, 5):
                r = lanes[row:row + 5]
                for i in range(5):
                    lanes[row + i] = r[i] ^ (~r[(i + 1) % 5] & mask & r[(i + 2) % 5])
            for j in range(7):
                if lfsr & 1:
                    lanes[0] ^= 1 << ((1 << j) - 1)
                lfsr = (lfsr << 1 ^ (0x71 if lfsr & 0x80 else 0)) & 0xff
    return b"".join(v.to_bytes(8, "little") for v in lanes[:4])
