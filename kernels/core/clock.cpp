#include "kernels/core/clock.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <ctime>

namespace assay {

std::string utc_text(std::chrono::system_clock::time_point time) {
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  const auto whole = std::chrono::system_clock::to_time_t(time);
  std::tm utc{};
  gmtime_r(&whole, &utc);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(text.data() + length, text.size() - length, ".%03dZ",
                static_cast<int>(milliseconds % 1000));
  return text.data();
}

std::string utc_now() { return utc_text(std::chrono::system_clock::now()); }

double steady_s() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

double system_call_s() {
  timespec now{};
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Deadline after(double seconds) {
  using namespace std::chrono;
  return steady_clock::now() + duration_cast<steady_clock::duration>(duration<double>(seconds));
}

}  // namespace assay
