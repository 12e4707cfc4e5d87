#include "reports/page/stand_ins.h"

namespace assay::page {

std::string with_stand_in(std::string_view lane, std::string_view stand_in) {
  std::string text(lane);
  return stand_in.empty() ? text : text + " (" + std::string(stand_in) + ")";
}

std::string lane_text(const Record& trial) { return with_stand_in(trial.device, trial.stand_in); }

std::string stand_in_of(const DeviceCells& cells) {
  const auto found = cells.find("stand_in");
  return found == cells.end() ? "" : found->second;
}

}  // namespace assay::page
