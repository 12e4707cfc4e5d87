#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device/device_info.h"

namespace assay {

/// One side of a comparison of two builds.
struct PairedSide {
  std::filesystem::path program;
  std::string build_id;
  std::vector<std::pair<std::string, std::string>> environment;  // set for this side alone
  std::vector<std::string> sim_faults;
  std::string kernels;              // of others; empty: the program's own
  std::string kernels_name;         // with the versions of their libraries
  std::vector<DeviceInfo> devices;  // seen by this side
};

/// Facts of a whole comparison: the content of ab.json.
struct PairedInfo {
  std::string run_id;
  std::filesystem::path directory;
  std::string host;
  std::string started_at;  // UTC, ISO 8601
  std::string ended_at;    // empty until the end
  std::vector<std::string> command_line;
  PairedSide base;
  PairedSide cand;
  std::uint64_t seed = 1;
  double margin = 0;
  std::string margin_reason;
  int screen_rounds = 0;
  double screen_p = 0;
  int confirm_rounds = 0;
  double confirm_p = 0;
  int samples = 0;  // per side and round
  std::int64_t planned = 0;
  std::vector<std::string> notes;
  bool interrupted = false;  // known at the end
  int exit_code = 0;         // known at the end
  double wall_s = 0;         // known at the end
  /// Variables that change results, common to both sides.
  std::vector<std::pair<std::string, std::string>> environment;
};

}  // namespace assay
