#include "harness/execute/fill_record.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay {
namespace {

/// Reason of a row whose devices have drivers of these modes.
std::string reason(const std::vector<std::string>& drivers, bool has_energy) {
  Record record{.reason = "more precise"};
  if (has_energy) record.energy_per_launch_j = 1;
  for (const std::string& driver : drivers) {
    add_mode_notes(record, {.driver = driver});
  }
  return record.reason;
}

TEST(FillRecord, ModesOfTheDriverMarkTimesAndEnergyOnce) {
  const std::string plain = "NVIDIA 580.82.07, CUDA 13.0";
  EXPECT_EQ(reason({plain, plain + ", MPS"}, true), "more precise");
  EXPECT_EQ(reason({plain + ", MIG"}, false), "more precise") << "times are the slice's own";
  EXPECT_EQ(reason({plain + ", MIG"}, true),
            "more precise, energy: of the whole GPU, which other slices may use");
  EXPECT_EQ(reason({plain + ", WSL2, MPS", plain + ", WSL2"}, false),
            "more precise, times: events under WSL2, where Windows hands work to the GPU");
}

}  // namespace
}  // namespace assay
