#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "kernels/core/status.h"

// Which of several ways to compute a product is taken: decided here without a GPU, from what trying
// them shows.
namespace assay::cuda {

/// The seconds that a kernel may take to find out which way is fastest: all of its products share
/// them.
class SearchBudget {
 public:
  explicit SearchBudget(double seconds = 1) : left_s_(seconds) {}
  double left_s() const { return left_s_; }
  void spend(double seconds) { left_s_ -= seconds; }

 private:
  double left_s_;
};

/// Algorithms for one product, in the library's own order.
class Candidates {
 public:
  struct Launch {
    std::string refusal;  // empty: it ran
    double time_s = 0;
  };
  virtual ~Candidates() = default;
  virtual int count() const = 0;
  virtual std::string name(int i) const = 0;
  /// Launches a candidate on exact data, once.
  virtual Launch launch(int i) = 0;
  /// Whether that launch left the right result, bit for bit.
  virtual bool was_right() = 0;
  /// Seconds of a launch, from `timed_launches` of them.
  virtual double time_s(int i) = 0;
  virtual int timed_launches() const = 0;
  virtual double now_s() = 0;
};

struct Choice {
  std::optional<int> taken;  // none: the library has no algorithm
  /// Whether the one taken was right on exact data. Where none was, the first that ran is taken:
  /// the trial's own judgement tells what is wrong with it.
  bool is_right = false;
  std::string left_out;  // "algorithm 7, tile 3 (wrong on exact data)"; empty: none
};

/// A first launch that takes longer is not repeated for the sake of a choice.
inline constexpr double long_launch_s = 50e-3;

/// The fastest of the candidates that are right, as far as the budget reaches: one that is right is
/// found whatever it takes. The library's order stands unless another is clearly faster.
Choice choose(Candidates& candidates, SearchBudget& budget);

/// What is left out, and why, joined to what was left out before.
void leave_out(std::string& left_out, const std::string& what, const std::string& why);

/// One way to a result, by a Matmul that was chosen as above.
template <class Matmul>
struct Way {
  std::string name;  // "the library's bias"
  std::function<std::unique_ptr<Matmul>()> make;
};

/// The first way whose product is right. The last one is taken as it is: there is nothing behind
/// it. `left_out` tells of the others.
template <class Matmul>
std::unique_ptr<Matmul> first_right(std::span<const Way<Matmul>> ways, std::string& left_out) {
  for (const Way<Matmul>& way : ways.first(ways.size() - 1)) {
    try {
      std::unique_ptr<Matmul> product = way.make();
      if (product->is_right()) return product;
      leave_out(left_out, way.name, product->left_out());
    } catch (const DeviceError& error) {
      if (error.failure() != Failure::unsupported) throw;
      leave_out(left_out, way.name, error.what());
    }
  }
  return ways.back().make();
}

}  // namespace assay::cuda
