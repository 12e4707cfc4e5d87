// kernel_host.so: the process of Python kernels calls these functions by ctypes.
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "session/console/stderr_message.h"
#include "session/kernels/serve_kernels.h"
#include "session/process/exit_code.h"

namespace {

std::vector<std::string> words_of(std::int32_t count, const char* const* arguments) {
  return {arguments, arguments + count};
}

/// No exception crosses into C.
template <class Call>
std::int32_t guarded(const Call& call) {
  try {
    return call();
  } catch (const std::exception& error) {
    assay::say("{}\n", error.what());
    return assay::infrastructure;
  }
}

}  // namespace

extern "C" {

std::int32_t assay_begin() {
  return guarded([] {
    assay::begin_kernels();
    return assay::ok;
  });
}

std::int32_t assay_serve(const assay_kernel_table* table, std::int32_t count,
                         const char* const* arguments) {
  return guarded([&] { return assay::serve_kernels(*table, words_of(count, arguments)); });
}

std::int32_t assay_refuse(const char* why, std::int32_t /*count*/,
                          const char* const* /*arguments*/) {
  return guarded([&] { return assay::refuse_kernels(why); });
}
}
