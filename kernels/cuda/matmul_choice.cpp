#include "kernels/cuda/matmul_choice.h"

#include <limits>

namespace assay::cuda {
namespace {

constexpr double clearly_faster = 0.97;

}  // namespace

void leave_out(std::string& left_out, const std::string& what, const std::string& why) {
  left_out += (left_out.empty() ? "" : ", ") + what + " (" + why + ")";
}

Choice choose(Candidates& candidates, SearchBudget& budget) {
  Choice choice;
  double fastest_s = std::numeric_limits<double>::infinity();
  double before_s = candidates.now_s();
  for (int i = 0; i < candidates.count(); ++i) {
    const double now_s = candidates.now_s();
    budget.spend(now_s - before_s);
    before_s = now_s;
    if (choice.is_right && budget.left_s() <= 0) break;
    const Candidates::Launch first = candidates.launch(i);
    if (!first.refusal.empty()) {
      leave_out(choice.left_out, candidates.name(i), first.refusal);
      continue;
    }
    if (!candidates.was_right()) {
      leave_out(choice.left_out, candidates.name(i), "wrong on exact data");
      if (!choice.taken) choice.taken = i;
      continue;
    }
    const double left_s = budget.left_s() - (candidates.now_s() - before_s);
    if (first.time_s > long_launch_s || first.time_s * candidates.timed_launches() > left_s) {
      // Too slow to time: the library's order decides.
      if (choice.is_right) continue;
      choice.taken = i;
      choice.is_right = true;
      break;
    }
    const double time_s = candidates.time_s(i);
    if (!choice.is_right || time_s < clearly_faster * fastest_s) {
      fastest_s = time_s;
      choice.taken = i;
      choice.is_right = true;
    }
  }
  budget.spend(candidates.now_s() - before_s);
  return choice;
}

}  // namespace assay::cuda
