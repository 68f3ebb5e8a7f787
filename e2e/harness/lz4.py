"""Unpacks LZ4 frames, in which Kafka's clients pack records. Owns the frame and block formats; reading only."""

from __future__ import annotations

import struct

__all__ = ["unpack_lz4"]

_MAGIC = 0x184D2204
_STORED = 1 << 31


def unpack_lz4(frame: bytes) -> bytes:
    """Return the content of a frame; its checksums are not looked at.

    Raises:
        ValueError: It is no frame.
    """
    magic, flags = struct.unpack_from("<IB", frame)
    if magic != _MAGIC:
        raise ValueError(f"an LZ4 frame begins with {_MAGIC:#x}, not {magic:#x}")
    # Magic, two bytes of flags, the content's size, the checksum of the header.
    place = 4 + 2 + (8 if flags & 0x08 else 0) + 1
    checksum_length = 4 if flags & 0x10 else 0
    unpacked = bytearray()
    while length := struct.unpack_from("<I", frame, place)[0]:
        place += 4
        is_stored, length = length & _STORED, length & ~_STORED
        block = frame[place : place + length]
        if is_stored:
            unpacked += block
        else:
            _unpack_block(block, unpacked)
        place += length + checksum_length
    return bytes(unpacked)


def _unpack_block(block: bytes, unpacked: bytearray) -> None:
    place = 0
    while place < len(block):
        token = block[place]
        literals, place = _length(block, place + 1, token >> 4)
        unpacked += block[place : place + literals]
        place += literals
        if place >= len(block):
            # The last sequence has no match.
            return
        offset = block[place] | block[place + 1] << 8
        matched, place = _length(block, place + 2, token & 15)
        start = len(unpacked) - offset
        # A match may reach into what it makes.
        for number in range(matched + 4):
            unpacked.append(unpacked[start + number])


def _length(block: bytes, place: int, nibble: int) -> tuple[int, int]:
    """Return a length that begins in a token, and the place behind it."""
    length = nibble
    while nibble == 15:
        more = block[place]
        length, place = length + more, place + 1
        if more != 255:
            break
    return length, place
