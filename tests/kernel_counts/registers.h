#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay::kernel_counts {

/// Registers of a thread, as ptxas allots them for a GPU.
class Registers {
 public:
  /// `architecture`: "sm_90".
  explicit Registers(std::string architecture) : architecture_(std::move(architecture)) {}

  /// Runs ptxas once for these kernels of a module.
  void read(std::string_view ptx, const std::vector<std::string>& kernels);
  /// Throws std::out_of_range for a kernel that was not read.
  int of(const std::string& kernel) const { return registers_.at(kernel); }

 private:
  std::string architecture_;
  std::map<std::string, int> registers_;
};

/// Reads what `ptxas --verbose` tells of each entry function.
std::map<std::string, int> read_registers(std::string_view text);

}  // namespace assay::kernel_counts
