#pragma once

// Inner loops are compiled twice: for any x86-64, and for one with AVX2 and FMA, which most hosts
// have. Both give the same bits, as the loops say where they fuse.

#define ASSAY_INLINE [[gnu::always_inline]] inline
#if defined(__x86_64__)
#define ASSAY_CLONE [[gnu::target("arch=x86-64-v3")]]
#else
#define ASSAY_CLONE
#endif

namespace emulator {

/// Whether this host runs the second.
inline bool has_wide_vectors() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
#else
  return false;
#endif
}

}  // namespace emulator
