#pragma once

#include <cmath>

namespace assay::reference {

/// Computes s + error == a + b exactly, for any magnitudes. Knuth, TAOCP vol. 2, 4.2.2, theorem B.
inline void two_sum(double a, double b, double& s, double& error) {
  s = a + b;
  const double b_part = s - a;
  const double a_part = s - b_part;
  error = (a - a_part) + (b - b_part);
}

/// A running sum in twice the precision of double: the error of n additions is below n 2^-104 times
/// the sum of magnitudes. Algorithm Sum2 of Ogita, Rump, Oishi, SIAM J. Sci. Comput. 26(6), 2005.
class ExactSum {
 public:
  ExactSum() = default;
  /// Continues from an earlier sum's value and rest.
  ExactSum(double value, double rest) : high_(value), low_(rest) {}

  void add(double term) {
    double error = 0;
    two_sum(high_, term, high_, error);
    low_ += error;
  }
  /// Adds a * b. An fma gives its rounding error exactly.
  void add_product(double a, double b) {
    const double product = a * b;
    low_ += std::fma(a, b, -product);
    add(product);
  }
  void add(const ExactSum& other) {
    add(other.high_);
    low_ += other.low_;
  }
  /// Sum as a double, and the rest that the double misses. Infinities and NaN, whose errors are not
  /// numbers, have no rest.
  double value() const { return std::isfinite(high_) ? high_ + low_ : high_; }
  double rest() const {
    double s = 0;
    double error = 0;
    two_sum(high_, low_, s, error);
    return std::isfinite(high_) ? error : 0;
  }

 private:
  double high_ = 0;
  double low_ = 0;
};

}  // namespace assay::reference
