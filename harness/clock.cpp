#include "harness/clock.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace assay {

std::string utc_text(std::chrono::system_clock::time_point time) {
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  const auto whole = std::chrono::system_clock::to_time_t(time);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(whole), milliseconds % 1000);
}

std::string utc_now() { return utc_text(std::chrono::system_clock::now()); }

double steady_s() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

}  // namespace assay
