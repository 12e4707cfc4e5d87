#include "kernels/cuda/matmul_choice.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace assay::cuda {
namespace {

constexpr double clearly_faster = 0.97;

/// Takes the time that passes from a budget, up to its own end.
class Spending {
 public:
  Spending(Candidates& candidates, SearchBudget& budget)
      : candidates_(candidates), budget_(budget), before_s_(candidates.now_s()) {}
  ~Spending() { left_s(); }
  Spending(const Spending&) = delete;
  Spending& operator=(const Spending&) = delete;
  double left_s() {
    const double now_s = candidates_.now_s();
    budget_.spend(now_s - before_s_);
    before_s_ = now_s;
    return budget_.left_s();
  }

 private:
  Candidates& candidates_;
  SearchBudget& budget_;
  double before_s_;
};

struct Right {
  int index;
  double first_s;  // time of a single launch
};

/// Launches the candidates on exact data until the first right one is a long one, or the budget is
/// spent. Returns the right ones and leaves out the others. Takes the first of these if none is
/// right.
std::vector<Right> find_right(Candidates& candidates, Spending& spending, Choice& choice) {
  std::vector<Right> right;
  for (int i = 0; i < candidates.count(); ++i) {
    if (!right.empty() && spending.left_s() <= 0) break;
    Candidates::Launch first = candidates.launch(i);
    if (!first.refusal.empty()) {
      leave_out(choice.left_out, candidates.name(i), first.refusal);
      continue;
    }
    if (!candidates.was_right()) {
      leave_out(choice.left_out, candidates.name(i), "wrong on exact data");
      choice.wrong.push_back(candidates.name(i));
      if (!choice.taken) choice.taken = i;
      continue;
    }
    if (!candidates.keeps_nan(i)) {
      // As documented for some epilogues: not wrong, but not the op that was asked for.
      leave_out(choice.left_out, candidates.name(i), "drops NaN");
      if (!choice.taken) choice.taken = i;
      continue;
    }
    // The first launch of a kernel also loads its code.
    if (first.time_s > long_launch_s && spending.left_s() > 0) {
      const Candidates::Launch again = candidates.launch(i);
      if (again.refusal.empty()) first.time_s = std::min(first.time_s, again.time_s);
    }
    right.push_back({i, first.time_s});
    if (right.front().first_s > long_launch_s) break;
  }
  return right;
}

}  // namespace

void leave_out(std::string& left_out, const std::string& what, const std::string& why) {
  left_out += (left_out.empty() ? "" : ", ") + what + " (" + why + ")";
}

Choice choose(Candidates& candidates, SearchBudget& budget) {
  Choice choice;
  Spending spending(candidates, budget);
  const std::vector<Right> right = find_right(candidates, spending, choice);
  if (right.empty()) return choice;
  choice.taken = right.front().index;
  choice.is_right = true;
  const auto fits = [&](const Right& one) {
    const double timing_s = one.first_s * candidates.timed_launches();
    return one.first_s <= long_launch_s && timing_s <= spending.left_s();
  };
  if (right.size() == 1 || !fits(right.front())) return choice;  // the library's order decides
  candidates.load_real_data();
  double fastest_s = std::numeric_limits<double>::infinity();
  for (const Right& one : right) {
    if (!fits(one)) continue;
    const double time_s = candidates.time_s(one.index);
    if (time_s >= clearly_faster * fastest_s) continue;
    fastest_s = time_s;
    choice.taken = one.index;
  }
  return choice;
}

}  // namespace assay::cuda
