#include "harness/supervise/oom_watch.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <string>

#include "kernels/core/clock.h"

namespace assay {

std::optional<std::int64_t> OomWatch::count_in(std::string_view text) {
  constexpr std::string_view word = "oom_kill ";
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    if (at > 0 && text[at - 1] != '\n') continue;
    std::int64_t count = 0;
    const char* digits = text.data() + at + word.size();
    if (std::from_chars(digits, text.data() + text.size(), count).ec == std::errc()) return count;
  }
  return std::nullopt;
}

OomWatch::Reading OomWatch::last_;

OomWatch::Reading OomWatch::read() {
  // Takes the machine's count, or the cgroup's in a container with its own kernel.
  std::int64_t total = 0;
  for (const char* path : {"/proc/vmstat", "/sys/fs/cgroup/memory.events"}) {
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    total += count_in(text).value_or(0);
  }
  return {total, steady_s()};
}

void OomWatch::begin() {
  constexpr double moment_s = 0.1;  // to read takes as long as a small trial
  if (last_.at_s < 0 || steady_s() - last_.at_s > moment_s) last_ = read();
  before_ = last_.kills;
}

bool OomWatch::happened() const {
  last_ = read();
  return last_.kills > before_;
}

}  // namespace assay
