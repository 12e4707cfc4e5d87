#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "harness/records/phases.h"
#include "kernels/device/device_info.h"

namespace assay {

/// One stretch of a run: from its start or a --resume to where it ended or was killed.
struct Session {
  std::string started_at;  // UTC, ISO 8601
  std::string ended_at;    // empty while it runs, and for ever if it was killed
  std::vector<std::string> command_line;
  // Known if the session ended.
  bool interrupted = false;
  int exit_code = 0;
  double wall_s = 0;
  std::int64_t taken = 0;  // trials that it ran, each attempt

  bool ended() const { return !ended_at.empty(); }
};

/// File that a run was given, and which each of its sessions must find as it was.
struct GivenFile {
  std::filesystem::path path;  // absolute, or the word that stands for it; empty without a file
  std::string crc32;           // of its bytes; of a folder, of the names and bytes of its files
};

/// Facts of a whole run: the content of run.json and devices.csv.
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
  bool allow_flaky = false;
  std::int64_t planned = 0;  // trials, counting every repeat
  bool interrupted = false;  // known at the end
  int exit_code = 0;         // known at the end
  /// Notes for people beside the results: trials that a budget left out, a known failure that no
  /// longer fails. Known at the end.
  std::vector<std::string> notes;
  std::int64_t references_computed = 0;  // known at the end
  std::int64_t references_shared = 0;    // reused by another trial; known at the end
  std::vector<Session> sessions;         // the last is the current one
  GivenFile expected;                    // the list of known failures
  GivenFile kernels;                     // of others
  GivenFile own_ops;                     // file that defines ops
  GivenFile problem;                     // file of a problem, or folder of them
  std::string kernels_name;  // what they call themselves, with the versions of their libraries
  /// Total time of the ended sessions, their number of trials (each attempt), and that time by
  /// phases. Known at the end.
  double wall_s = 0;
  std::int64_t taken = 0;
  PhaseSeconds phases;
  std::vector<DeviceInfo> devices;
  /// The variables of an allow-list that change results (OMP_NUM_THREADS, CUDA_VISIBLE_DEVICES),
  /// never the whole environment.
  std::vector<std::pair<std::string, std::string>> environment;
};

}  // namespace assay
