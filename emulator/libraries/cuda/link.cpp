// The linker of the driver's API. What it makes of PTX is PTX.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "emulator/libraries/cuda/context.h"
#include "emulator/libraries/cuda/error_log.h"
#include "emulator/runtime/driver_modules.h"

struct CUlinkState_st {
  emulator::driver::ErrorLog log;
  std::vector<std::string> modules{};  // PTX
  std::string image{};
};

using namespace emulator;
using namespace emulator::driver;

namespace {

std::mutex mutex;
std::map<CUlinkState, std::unique_ptr<CUlinkState_st>>& states() {
  static std::map<CUlinkState, std::unique_ptr<CUlinkState_st>> all;
  return all;
}

/// Does `call` with a state that is alive.
template <class Call>
CUresult with(CUlinkState state, const Call& call) {
  if (const CUresult e = check_context(); e != CUDA_SUCCESS) return e;
  const std::lock_guard lock(mutex);
  const auto found = states().find(state);
  return found == states().end() ? CUDA_ERROR_INVALID_HANDLE : call(*found->second);
}

/// Compiles it, to tell errors here and not when the whole is loaded.
cudaError_t check(const std::string& ptx, std::string& problem) {
  void* module = nullptr;
  const cudaError_t error = load_module(ptx.c_str(), &module, problem);
  return error == cudaSuccess ? unload_module(module) : error;
}

CUresult add(CUlinkState_st& state, CUjitInputType type, std::string image, const ErrorLog& log) {
  if (type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_FATBINARY) {
    log.write("PTX is emulated, and fat binaries that have it");
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  image.append(sizeof(std::uint64_t), '\0');  // zeros end a text
  std::string ptx, problem;
  cudaError_t error = read_ptx(image.data(), ptx, problem);
  if (error == cudaSuccess) error = check(ptx, problem);
  log.write(problem);
  if (error == cudaSuccess) state.modules.push_back(std::move(ptx));
  return result_of(error);
}

}  // namespace

extern "C" {

CUresult cuLinkCreate(unsigned count, CUjit_option* options, void** values, CUlinkState* state) {
  if (const CUresult e = check_context(); e != CUDA_SUCCESS) return e;
  if (state == nullptr || (count != 0 && (options == nullptr || values == nullptr)))
    return CUDA_ERROR_INVALID_VALUE;
  auto made = std::make_unique<CUlinkState_st>(ErrorLog{count, options, values});
  const std::lock_guard lock(mutex);
  *state = made.get();
  states()[*state] = std::move(made);
  return CUDA_SUCCESS;
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, std::size_t bytes,
                       const char*, unsigned count, CUjit_option* options, void** values) {
  return with(state, [&](CUlinkState_st& s) {
    if (data == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    return add(s, type, {static_cast<const char*>(data), bytes},
               count == 0 ? s.log : ErrorLog{count, options, values});
  });
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned count,
                       CUjit_option* options, void** values) {
  return with(state, [&](CUlinkState_st& s) {
    if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::ifstream file(path, std::ios::binary);
    if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
    return add(s, type, {std::istreambuf_iterator<char>(file), {}},
               count == 0 ? s.log : ErrorLog{count, options, values});
  });
}

CUresult cuLinkComplete(CUlinkState state, void** image, std::size_t* bytes) {
  return with(state, [&](CUlinkState_st& s) {
    if (image == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::string problem;
    const cudaError_t error = link_modules(s.modules, s.image, problem);
    s.log.write(problem);
    if (error != cudaSuccess) return result_of(error);
    *image = s.image.data();
    if (bytes != nullptr) *bytes = s.image.size() + 1;
    return CUDA_SUCCESS;
  });
}

CUresult cuLinkDestroy(CUlinkState state) {
  return with(state, [&](CUlinkState_st&) {
    states().erase(state);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
