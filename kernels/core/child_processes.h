#pragma once

#include <sys/types.h>

#include <vector>

namespace assay {

/// Children of all threads of a process, which are those of the thread that made them. Empty where
/// /proc does not tell.
std::vector<pid_t> children_of(pid_t process);

/// `found`, and all that these processes have started, and so on.
std::vector<pid_t> with_descendants(std::vector<pid_t> found);

}  // namespace assay
