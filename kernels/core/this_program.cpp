#include "kernels/core/this_program.h"

#include <stdexcept>
#include <system_error>

namespace assay {

std::filesystem::path this_program() {
  std::error_code error;
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {
    throw std::runtime_error(
        "/proc is not here, by which processes, memory and the program itself are found: mount it "
        "(mount -t proc proc /proc)");
  }
  return program;
}

}  // namespace assay
