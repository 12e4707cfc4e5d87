#pragma once

#include <cstdint>
#include <string_view>

// FNV-1a, 64 bits (Fowler, Noll, Vo): the same on every machine and in every build.
namespace assay {

inline constexpr std::uint64_t fnv1a_begin = 0xcbf29ce484222325U;

/// The hash after one more value.
constexpr std::uint64_t fnv1a_step(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x100000001b3U;
}

constexpr std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = fnv1a_begin) {
  for (const char c : text) hash = fnv1a_step(hash, static_cast<unsigned char>(c));
  return hash;
}

}  // namespace assay
