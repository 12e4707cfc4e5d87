#include <array>

#include "harness/records/record.h"

namespace assay {
namespace {

constexpr std::array statuses{Status::pass,    Status::fail,   Status::flaky, Status::skip,
                              Status::timeout, Status::crash,  Status::oom,   Status::device_lost,
                              Status::error,   Status::vacuous};
constexpr std::array<std::string_view, statuses.size()> status_names{
    "pass", "fail", "flaky", "skip", "timeout", "crash", "oom", "device_lost", "error", "vacuous"};

}  // namespace

StatusClass class_of(Status status) {
  switch (status) {
    case Status::pass:
      return StatusClass::right;
    case Status::fail:
    case Status::flaky:
    case Status::vacuous:
      return StatusClass::wrong;
    case Status::skip:
      return StatusClass::skipped;
    case Status::timeout:
    case Status::crash:
    case Status::oom:
    case Status::device_lost:
    case Status::error:
      break;
  }
  return StatusClass::broken;
}

bool Record::is_bad() const {
  const StatusClass what = class_of(status);
  return (what == StatusClass::wrong || what == StatusClass::broken) && expected_failure.empty();
}

std::span<const Status> all_statuses() { return statuses; }

std::string_view name(Status status) { return status_names.at(static_cast<std::size_t>(status)); }

std::optional<Status> parse_status(std::string_view text) {
  for (const Status status : statuses) {
    if (name(status) == text) return status;
  }
  return std::nullopt;
}

}  // namespace assay
