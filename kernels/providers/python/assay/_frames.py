"""Messages between a judge and the process of references: their length, then numbers as this machine writes them."""
import struct

_LENGTH = struct.Struct("<Q")


class Ended(Exception):
    """The other side has closed the socket."""


class Writer:
    """Collects a message. Arrays are sent from where they lie."""

    def __init__(self):
        self._parts = []

    def u8(self, value):
        return self.raw(struct.pack("<B", value))

    def u64(self, value):
        return self.raw(struct.pack("<Q", value))

    def i64(self, value):
        return self.raw(struct.pack("<q", value))

    def text(self, value):
        encoded = value.encode(errors="replace")
        return self.u64(len(encoded)).raw(encoded)

    def texts(self, values):
        return self.list(values, self.text)

    def list(self, values, write):
        self.u64(len(values))
        for value in values:
            write(value)
        return self

    def raw(self, data):
        self._parts.append(memoryview(data).cast("B") if len(data) else b"")
        return self

    def send(self, socket):
        socket.sendall(_LENGTH.pack(sum(len(part) for part in self._parts)))
        small = bytearray()
        for part in self._parts:
            if len(part) <= 4096:
                small += part
                continue
            socket.sendall(small)
            small = bytearray()
            socket.sendall(part)
        socket.sendall(small)


class Reader:
    """Takes a message apart."""

    def __init__(self, data):
        self._data, self._at = memoryview(data), 0

    @classmethod
    def receive(cls, socket):
        return cls(_received(socket, _LENGTH.unpack(_received(socket, _LENGTH.size))[0]))

    def raw(self, count):
        if count > len(self._data) - self._at:
            raise ValueError("the message is shorter than it says")
        self._at += count
        return self._data[self._at - count:self._at]

    def u8(self):
        return self.raw(1)[0]

    def u64(self):
        return struct.unpack("<Q", self.raw(8))[0]

    def i64(self):
        return struct.unpack("<q", self.raw(8))[0]

    def text(self):
        return bytes(self.raw(self.u64())).decode(errors="replace")

    def list(self, read):
        return [read() for _ in range(self.u64())]


def _received(socket, count):
    data = bytearray(count)
    view = memoryview(data)
    while view:
        size = socket.recv_into(view)
        if not size:
            raise Ended
        view = view[size:]
    return data
