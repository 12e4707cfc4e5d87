#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/core/status.h"

// Chooses among several ways to compute a product. Needs no GPU: it decides by the results of
// trying them.
namespace assay::cuda {

/// Seconds that a kernel may spend to find the fastest way, shared by all of its products.
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
  /// Launches a candidate once, on exact data.
  virtual Launch launch(int i) = 0;
  /// Returns true if that launch left the right result, bit for bit.
  virtual bool was_right() = 0;
  /// Launches a candidate once more, with a NaN among the exact data. Returns false if its epilogue
  /// dropped it.
  virtual bool keeps_nan(int i) = 0;
  /// Replaces the exact data by real ones, before anything is timed: data change the power that a
  /// product takes, and so its speed.
  virtual void load_real_data() = 0;
  /// Seconds per launch, from `timed_launches` of them.
  virtual double time_s(int i) = 0;
  virtual int timed_launches() const = 0;
  virtual double now_s() = 0;
};

struct Choice {
  std::optional<int> taken;  // empty: the library has no algorithm
  /// True if the chosen one was right on exact data and kept a NaN. If none was, the first that ran
  /// is chosen: the trial's own judgement then reports the error.
  bool is_right = false;
  std::string left_out;            // "algorithm 7, tile 3 (wrong on exact data)"; empty: none
  std::vector<std::string> wrong;  // names of those that were wrong
};

/// Time of a single launch above which the choice does not time it.
inline constexpr double long_launch_s = 50e-3;

/// Chooses the fastest right candidate, within the budget. The search for a right one is not
/// limited by it. Takes the first right one if its single launch is long. Keeps the library's order
/// unless another candidate is clearly faster.
Choice choose(Candidates& candidates, SearchBudget& budget);

/// Appends a left-out way and its reason to `left_out`.
void leave_out(std::string& left_out, const std::string& what, const std::string& why);

/// One way to a result, by a Matmul that was chosen as above.
template <class Matmul>
struct Way {
  std::string name;  // "the library's bias"
  std::function<std::unique_ptr<Matmul>()> make;
};

/// The ways that were rejected, with their reasons, and the algorithms of them that were wrong.
struct Rejected {
  std::string text;
  std::vector<std::string> wrong;
};

/// Returns the first way whose product is right. The last way is taken unchecked: no other is left.
template <class Matmul>
std::unique_ptr<Matmul> first_right(std::span<const Way<Matmul>> ways, Rejected& rejected) {
  for (const Way<Matmul>& way : ways.first(ways.size() - 1)) {
    try {
      std::unique_ptr<Matmul> product = way.make();
      if (product->is_right()) return product;
      leave_out(rejected.text, way.name, product->left_out());
      for (const std::string& algorithm : product->wrong()) {
        rejected.wrong.push_back(algorithm + " with " + way.name);
      }
    } catch (const DeviceError& error) {
      if (error.failure() != Failure::unsupported) throw;
      leave_out(rejected.text, way.name, error.what());
    }
  }
  return ways.back().make();
}

}  // namespace assay::cuda
