#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

// Stores past the caches. An ordinary store first reads the line that it fills. For data too large
// to stay in the caches, that wastes a third to a half of all traffic (McCalpin: "Memory Bandwidth
// and Machine Balance", 1995, on write-allocate).
namespace assay::cpu {

/// Size of the block in the first cache in which elements are computed before they are stored.
inline constexpr std::int64_t staged_bytes = 4096;

/// Copies like memcpy, past the caches. Other threads see the stores after end_streaming().
inline void stream_out(void* to, const void* from, std::size_t bytes) {
#if defined(__SSE2__)
  constexpr std::size_t line = 64;
  auto* y = static_cast<std::byte*>(to);
  const auto* x = static_cast<const std::byte*>(from);
  const std::size_t misaligned = reinterpret_cast<std::uintptr_t>(y) % line;
  const std::size_t head = std::min(bytes, misaligned == 0 ? 0 : line - misaligned);
  std::memcpy(y, x, head);
  std::size_t i = head;
  for (; i + line <= bytes; i += line) {  // whole lines: a partial one costs a read
    const auto* words = reinterpret_cast<const __m128i*>(x + i);
    const __m128i a = _mm_loadu_si128(words);
    const __m128i b = _mm_loadu_si128(words + 1);
    const __m128i c = _mm_loadu_si128(words + 2);
    const __m128i d = _mm_loadu_si128(words + 3);
    auto* stored = reinterpret_cast<__m128i*>(y + i);
    _mm_stream_si128(stored, a);
    _mm_stream_si128(stored + 1, b);
    _mm_stream_si128(stored + 2, c);
    _mm_stream_si128(stored + 3, d);
  }
  std::memcpy(y + i, x + i, bytes - i);
#else
  std::memcpy(to, from, bytes);
#endif
}

inline void end_streaming() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

}  // namespace assay::cpu
