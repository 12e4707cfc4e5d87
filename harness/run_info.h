#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/device_info.h"

namespace assay {

/// What is true of a whole run: the content of run.json and devices.csv.
struct RunInfo {
  std::string run_id;
  std::filesystem::path directory;
  std::string host;
  std::string started_at;  // UTC, ISO 8601
  std::string ended_at;    // empty until the end
  std::vector<std::string> command_line;
  std::string version;
  std::string git_revision;
  std::string build_type;
  std::string compiler;
  std::string build_id;
  std::uint64_t seed = 1;
  std::string profile;
  bool check_only = false;
  std::int64_t planned = 0;  // trials
  std::int64_t missing = 0;  // of them, those without a row
  bool interrupted = false;  // known at the end
  int exit_code = 0;         // known at the end
  std::vector<DeviceInfo> devices;
  /// The variables of an allow-list that change results (OMP_NUM_THREADS, CUDA_VISIBLE_DEVICES),
  /// never the whole environment.
  std::vector<std::pair<std::string, std::string>> environment;
};

}  // namespace assay
