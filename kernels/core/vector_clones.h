#pragma once

// One build serves every x86-64: GCC compiles the function for each level and the loader picks the
// best one of the machine. Other compilers get the baseline, and so do builds that look for errors
// and not for speed: sanitized code takes three times as long to compile.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define ASSAY_VECTOR_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ASSAY_VECTOR_CLONES
#endif
