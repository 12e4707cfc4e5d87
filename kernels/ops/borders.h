#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "kernels/core/tensor_spec.h"

namespace assay {

/// Places in [0, n) where kernels end loops, vectors, tiles or the work of a thread: the first two
/// and the last two, both sides of where two threads share them, or three or four if they are many,
/// and of the first and last multiples of 8 to 1024. Ascending.
std::vector<std::int64_t> borders(std::int64_t n);

/// Elements at the borders of the whole tensor, of its first row and line and of its last.
/// Ascending.
std::vector<std::int64_t> border_elements(const TensorSpec& spec);

/// Places within the lines of a tensor at which there are borders: those of the line itself, then
/// those of border_elements() that lie elsewhere in it. Lines go through theirs in turns.
class LinePlaces {
 public:
  /// The tensor must have elements.
  explicit LinePlaces(const TensorSpec& spec);

  /// Number of turns after which each line has gone through its places.
  std::int64_t turns() const {
    return std::ssize(own_) + (max_others_ > 0 ? 2 * max_others_ + 1 : 0);
  }
  std::vector<std::int64_t> of(std::int64_t line) const;
  /// Place of the line whose turn it is. Lines side by side are at different ones.
  std::int64_t place(std::int64_t line, std::int64_t turn) const;

 private:
  std::vector<std::int64_t> own_;
  /// Places of elements with even and with odd indices: neighbours are of two kinds.
  struct Others {
    std::vector<std::int64_t> even;
    std::vector<std::int64_t> odd;
  };
  std::unordered_map<std::int64_t, Others> others_;
  std::int64_t max_others_ = 0;
};

}  // namespace assay
