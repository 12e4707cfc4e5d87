#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay::cheats {

/// An op on f32, contiguous: add, relu, exp, scan, sort, softmax, linear without a bias, and the
/// reductions sum, mean, dot, norm2 and prod.
struct Problem {
  std::string op;
  std::int64_t inputs = 1;
  std::int64_t a = 0;  // elements of the first input
  std::int64_t b = 0;  // of the second; 0: there is none
  std::int64_t n = 1;  // of the output
  std::int64_t rows = 1;
  std::int64_t columns = 1;  // of the output
  std::int64_t depth = 0;    // products in an element of linear

  bool is(std::string_view name) const { return op == name; }
  bool is_product() const { return depth > 0; }
  bool is_reduction() const {
    return is("sum") || is("mean") || is("dot") || is("norm2") || is("prod");
  }
  bool is_elementwise() const { return is("add") || is("relu") || is("exp"); }
};

/// Addresses of a launch. `b` is null where there is one input.
struct Launch {
  const float* a;
  const float* b;
  float* y;
  auto operator<=>(const Launch&) const = default;
};

}  // namespace assay::cheats
