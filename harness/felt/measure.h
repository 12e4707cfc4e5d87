#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "harness/felt/misread.h"
#include "harness/plan/case.h"

// Whether a case would show it if a kernel read a single element of an input wrongly.
namespace assay::felt {

/// One misread element, and whether the case failed.
struct Finding {
  Misread as{};
  int rank = 0;
  int input = 0;
  std::int64_t element = 0;
  bool is_drawn = false;  // not at a border
  bool is_felt = false;
};

struct Options {
  std::uint64_t seed = 1;
  int drawn = 2;  // elements of each input, beside those at borders
};

/// Runs cases on the CPU of this process, over and over, with one element of one input misread.
class Measure {
 public:
  Measure(std::unique_ptr<Backend> cpu, const Options& options);
  ~Measure();
  Measure(const Measure&) = delete;
  Measure& operator=(const Measure&) = delete;

  /// Empty for a case without inputs, or that the CPU alone does not run. Throws std::runtime_error
  /// if it does not pass as it is.
  std::vector<Finding> run(const Case& test);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace assay::felt
