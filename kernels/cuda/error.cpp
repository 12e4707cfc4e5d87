#include "kernels/cuda/error.h"

namespace assay::cuda {

Failure failure_of(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return Failure::out_of_memory;
    // Excludes a build without code for this GPU: it would make every trial a skip.
    case cudaErrorNotSupported:
      return Failure::unsupported;
    case cudaErrorPeerAccessUnsupported:
      return Failure::not_here;
    // Lost for a fresh process too, or never present.
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorDevicesUnavailable:
    case cudaErrorInsufficientDriver:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
      return Failure::device_lost;
    default:
      return Failure::internal;
  }
}

bool is_sticky(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorMpsClientTerminated:
    case cudaErrorExternalDevice:
      return true;
    default:
      return false;
  }
}

std::string remedy(cudaError_t error) {
  switch (error) {
    case cudaErrorInsufficientDriver:
    case cudaErrorSystemDriverMismatch:
      return "install a driver that is as new as this build's CUDA runtime";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
      return "build with -DASSAY_CUDA_ARCHITECTURES=native, or install a newer driver";
    case cudaErrorDevicesUnavailable:
      return "another process has it in exclusive mode";
    case cudaErrorSystemNotReady:
      return "start nvidia-fabricmanager";
    case cudaErrorECCUncorrectable:
      return "memory of the GPU is damaged: see nvidia-smi -q -d ECC";
    default:
      return "";
  }
}

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  if (!is_sticky(error)) cudaGetLastError();  // or the next launch would seem to fail
  std::string text =
      std::string(call) + ": " + cudaGetErrorName(error) + " (" + cudaGetErrorString(error) + ")";
  if (const std::string way_out = remedy(error); !way_out.empty()) text += "; " + way_out;
  if (is_sticky(error)) text += "; the context is lost";
  throw DeviceError(failure_of(error), text);
}

}  // namespace assay::cuda
