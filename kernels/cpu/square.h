#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace assay::cpu {

/// Square of words that registers hold: as many rows as a vector of 16 bytes has words.
template <class Word>
class Square {
 public:
  static constexpr std::size_t side = 16 / sizeof(Word);

  /// Rows that lie `step` words apart.
  __attribute__((always_inline)) void load(const Word* x, std::int64_t step) {
    for (std::size_t i = 0; i < side; ++i)
      std::memcpy(&rows_[i], x + static_cast<std::int64_t>(i) * step, sizeof(Row));
  }
  __attribute__((always_inline)) void store(Word* y, std::int64_t step) const {
    for (std::size_t i = 0; i < side; ++i)
      std::memcpy(y + static_cast<std::int64_t>(i) * step, &rows_[i], sizeof(Row));
  }
  /// Puts the words of rows that lie half a square apart between each other, again and again. After
  /// as many rounds as the side has powers of two, rows are columns.
  __attribute__((always_inline)) void transpose() {
    for (std::size_t round = 1; round < side; round *= 2) {
      std::array<Row, side> woven;
      for (std::size_t i = 0; i < side / 2; ++i) {
        weave(rows_[i], rows_[i + side / 2], woven[2 * i], woven[2 * i + 1],
              std::make_index_sequence<side>{});
      }
      rows_ = woven;
    }
  }

 private:
  struct Row {  // template arguments lose such attributes
    Word words __attribute__((vector_size(16)));
  };

  template <std::size_t... i>
  __attribute__((always_inline)) static void weave(const Row& a, const Row& b, Row& low, Row& high,
                                                   std::index_sequence<i...> /*words*/) {
    low.words = __builtin_shufflevector(a.words, b.words, (i / 2 + i % 2 * side)...);
    high.words = __builtin_shufflevector(a.words, b.words, (side / 2 + i / 2 + i % 2 * side)...);
  }

  std::array<Row, side> rows_;
};

}  // namespace assay::cpu
