#pragma once

#include <algorithm>
#include <random>

namespace assay {

/// Pays for work beside samples by a share of their time, at moments that nothing foretells.
class Allowance {
 public:
  /// `random` must outlive it.
  Allowance(double share, std::mt19937_64& random) : share_(share), random_(random) { draw(); }

  /// Counts time of samples.
  void earn(double seconds) { credit_s_ += share_ * seconds; }
  /// True if work of about `cost_s` is due: as often as the share pays for it, on average.
  bool affords(double cost_s) const { return credit_s_ >= patience_ * cost_s; }
  /// Counts time of such work.
  void spend(double seconds) {
    credit_s_ -= seconds;
    draw();
  }

 private:
  /// Half of the time earlier than saved for, half of the time later.
  void draw() { patience_ = std::uniform_real_distribution<double>(0, 2)(random_); }

  double share_;
  std::mt19937_64& random_;
  double credit_s_ = 0;
  double patience_ = 1;
};

}  // namespace assay
