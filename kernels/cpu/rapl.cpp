#include "kernels/cpu/rapl.h"

#include <cstdlib>
#include <fstream>
#include <string>
#include <system_error>

namespace assay::cpu {
namespace {

std::optional<std::int64_t> number_in(const std::filesystem::path& file) {
  std::ifstream text(file);
  std::int64_t value = 0;
  if (!(text >> value) || value < 0) return std::nullopt;
  return value;
}

/// ASSAY_POWERCAP: another folder, for tests.
std::filesystem::path powercap_folder() {
  const char* given = std::getenv("ASSAY_POWERCAP");
  return given != nullptr ? given : "/sys/class/powercap";
}

}  // namespace

Rapl::Rapl(const std::filesystem::path& folder) {
  // A package has parts, such as intel-rapl:0:1 for its memory, which it counts already.
  for (int i = 0;; ++i) {
    const std::filesystem::path package = folder / ("intel-rapl:" + std::to_string(i));
    std::error_code missing;
    if (!std::filesystem::exists(package, missing)) return;
    std::string name;
    std::ifstream(package / "name") >> name;
    if (!name.starts_with("package")) continue;  // psys: the whole board
    packages_.push_back({.counter = package / "energy_uj",
                         .last = {},
                         .range = number_in(package / "max_energy_range_uj").value_or(0)});
  }
}

Rapl& Rapl::of_this_machine() {
  static Rapl rapl(powercap_folder());
  return rapl;
}

std::optional<double> Rapl::joules() {
  if (packages_.empty()) return std::nullopt;
  for (Package& package : packages_) {
    const auto now = number_in(package.counter);
    if (!now) return std::nullopt;
    if (package.last) {
      microjoules_ += *now - *package.last + (*now < *package.last ? package.range : 0);
    }
    package.last = now;
  }
  return 1e-6 * static_cast<double>(microjoules_);
}

}  // namespace assay::cpu
