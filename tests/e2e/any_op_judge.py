"""The process of references, as a judge talks to it."""
import os
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile

import numpy as np

PACKAGE = pathlib.Path(__file__).parents[2] / "kernels" / "providers" / "python"
HOST = PACKAGE / "assay" / "_reference_host.py"
sys.path.insert(0, str(PACKAGE))

from assay._frames import Reader  # noqa: E402


class Host:
    """The process that serves the ops of a file with this text."""

    def __init__(self, text):
        self._folder = tempfile.TemporaryDirectory(prefix="assay-any-op-")
        source = pathlib.Path(self._folder.name, "mine.py")
        source.write_text(text, encoding="utf-8")
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen([sys.executable, HOST, source, str(theirs.fileno())],
                                             pass_fds=[theirs.fileno()],
                                             env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.end()

    def end(self):
        """Closes the socket, and returns the exit code."""
        self._socket.close()
        code = self._process.wait(60)
        self._folder.cleanup()
        return code

    def send(self, payload):
        self._socket.sendall(struct.pack("<Q", len(payload)) + payload)

    def receive(self):
        return Payload.receive(self._socket)

    def hello(self):
        """Returns the reason of a refusal, or the ops."""
        hello = self.receive()
        if not hello.u8():
            return hello.text()
        self.digest = hello.text()
        return hello.list(hello.op)

    def measure(self, op, dtype, sizes, inputs, draws=8, seed=0, arithmetic="f32"):
        payload = bytes([0]) + text_of(op) + text_of(dtype) + struct.pack("<Q", len(sizes))
        payload += b"".join(text_of(name) + struct.pack("<q", size) for name, size in sizes.items())
        payload += text_of(arithmetic) + struct.pack("<QQQ", draws, seed, len(inputs))
        payload += b"".join(struct.pack("<Q", one.nbytes) + one.tobytes() for one in inputs)
        self.send(payload)
        return self.receive()


def text_of(value):
    return struct.pack("<Q", len(value.encode())) + value.encode()


class Payload(Reader):
    """A message to the judge, taken apart."""

    @property
    def data(self):
        return bytes(self._data)

    def is_at_end(self):
        return self._at == len(self._data)

    def texts(self):
        return self.list(self.text)

    def op(self):
        return {"name": self.text(), "formula": self.text(), "dtypes": self.texts(),
                "parameters": {name: sizes for name, sizes in self.list(
                    lambda: (self.text(), self.list(lambda: (self.i64(), self.u8()))))},
                "inputs": self.list(lambda: (self.text(), self.texts(), self.u8(), self.text(), self.text())),
                "outputs": self.list(lambda: (self.text(), self.texts())),
                "terms": self.text(), "is_ring": self.u8(), "arithmetic": self.text(), "rows": self.text(),
                "refusal": self.text(), "roundings": self.text()}

    def output(self, dtype=np.float64):
        count = self.u64()
        return (np.frombuffer(self.raw(8 * count), dtype), np.frombuffer(self.raw(8 * count)),
                np.frombuffer(self.raw(count), np.uint8))
