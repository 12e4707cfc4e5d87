#pragma once

// One build serves every x86-64: GCC compiles the function for each level, and the loader picks the
// best one for the machine. Other compilers use the baseline. So do sanitizer builds: they look for
// errors, not speed, and clones make them take three times as long to compile.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#ifdef ASSAY_CPU_ISA_AVX2
#define ASSAY_VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define ASSAY_VECTOR_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
#else
#define ASSAY_VECTOR_CLONES
#endif
