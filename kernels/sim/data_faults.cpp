#include "kernels/sim/data_faults.h"

#include <vector>

namespace assay::sim {

std::span<const DataFault> data_faults() {
  static const std::vector<DataFault> all = [] {
    std::vector<DataFault> faults;
    for (const auto family :
         {element_faults, place_faults, operand_faults, arithmetic_faults, number_faults,
          matrix_unit_faults, block_faults, bf16x9_faults, launch_faults, collective_faults}) {
      const std::span<const DataFault> rows = family();
      faults.insert(faults.end(), rows.begin(), rows.end());
    }
    return faults;
  }();
  return all;
}

const DataFault* find_data_fault(std::string_view name) {
  for (const DataFault& fault : data_faults()) {
    if (fault.name == name) return &fault;
  }
  return nullptr;
}

}  // namespace assay::sim
