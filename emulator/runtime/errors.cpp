#include "emulator/runtime/errors.h"

#include <atomic>
#include <cctype>
#include <map>
#include <string>

#include "emulator/runtime/error_names.h"

namespace emulator {
namespace {

std::atomic<cudaError_t> sticky = cudaSuccess;
std::string reported_text;  // of the sticky error, before which it is written once

struct Texts {
  std::string name, text;
};

/// "cudaErrorInvalidResourceHandle" -> "invalid resource handle"
std::string words_of(const std::string& name) {
  std::string words;
  for (const char c : name.substr(sizeof "cudaError" - 1)) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isupper(letter) != 0 && !words.empty()) words += ' ';
    words += static_cast<char>(std::tolower(letter));
  }
  return words;
}

const std::map<int, Texts>& texts() {
  static const std::map<int, Texts> all = [] {
    std::map<int, Texts> made;
    for (const auto& [error, name] : error_names) made[error] = {name, words_of(name)};
    // Texts that the real library is known to give, and that people search for.
    made[cudaSuccess].text = "no error";
    made[cudaErrorInvalidValue].text = "invalid argument";
    made[cudaErrorMemoryAllocation].text = "out of memory";
    made[cudaErrorInitializationError].text = "initialization error";
    made[cudaErrorInvalidConfiguration].text = "invalid configuration argument";
    made[cudaErrorInvalidMemcpyDirection].text = "invalid copy direction for memcpy";
    made[cudaErrorInvalidDeviceFunction].text = "invalid device function";
    made[cudaErrorNoDevice].text = "no CUDA-capable device is detected";
    made[cudaErrorInvalidDevice].text = "invalid device ordinal";
    made[cudaErrorDevicesUnavailable].text = "CUDA-capable device(s) is/are busy or unavailable";
    made[cudaErrorNoKernelImageForDevice].text =
        "no kernel image is available for execution on the device";
    made[cudaErrorECCUncorrectable].text = "uncorrectable ECC error encountered";
    made[cudaErrorInvalidPtx].text = "a PTX JIT compilation failed";
    made[cudaErrorInvalidResourceHandle].text = "invalid resource handle";
    made[cudaErrorIllegalState].text = "the operation cannot be performed in the present state";
    made[cudaErrorNotReady].text = "device not ready";
    made[cudaErrorIllegalAddress].text = "an illegal memory access was encountered";
    made[cudaErrorLaunchOutOfResources].text = "too many resources requested for launch";
    made[cudaErrorLaunchTimeout].text = "the launch timed out and was terminated";
    made[cudaErrorPeerAccessAlreadyEnabled].text = "peer access is already enabled";
    made[cudaErrorPeerAccessNotEnabled].text = "peer access has not been enabled";
    made[cudaErrorAssert].text = "device-side assert triggered";
    made[cudaErrorIllegalInstruction].text = "an illegal instruction was encountered";
    made[cudaErrorMisalignedAddress].text = "misaligned address";
    made[cudaErrorLaunchFailure].text = "unspecified launch failure";
    made[cudaErrorNotSupported].text = "operation not supported";
    made[cudaErrorStreamCaptureUnsupported].text =
        "operation not permitted when stream is capturing";
    made[cudaErrorStreamCaptureInvalidated].text =
        "operation failed due to a previous error during capture";
    made[cudaErrorStreamCaptureMerge].text =
        "operation would result in a merge of separate capture sequences";
    made[cudaErrorStreamCaptureUnmatched].text =
        "capture was not ended in the same stream as it began";
    made[cudaErrorStreamCaptureUnjoined].text = "capturing stream has unjoined work";
    made[cudaErrorStreamCaptureIsolation].text =
        "dependency created on uncaptured work in another stream";
    made[cudaErrorStreamCaptureImplicit].text =
        "operation would make the legacy stream depend on a capturing blocking stream";
    made[cudaErrorCapturedEvent].text =
        "operation not permitted on an event last recorded in a capturing stream";
    made[cudaErrorStreamCaptureWrongThread].text =
        "attempt to terminate a thread-local capture sequence from another thread";
    made[cudaErrorUnknown].text = "unknown error";
    return made;
  }();
  return all;
}

}  // namespace

cudaError_t error_of(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::illegal_address:
      return cudaErrorIllegalAddress;
    case FaultKind::misaligned_address:
      return cudaErrorMisalignedAddress;
    case FaultKind::illegal_instruction:
      return cudaErrorIllegalInstruction;
    case FaultKind::endless:
      return cudaErrorLaunchTimeout;
    case FaultKind::trap:
      // One kind for both: only the text of a failed assertion says so.
      return std::string_view(fault.what()).find("assertion `") != std::string_view::npos
                 ? cudaErrorAssert
                 : cudaErrorLaunchFailure;
    // A real GPU would go on with wrong data, or hang.
    case FaultKind::uninitialised_read:
    case FaultKind::race:
    case FaultKind::divergent_barrier:
    case FaultKind::undefined:
      break;
  }
  return cudaErrorLaunchFailure;
}

cudaError_t sticky_error() { return sticky; }

void make_sticky(cudaError_t error, const std::string& report) {
  if (!report.empty() && reported_text.empty())
    reported_text = std::string(cudaGetErrorString(error)) + ": " + report;
  sticky = error;
}

cudaError_t& last_error() {
  thread_local cudaError_t last = cudaSuccess;
  return last;
}

}  // namespace emulator

using namespace emulator;

const char* cudaGetErrorName(cudaError_t error) {
  const auto found = texts().find(error);
  return found == texts().end() ? "unrecognized error code" : found->second.name.c_str();
}

const char* cudaGetErrorString(cudaError_t error) {
  if (error != cudaSuccess && error == sticky_error() && !reported_text.empty())
    return reported_text.c_str();
  const auto found = texts().find(error);
  return found == texts().end() ? "unrecognized error code" : found->second.text.c_str();
}

cudaError_t cudaPeekAtLastError() {
  const cudaError_t error = sticky_error();
  return error != cudaSuccess ? error : last_error();
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  last_error() = cudaSuccess;
  return error;
}
