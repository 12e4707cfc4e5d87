#include <array>

#include "harness/record.h"

namespace assay {
namespace {

constexpr std::array statuses{Status::pass,    Status::fail,   Status::flaky, Status::skip,
                              Status::timeout, Status::crash,  Status::oom,   Status::device_lost,
                              Status::error,   Status::vacuous};
constexpr std::array<std::string_view, statuses.size()> names{
    "pass", "fail", "flaky", "skip", "timeout", "crash", "oom", "device_lost", "error", "vacuous"};

}  // namespace

std::span<const Status> all_statuses() { return statuses; }

std::string_view name(Status status) { return names.at(static_cast<std::size_t>(status)); }

std::optional<Status> parse_status(std::string_view text) {
  for (const Status status : statuses) {
    if (name(status) == text) return status;
  }
  return std::nullopt;
}

}  // namespace assay
