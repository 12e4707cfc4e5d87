"""The devices that PyTorch drives, for hardware that Assay itself cannot reach: AMD's, Intel's, Apple's."""
import bisect
import ctypes

_ALIGNMENT = 4096  # of addresses


def _host_bytes(torch, address, size):
    return torch.frombuffer((ctypes.c_char * size).from_address(address), dtype=torch.uint8)


class TorchDevices:
    """Memory is told by addresses of our own: some of these devices have none to give."""

    def __init__(self, torch):
        self._torch = torch
        self.list = [(kind, index, name) for kind in self._kinds() for index, name in enumerate(self._names(kind))]
        self._begins = []  # of the tensors that stand for memory, in order
        self._blocks = {}
        self._next = 1 << 40

    def _kinds(self):
        """Returns "cpu", to try things out, and those that are there of PyTorch's accelerators."""
        torch, kinds = self._torch, ["cpu"]
        if hasattr(torch, "accelerator") and torch.accelerator.is_available():
            kinds.append(torch.accelerator.current_accelerator().type)
        elif torch.cuda.is_available():
            kinds.append("cuda")
        elif hasattr(torch.backends, "mps") and torch.backends.mps.is_available():
            kinds.append("mps")
        return kinds

    def _names(self, kind):
        module = getattr(self._torch, kind, None)
        count = getattr(module, "device_count", lambda: 1)() if kind != "cpu" else 1
        name_of = getattr(module, "get_device_name", None)
        if name_of is None or (kind == "cuda" and self._torch.version.cuda):
            # On NVIDIA's GPUs the name takes a context, which nobody asked for yet.
            name_of = lambda index: f"{kind} of PyTorch {self._torch.__version__}"  # noqa: E731
        return [name_of(index) for index in range(count)]

    def _device(self, device):
        kind, index, _ = self.list[device]
        return self._torch.device(kind, index)

    def allocate(self, device, size):
        address, self._next = self._next, self._next + (size // _ALIGNMENT + 2) * _ALIGNMENT
        self._blocks[address] = self._torch.empty(size, dtype=self._torch.uint8, device=self._device(device))
        self._begins.append(address)  # they only grow
        return address

    def release(self, address):
        if self._blocks.pop(address, None) is not None:
            self._begins.remove(address)

    def bytes_at(self, address, size):
        """Returns bytes from an address on as a tensor."""
        begin = self._begins[bisect.bisect_right(self._begins, address) - 1]
        return self._blocks[begin][address - begin:address - begin + size]

    def upload(self, to, host, size):
        if size:
            self.bytes_at(to, size).copy_(_host_bytes(self._torch, host, size))

    def download(self, host, address, size):
        if size:
            _host_bytes(self._torch, host, size).copy_(self.bytes_at(address, size))

    def fill(self, address, byte, size):
        if size:
            self.bytes_at(address, size).fill_(byte)

    def synchronize(self, device, is_all):
        """Waits for the current stream, or for all work."""
        kind, index, _ = self.list[device]
        module = getattr(self._torch, kind, None)
        if kind == "cpu":
            return  # computes at once
        if not is_all and hasattr(module, "current_stream"):
            module.current_stream(index).synchronize()
        elif kind == "mps":
            module.synchronize()
        else:
            module.synchronize(index)
