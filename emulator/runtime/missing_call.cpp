#include "emulator/runtime/missing_call.h"

#include <cuda_runtime_api.h>

#include <mutex>
#include <set>
#include <string>

#include "emulator/runtime/errors.h"
#include "emulator/runtime/lacking.h"

namespace emulator {

int missing_call(const char* name) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard lock(mutex);
  if (said.insert(name).second) say_lacking(std::string(name) + " is not emulated");
  return last_error() = cudaErrorNotSupported;
}

}  // namespace emulator
