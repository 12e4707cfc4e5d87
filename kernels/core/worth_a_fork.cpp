#include "kernels/core/worth_a_fork.h"

#include <cstdlib>
#include <limits>

namespace assay {

std::int64_t worth_a_fork() {
  static const std::int64_t work = std::getenv(one_thread_name) == nullptr
                                       ? std::int64_t{1} << 13
                                       : std::numeric_limits<std::int64_t>::max();
  return work;
}

}  // namespace assay
