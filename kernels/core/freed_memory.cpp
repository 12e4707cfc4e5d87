#include "kernels/core/freed_memory.h"

#include <malloc.h>

namespace assay {

void keep_freed_memory() {
  constexpr int max_bytes = 1 << 30;
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, max_bytes);
}

}  // namespace assay
