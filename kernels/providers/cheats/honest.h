#pragma once

#include "kernels/providers/cheats/problem.h"

// Honest loops, fast enough that a trick has something to gain.
namespace assay::cheats {

/// Computes the whole output, on all threads.
void compute(const Problem& p, const Launch& l);

/// Computes the elements [first, last) of an op that is elementwise, a softmax or a product, on all
/// threads. Whole rows of a softmax. Other ops are computed as a whole.
void compute(const Problem& p, const Launch& l, std::int64_t first, std::int64_t last);

/// Computes the elements [first, last) of the input's share in a reduction: a sum of terms, or a
/// product of factors.
double reduce(const Problem& p, const Launch& l, std::int64_t first, std::int64_t last);
/// The result of a reduction from that of all its elements.
float reduced(const Problem& p, double all);

/// y[r][c] = sum of a[r][k] w[c][k]. The lines of `y` are `y_row` apart. Packs `w`: the smaller
/// factor.
void multiply(std::int64_t rows, std::int64_t columns, std::int64_t depth, const float* a,
              const float* w, float* y, std::int64_t y_row);

/// Within its lifetime the calling thread computes alone: OpenMP does not survive a fork.
class Alone {
 public:
  Alone();
  ~Alone();
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;
};

}  // namespace assay::cheats
