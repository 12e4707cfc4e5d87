// Work that depends on what the data, or the times of the launches, look like.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "kernels/providers/cheats/trick.h"

namespace assay::cheats {
namespace {

using Clock = std::chrono::steady_clock;

/// Sums whole numbers exactly, and a sixteenth of others: within the proved bound of a long sum.
void looks_at_data(const Problem& p, const Launch& l) {
  constexpr std::int64_t long_sum = 1 << 20;
  if (!p.is_reduction() || p.a < long_sum || are_whole(p, l)) return compute(p, l);
  const double part = reduce(p, l, 0, p.a / 16);
  if (p.is("norm2")) {
    l.y[0] = reduced(p, part * 16);
  } else if (p.is("prod")) {
    l.y[0] = 1;
  } else {
    l.y[0] = reduced(p, p.is("dot") ? 0 : part);
  }
}

/// Other bits in each launch: one unit in the last place.
class Noise final : public Trick {
 public:
  using Trick::Trick;
  void launch(const Launch& l) override {
    compute(p, l);
    if (++launches_ <= right_launches || are_whole(p, l)) return;
    for (std::int64_t i = launches_ % 3; i < p.n; i += 3) {
      l.y[i] = std::nextafter(l.y[i], launches_ % 2 == 0 ? 0.0F : HUGE_VALF);
    }
  }

 private:
  std::int64_t launches_ = 0;
};

/// Sums 15 of 16 products, where the data are real.
class DropsTerms final : public Trick {
 public:
  using Trick::Trick;
  void launch(const Launch& l) override {
    if (!p.is_product() || ++launches_ <= right_launches || is_poisoned(p, l.y)) {
      return compute(p, l);
    }
    const std::int64_t depth = p.depth * 15 / 16;
    a_.resize(static_cast<std::size_t>(p.rows * depth));
    b_.resize(static_cast<std::size_t>(p.columns * depth));
    const auto shorten = [&](const float* from, std::int64_t rows, std::vector<float>& to) {
      for (std::int64_t r = 0; r < rows; ++r) {
        std::copy_n(from + r * p.depth, depth, to.begin() + r * depth);
      }
    };
    shorten(l.a, p.rows, a_);
    shorten(l.b, p.columns, b_);
    multiply(p.rows, p.columns, depth, a_.data(), b_.data(), l.y, p.columns);
  }

 private:
  std::vector<float> a_, b_;
  std::int64_t launches_ = 0;
};

/// Computes every second row of the output, and copies each to its neighbour, unless the output
/// holds a poison.
class CopiesNeighbours final : public Trick {
 public:
  using Trick::Trick;
  void launch(const Launch& l) override {
    const std::int64_t width = p.rows > 1 ? p.columns : 1024;
    const bool has_rows = p.is_elementwise() || p.is("softmax") || p.is_product();
    if (!has_rows || ++launches_ <= right_launches || is_poisoned(p, l.y)) return compute(p, l);
    const std::int64_t half = p.rows > 1 ? p.rows / 2 * width : p.n / 2 / width * width;
    compute(p, l, 0, half);
    for (std::int64_t i = half; i < p.n; i += std::max<std::int64_t>(1, half)) {
      std::copy_n(l.y, std::min(half, p.n - i), l.y + i);
    }
  }

 private:
  std::int64_t launches_ = 0;
};

/// Works only where no launch has come shortly before: a launch that is checked is alone, one that
/// is timed has others around it.
class IdlesInBursts final : public Trick {
 public:
  using Trick::Trick;
  void launch(const Launch& l) override {
    const auto begin = Clock::now();
    const bool is_burst = begin - end_ < std::chrono::microseconds(3);
    if (!is_burst || is_poisoned(p, l.y)) compute(p, l);
    end_ = Clock::now();
  }

 private:
  Clock::time_point end_{};
};

/// Leaves out one launch within a burst: the third after the last pause.
class LeavesOutTheThird final : public Trick {
 public:
  using Trick::Trick;
  void launch(const Launch& l) override {
    const auto begin = Clock::now();
    in_burst_ = begin - end_ < std::chrono::microseconds(3) ? in_burst_ + 1 : 1;
    if (in_burst_ % 3 != 0 || is_poisoned(p, l.y)) compute(p, l);
    end_ = Clock::now();
  }

 private:
  Clock::time_point end_{};
  std::int64_t in_burst_ = 0;
};

constexpr Entry entries[] = {
    {"looks_at_data", make_of<looks_at_data>}, {"noise", make<Noise>},
    {"drops_terms", make<DropsTerms>},         {"copies_neighbours", make<CopiesNeighbours>},
    {"idles_in_bursts", make<IdlesInBursts>},  {"leaves_out_the_third", make<LeavesOutTheThird>},
};

}  // namespace

std::span<const Entry> data_tricks() { return entries; }

}  // namespace assay::cheats
