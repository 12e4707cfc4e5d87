#include "kernels/providers/cheats/patch.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace assay::cheats {

void replace_code(void* function, const void* replacement) {
  auto* code = static_cast<unsigned char*>(function);
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(code) / page * page;
  void* pages = reinterpret_cast<void*>(begin);  // NOLINT(performance-no-int-to-ptr)
  if (mprotect(pages, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) std::abort();
  unsigned char jump[12] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};  // to an address
  std::memcpy(jump + 2, &replacement, sizeof replacement);
  std::memcpy(code, jump, sizeof jump);
}

}  // namespace assay::cheats
