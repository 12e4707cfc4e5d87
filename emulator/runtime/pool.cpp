#include "emulator/runtime/pool.h"

#include <algorithm>

namespace emulator {
namespace {

/// Of what a pool asks from the system at once.
constexpr std::uint64_t portion_bytes = 2 << 20;

std::uint64_t whole_portions(std::uint64_t bytes) {
  return (bytes + portion_bytes - 1) / portion_bytes * portion_bytes;
}

}  // namespace

Pool::Bytes Pool::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

bool Pool::take(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (max_bytes_ != 0 && bytes > max_bytes_ - std::min<std::uint64_t>(max_bytes_, bytes_.used))
    return false;
  bytes_.used += bytes;
  bytes_.max_used = std::max(bytes_.max_used, bytes_.used);
  bytes_.reserved = std::max(bytes_.reserved, whole_portions(bytes_.used));
  bytes_.max_reserved = std::max(bytes_.max_reserved, bytes_.reserved);
  return true;
}

void Pool::give_back(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  bytes_.used -= bytes;
}

void Pool::shrink(std::uint64_t bytes_to_keep) {
  const std::uint64_t least = whole_portions(std::max(bytes_.used, bytes_to_keep));
  // The first test also keeps a threshold near 2^64 from being rounded.
  if (bytes_to_keep < bytes_.reserved) bytes_.reserved = std::min(bytes_.reserved, least);
}

void Pool::trim(std::size_t bytes_to_keep) {
  const std::lock_guard lock(mutex_);
  shrink(bytes_to_keep);
}

void Pool::trim_to_threshold() {
  const std::lock_guard lock(mutex_);
  shrink(threshold_);
}

std::uint64_t Pool::release_threshold() const {
  const std::lock_guard lock(mutex_);
  return threshold_;
}

void Pool::set_release_threshold(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  threshold_ = bytes;
}

void Pool::reset_max_used() {
  const std::lock_guard lock(mutex_);
  bytes_.max_used = bytes_.used;
}

void Pool::reset_max_reserved() {
  const std::lock_guard lock(mutex_);
  bytes_.max_reserved = bytes_.reserved;
}

}  // namespace emulator
