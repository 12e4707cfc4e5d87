#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace assay::cpu {

/// Energy of the processor's packages as the kernel's powercap interface tells it (RAPL on Intel
/// and AMD): Linux documentation, power/powercap. Its counters can often be read by root alone.
class Rapl {
 public:
  /// `folder` holds intel-rapl:0, intel-rapl:1 and so on, one a package.
  explicit Rapl(const std::filesystem::path& folder);
  static Rapl& of_this_machine();

  /// Joules of all packages since the first reading. Empty if there is none, or one cannot be read.
  /// Counts correctly if a counter wraps at most once between two readings: some minutes.
  std::optional<double> joules();

 private:
  struct Package {
    std::filesystem::path counter;     // energy_uj, in microjoules
    std::optional<std::int64_t> last;  // of the last reading
    std::int64_t range;                // max_energy_range_uj: where the counter wraps
  };
  std::vector<Package> packages_;
  std::int64_t microjoules_ = 0;
};

}  // namespace assay::cpu
