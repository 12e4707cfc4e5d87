#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "kernels/core/worth_a_fork.h"
#include "kernels/reference/reference.h"

namespace assay::reference {

/// Lines of input 0 (TensorSpec::axis), each of which has numbers of its own in the state.
class Lines {
 public:
  explicit Lines(const Problem& p)
      : length_(static_cast<std::size_t>(p.op.signature.inputs[0].line_elements())),
        step_(static_cast<std::size_t>(p.op.signature.inputs[0].line_step())),
        count_(length_ == 0
                   ? static_cast<std::size_t>(p.op.signature.outputs[0].elements())
                   : static_cast<std::size_t>(p.op.signature.inputs[0].elements()) / length_) {}

  std::size_t length() const { return length_; }
  std::size_t count() const { return count_; }
  /// Calls solve(line, elements) for all lines, in parallel where they are many. Lines side by side
  /// are gathered several at once, as they share cache lines.
  template <class T, class Solve>
  void for_each(std::span<const T> x, const Solve& solve) const {
    const std::size_t at_once = step_ == 1 ? 1 : std::min<std::size_t>(16, step_);
    const std::size_t groups = (step_ + at_once - 1) / at_once;
    const std::size_t outer = count_ / step_;
#pragma omp parallel for schedule(static) if (outer * groups > 1 && std::ssize(x) > worth_a_fork())
    for (std::size_t group = 0; group < outer * groups; ++group) {
      const std::size_t begin = group / groups * length_ * step_;
      const std::size_t first = group % groups * at_once;
      if (step_ == 1) {
        solve(group, x.subspan(begin, length_));
        continue;
      }
      const std::size_t some = std::min(at_once, step_ - first);
      std::vector<T> gathered(some * length_);
      for (std::size_t place = 0; place < length_; ++place) {
        for (std::size_t i = 0; i < some; ++i) {
          gathered[i * length_ + place] = x[begin + place * step_ + first + i];
        }
      }
      for (std::size_t i = 0; i < some; ++i) {
        solve(group / groups * step_ + first + i,
              std::span<const T>(gathered).subspan(i * length_, length_));
      }
    }
  }

 private:
  std::size_t length_;
  std::size_t step_;
  std::size_t count_;
};

/// State of `numbers` numbers for each line of input 0, by solve(elements, numbers of the line).
template <std::size_t numbers, class T, class Solve>
State solve_lines(const Problem& p, const Solve& solve) {
  const Lines lines(p);
  State state(lines.count() * numbers);
  lines.for_each(p.input<T>(0), [&](std::size_t line, std::span<const T> elements) {
    solve(elements, &state[line * numbers]);
  });
  return state;
}

}  // namespace assay::reference
