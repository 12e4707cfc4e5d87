"""Tensors, streams and copies of each framework."""
import ctypes
import sys

from assay import _FRAMEWORKS_NAMES, NotMine
from assay._dlpack import CPU, CUDA, Memory

_SIZES = {"f64": 8, "f32": 4, "bf16": 2, "f16": 2, "i64": 8, "i32": 4, "i16": 2, "i8": 1, "u64": 8, "u32": 4, "u16": 2,
          "u8": 1, "bool": 1, "e4m3": 1, "e5m2": 1}
_ML_DTYPES = {ours: _FRAMEWORKS_NAMES[ours] for ours in ("bf16", "e4m3", "e5m2")}  # NumPy lacks them
_NUMPY_NAMES = {ours: theirs for ours, theirs in _FRAMEWORKS_NAMES.items() if ours not in _ML_DTYPES}


def byte_strides(tensor):
    return tuple(stride * _SIZES[tensor.dtype] for stride in tensor.strides)


def device_index(device):
    """Returns the number in "cuda:1", None for "cpu"."""
    kind, _, index = device.partition(":")
    return int(index or 0) if kind == "cuda" else None


class Framework:
    """What frameworks have in common."""

    def stream(self, address):
        """Returns the parameter `stream` of kernels: the address of the cudaStream_t."""
        return address


class Numpy(Framework):
    """Arrays of NumPy, in host memory."""

    def __init__(self, device):
        if device_index(device) is not None:
            raise NotMine("NumPy has no arrays on a GPU: declare the kernel with framework='torch' or 'cupy'")
        import numpy
        self._numpy = numpy

    def dtype(self, name):
        """Returns the framework's dtype. Raises NotMine if there is none."""
        if name in _NUMPY_NAMES:
            return self._numpy.dtype(_NUMPY_NAMES[name])
        try:
            import ml_dtypes
        except ModuleNotFoundError:
            raise NotMine(f"NumPy has no {name} without the module 'ml_dtypes', which {sys.executable} does not "
                          "have") from None
        return self._numpy.dtype(getattr(ml_dtypes, _ML_DTYPES[name]))

    def tensor(self, address, tensor):
        """Returns a writable view. from_dlpack() would make it read-only in some versions."""
        dtype = self.dtype(tensor.dtype)
        if 0 in tensor.shape:
            return self._numpy.empty(tensor.shape, dtype)
        span = 1 + sum((extent - 1) * stride for extent, stride in zip(tensor.shape, tensor.strides))
        memory = (ctypes.c_char * (span * dtype.itemsize)).from_address(address)
        return self._numpy.ndarray(tensor.shape, dtype, memory, 0, byte_strides(tensor))

    def use(self, stream):
        """Makes the stream current for what the launch enqueues."""

    def copy(self, out, result):
        out[...] = result


class Torch(Framework):
    """Tensors of PyTorch."""

    def __init__(self, device):
        import torch
        self._torch = torch
        self._index = device_index(device)
        self._streams = {}
        if self._index is not None:
            if not torch.cuda.is_available():
                raise NotMine(f"PyTorch {torch.__version__} of {sys.executable} finds no GPU")
            torch.cuda.set_device(self._index)

    def dtype(self, name):
        found = getattr(self._torch, _NUMPY_NAMES.get(name) or _ML_DTYPES[name], None)
        if found is None:
            raise NotMine(f"PyTorch {self._torch.__version__} has no {name}")
        return found

    def tensor(self, address, tensor):
        memory = (Memory(address, tensor) if self._index is None else Memory(address, tensor, CUDA, self._index))
        return self._torch.utils.dlpack.from_dlpack(memory).view(self.dtype(tensor.dtype))

    def use(self, stream):
        if self._index is None:
            return
        if stream not in self._streams:
            cuda = self._torch.cuda  # ExternalStream(0) would be a new stream
            self._streams[stream] = (cuda.ExternalStream(stream, self._index) if stream else
                                     cuda.default_stream(self._index))
        self._torch.cuda.set_stream(self._streams[stream])

    def copy(self, out, result):
        out.copy_(result)


class Cupy(Framework):
    """Arrays of CuPy."""

    def __init__(self, device):
        self._index = device_index(device)
        if self._index is None:
            raise NotMine("CuPy has arrays on a GPU only: choose --device cuda")
        import cupy
        self._cupy = cupy
        self._streams = {}
        cupy.cuda.Device(self._index).use()

    def dtype(self, name):
        if name not in _NUMPY_NAMES:
            raise NotMine(f"CuPy has no {name}")
        return self._cupy.dtype(_NUMPY_NAMES[name])

    def tensor(self, address, tensor):
        memory = Memory(address, tensor, CUDA, self._index)
        return self._cupy.from_dlpack(memory).view(self.dtype(tensor.dtype))

    def use(self, stream):
        if stream not in self._streams:
            self._streams[stream] = self._cupy.cuda.ExternalStream(stream, self._index)
        self._streams[stream].use()

    def copy(self, out, result):
        out[...] = result


class Numba(Framework):
    """Device arrays of Numba. Its kernels are launched on the parameter `stream`."""

    def __init__(self, device):
        from numba import cuda
        self._cuda = cuda
        self._stream = None
        cuda.select_device(device_index(device))

    def dtype(self, name):
        if name not in _NUMPY_NAMES:
            raise NotMine(f"Numba has no {name}")
        import numpy
        return numpy.dtype(_NUMPY_NAMES[name])

    def tensor(self, address, tensor):
        class Exported:
            __cuda_array_interface__ = {
                "shape": tensor.shape, "typestr": self.dtype(tensor.dtype).str, "data": (address or 0, False),
                "strides": byte_strides(tensor), "version": 2}
        return self._cuda.as_cuda_array(Exported())

    def stream(self, address):
        """Numba launches on objects of its own, not on addresses."""
        return self._cuda.external_stream(address)

    def use(self, stream):
        self._stream = self.stream(stream)

    def copy(self, out, result):
        out.copy_to_device(result, self._stream)


class TorchDevice(Framework):
    """Tensors of PyTorch on a device that it drives itself."""

    def __init__(self, device, devices):
        import torch
        self._torch, self._device, self._devices = torch, device, devices

    dtype = Torch.dtype
    copy = Torch.copy

    def tensor(self, address, tensor):
        dtype = self.dtype(tensor.dtype)
        if 0 in tensor.shape:
            return self._torch.empty(tensor.shape, dtype=dtype, device=self._device)
        span = 1 + sum((extent - 1) * stride for extent, stride in zip(tensor.shape, tensor.strides))
        flat = self._devices.bytes_at(address, span * _SIZES[tensor.dtype]).view(dtype)
        return flat.as_strided(tensor.shape, tensor.strides, flat.storage_offset())

    def use(self, stream):
        """Kernels run on the stream that is PyTorch's own."""


def framework_of(name, device, devices=None):
    """Returns the framework that a kernel was declared with, or the one that its file has imported."""
    if devices is not None:
        if name not in (None, "torch"):
            raise NotMine(f"{device} is a device of PyTorch: declare the kernel with framework='torch'")
        return TorchDevice(device, devices)
    if name is None:
        name = "torch" if "torch" in sys.modules else "cupy" if "cupy" in sys.modules else "numpy"
    if name == "numba" and device_index(device) is None:
        name = "numpy"
    return {"numpy": Numpy, "torch": Torch, "cupy": Cupy, "numba": Numba}[name](device)
