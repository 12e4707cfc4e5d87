#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// Stores past the caches. An ordinary store first reads the line that it fills. For data too large
// to stay in the caches, that wastes a third to a half of all traffic (McCalpin: "Memory Bandwidth
// and Machine Balance", 1995, on write-allocate).
namespace assay::cpu {

/// Size of the block in the first cache in which elements are computed before they are stored. So
/// few that a processor reads the next ones while it stores.
inline constexpr std::int64_t staged_bytes = 1024;

inline constexpr std::size_t line_bytes = 64;

/// True where a cache line begins.
inline bool begins_line(const void* at) {
  return reinterpret_cast<std::uintptr_t>(at) % line_bytes == 0;
}

#if defined(__x86_64__)
/// Whole lines: a partial one costs a read. Half as many stores as without AVX.
__attribute__((target("avx"))) inline void stream_lines_by_avx(std::byte* y, const std::byte* x,
                                                               std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += line_bytes) {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i) + 1);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(y + i), a);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(y + i) + 1, b);
  }
}

inline void stream_lines(std::byte* y, const std::byte* x, std::size_t bytes) {
  if (__builtin_cpu_supports("avx")) {
    stream_lines_by_avx(y, x, bytes);
    return;
  }
  for (std::size_t i = 0; i < bytes; i += sizeof(__m128i)) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(y + i),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i)));
  }
}
#endif

/// Copies like memcpy, past the caches. Other threads see the stores after end_streaming().
inline void stream_out(void* to, const void* from, std::size_t bytes) {
#if defined(__x86_64__)
  auto* y = static_cast<std::byte*>(to);
  const auto* x = static_cast<const std::byte*>(from);
  const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(y) % line_bytes;
  const std::size_t head = std::min(bytes, misaligned == 0 ? 0 : line_bytes - misaligned);
  const std::size_t lines = (bytes - head) / line_bytes * line_bytes;
  std::memcpy(y, x, head);
  stream_lines(y + head, x + head, lines);
  std::memcpy(y + head + lines, x + head + lines, bytes - head - lines);
#else
  std::memcpy(to, from, bytes);
#endif
}

inline void end_streaming() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace assay::cpu
