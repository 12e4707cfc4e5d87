#include "harness/records/replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/core/names.h"
#include "kernels/device/device_id.h"

namespace assay {

std::string shell_word(std::string_view text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./=,:+@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string replay_command(const Record& record, std::string_view flags) {
  // A lane "cuda:0+cuda:1" is selected as the list of its devices.
  const std::string devices = join(split_lane(record.device), ",");
  std::string command = fmt::format("assay run --case {} --device {} --seed {}",
                                    shell_word(record.case_id), shell_word(devices), record.seed);
  if (record.timing.empty()) command += " --check-only";
  if (record.timing == cold_timing) command += fmt::format(" --timing {}", record.timing);
  if (!flags.empty()) command += " " + std::string(flags);
  return command;
}

}  // namespace assay
