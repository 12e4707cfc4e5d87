"""DLPack capsules around memory that is not ours: dlpack.h, version 0.8, by ctypes."""
import ctypes

CPU, CUDA = 1, 2
_INT, _UINT, _FLOAT, _BFLOAT = 0, 1, 2, 4
# Older consumers know no code for some: they travel as other integers of their size.
_CODES = {"f64": (_FLOAT, 64), "f32": (_FLOAT, 32), "bf16": (_BFLOAT, 16), "f16": (_FLOAT, 16), "i64": (_INT, 64),
          "i32": (_INT, 32), "i16": (_INT, 16), "i8": (_INT, 8), "u64": (_INT, 64), "u32": (_INT, 32),
          "u16": (_INT, 16), "u8": (_UINT, 8), "bool": (_UINT, 8), "e4m3": (_UINT, 8), "e5m2": (_UINT, 8)}


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("byte_offset", ctypes.c_uint64)]


class _DLManagedTensor(ctypes.Structure):
    _fields_ = [("tensor", _DLTensor), ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_libc = ctypes.CDLL(None)
_libc.malloc.restype = ctypes.c_void_p
_libc.malloc.argtypes = [ctypes.c_size_t]
# One block holds the description with its extents, and free() itself is the deleter: consumers may call it while
# Python shuts down, when a function of Python's would be gone.
_free = ctypes.cast(_libc.free, ctypes.c_void_p).value

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_NAME = b"dltensor"  # capsules keep its address


class Memory:
    """Memory at an address as a tensor, for any from_dlpack()."""

    def __init__(self, address, tensor, device=CPU, index=0):
        self._address, self._tensor, self._device = address, tensor, (device, index)

    def __dlpack_device__(self):
        return self._device

    def __dlpack__(self, stream=None, **_):
        """Returns a capsule to be consumed once. Does not wait for `stream`: a launch uses only one."""
        ndim = len(self._tensor.shape)
        header = ctypes.sizeof(_DLManagedTensor)
        block = _libc.malloc(header + 16 * ndim)
        if not block:
            raise MemoryError
        extents = (ctypes.c_int64 * (2 * ndim)).from_address(block + header)
        extents[:] = [*self._tensor.shape, *self._tensor.strides]
        code, bits = _CODES[self._tensor.dtype]
        described = _DLTensor(self._address, *self._device, ndim, code, bits, 1, block + header,
                              block + header + 8 * ndim, 0)
        ctypes.memmove(block, ctypes.byref(_DLManagedTensor(described, None, _free)), header)
        return _new_capsule(block, _NAME, None)
