#pragma once

#include <cstdint>

namespace assay {

/// Environment variable of workers that share the cores, one for each: they draw and judge in one
/// thread. Kernels have all threads, here too.
inline constexpr const char* one_thread_name = "ASSAY_JUDGE_IN_ONE_THREAD";

/// Work that is too little for several threads, in elements that are drawn or judged: those of a
/// worker that times nothing sleep, and to wake one takes as long as some thousand elements.
std::int64_t worth_a_fork();

}  // namespace assay
