"""The C interface of assay_kernel.h by ctypes: a table whose functions call the user's Python."""
import ctypes
import os
import sys
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int32, c_int64, c_uint32, c_void_p

from assay import NotMine, Problem, Tensor
from assay._failure import is_out_of_memory, text_of
from assay._kernel import Kernel

VERSION = 2
TORCH = "torch:"  # begins the kinds of the devices that PyTorch drives
OK, NOT_MINE, OUT_OF_MEMORY, FAILED = range(4)


class CTensor(Structure):
    _fields_ = [("dtype", c_char_p), ("dimensions", c_int32), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64))]


class CParameter(Structure):
    _fields_ = [("name", c_char_p), ("text", c_char_p), ("number", c_int64)]


class CProblem(Structure):
    _fields_ = [("op", c_char_p), ("dtype", c_char_p), ("parameters", POINTER(CParameter)),
                ("parameter_count", c_int32), ("input_count", c_int32), ("output_count", c_int32),
                ("inputs", POINTER(CTensor)), ("outputs", POINTER(CTensor)), ("device_kind", c_char_p),
                ("device_index", c_int32), ("ranks", c_int32)]


class COffer(Structure):
    _fields_ = [("op", c_char_p), ("dtypes", c_char_p), ("takes_views", c_int32)]


CREATE = CFUNCTYPE(c_int32, POINTER(CProblem), POINTER(c_void_p))
LAUNCH = CFUNCTYPE(c_int32, c_void_p, POINTER(c_void_p), POINTER(c_void_p), c_void_p)
DESTROY = CFUNCTYPE(None, c_void_p)
# Text by its address: ctypes cannot keep a char* that a callback returns alive.
LAST_ERROR = CFUNCTYPE(c_void_p)
DESCRIBE = CFUNCTYPE(c_void_p, c_void_p)


class CDevice(Structure):
    _fields_ = [("kind", c_char_p), ("index", c_int32), ("name", c_char_p)]


ALLOCATE = CFUNCTYPE(c_int32, c_int32, c_int64, POINTER(c_void_p))
RELEASE = CFUNCTYPE(None, c_void_p)
COPY = CFUNCTYPE(c_int32, c_void_p, c_void_p, c_int64)
FILL = CFUNCTYPE(c_int32, c_void_p, c_int32, c_int64)
SYNCHRONIZE = CFUNCTYPE(c_int32, c_int32, c_int32)


class CDevices(Structure):
    _fields_ = [("list", POINTER(CDevice)), ("count", c_int32), ("allocate", ALLOCATE), ("release", RELEASE),
                ("upload", COPY), ("download", COPY), ("fill", FILL), ("synchronize", SYNCHRONIZE)]


class CTable(Structure):
    _fields_ = [("version", c_uint32), ("name", c_char_p), ("offers", POINTER(COffer)), ("offer_count", c_int32),
                ("create", CREATE), ("launch", LAUNCH), ("destroy", DESTROY), ("last_error", LAST_ERROR),
                ("describe", DESCRIBE), ("devices", POINTER(CDevices))]


def tensor_of(c):
    extents = range(c.dimensions)
    return Tensor(c.dtype.decode(), tuple(c.shape[i] for i in extents), tuple(c.strides[i] for i in extents))


def parameter_of(c):
    text = c.text.decode()
    return c.number if text == str(c.number) else text


def problem_of(c):
    kind = c.device_kind.decode()
    devices = {"cuda": f"cuda:{c.device_index}"}
    if kind.startswith(TORCH):
        devices[kind] = f"{kind[len(TORCH):]}:{c.device_index}"
    return Problem(
        op=c.op.decode(), dtype=c.dtype.decode(),
        params={c.parameters[i].name.decode(): parameter_of(c.parameters[i]) for i in range(c.parameter_count)},
        device=devices.get(kind, "cpu"),  # simulated devices have host memory
        inputs=tuple(tensor_of(c.inputs[i]) for i in range(c.input_count)),
        outputs=tuple(tensor_of(c.outputs[i]) for i in range(c.output_count)))


def end_process(error):
    """Ends the process as the user's code asked: C++ would take a callback's exception for a result."""
    code = 130 if isinstance(error, KeyboardInterrupt) else error.code
    if not isinstance(code, (int, type(None))):
        print(code, file=sys.stderr)
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit((code or 0) & 0xFF)


class Table:
    """Serves the registered kernels. `c_table` is valid while this object lives."""

    def __init__(self, name, registered, source, devices=None):
        """`devices` are those that a framework drives, or None."""
        self._name, self._registered, self._source, self._devices = name, registered, source, devices
        self._kernels = {}  # by handle
        self._descriptions = {}
        self._last_handle = 0
        self._error_text = ctypes.create_string_buffer(b"")
        self._offers = (COffer * len(registered))(
            *[(r.op.encode(), None if r.dtypes is None else ",".join(r.dtypes).encode(), r.views) for r in registered])
        self.c_table = CTable(
            VERSION, name.encode(), self._offers, len(registered), CREATE(self._guarded(self._create)),
            LAUNCH(self._guarded(self._launch)), DESTROY(self._guarded_destroy),
            LAST_ERROR(lambda: ctypes.addressof(self._error_text)), DESCRIBE(self._describe),
            ctypes.pointer(self._table_of(devices)) if devices else None)

    def _table_of(self, devices):
        listed = (CDevice * len(devices.list))(
            *[(TORCH.encode() + kind.encode(), index, name.encode()) for kind, index, name in devices.list])

        def allocate(device, size, memory):
            memory[0] = devices.allocate(device, size)
        return CDevices(
            listed, len(listed), ALLOCATE(self._guarded(allocate)), RELEASE(devices.release),
            COPY(self._guarded(devices.upload)), COPY(self._guarded(devices.download)),
            FILL(self._guarded(devices.fill)), SYNCHRONIZE(self._guarded(devices.synchronize)))

    def _guarded(self, function):
        def call(*arguments):
            try:
                function(*arguments)
                return OK
            except BaseException as error:  # anything that leaves a callback is lost
                return self._failed(error)
        return call

    def _failed(self, error):
        if isinstance(error, (SystemExit, KeyboardInterrupt)):
            end_process(error)
        text = str(error) if isinstance(error, NotMine) else text_of(error, self._source)
        self._error_text = ctypes.create_string_buffer(" ".join(text.split()).encode(errors="replace"))
        if isinstance(error, NotMine):
            return NOT_MINE
        return OUT_OF_MEMORY if is_out_of_memory(error) else FAILED

    def _create(self, c_problem, handle):
        problem = problem_of(c_problem.contents)
        for registration in self._registered:
            if registration.takes(problem.op, problem.dtype):
                break
        else:
            raise NotMine(f"{self._name} has no kernel for {problem.op}/{problem.dtype}")
        is_own = c_problem.contents.device_kind.decode().startswith(TORCH)
        kernel = Kernel(registration, problem, self._devices if is_own else None)
        self._last_handle += 1
        self._kernels[self._last_handle] = kernel
        handle[0] = self._last_handle

    def _launch(self, handle, inputs, outputs, stream):
        self._kernels[handle].launch(inputs, outputs, stream or 0)

    def _guarded_destroy(self, handle):
        try:
            self._kernels.pop(handle, None)
            self._descriptions.pop(handle, None)
        except BaseException as error:  # a __del__ may call sys.exit
            self._failed(error)

    def _describe(self, handle):
        text = self._kernels[handle].description
        if not text:
            return None
        if handle not in self._descriptions:
            self._descriptions[handle] = ctypes.create_string_buffer(text.encode())
        return ctypes.addressof(self._descriptions[handle])
