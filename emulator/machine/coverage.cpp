#include "emulator/machine/coverage.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stop_token>
#include <thread>
#include <vector>

namespace emulator {
namespace {

constexpr std::chrono::milliseconds between_lines{100};

struct Entry {
  std::size_t module_bytes;
  std::string kernel;
  std::shared_ptr<const KernelCode> code;
  std::size_t told = 0;  // instructions executed, of the line before
};

/// Empty: nothing new.
std::string line_of(Entry& entry) {
  std::size_t executed = 0, total = 0;
  std::set<int> lines;
  for (const FunctionCode& function : entry.code->functions) {
    total += function.codes.size();
    for (std::size_t i = 0; i < function.codes.size(); ++i) {
      if (__atomic_load_n(&function.executed[i], __ATOMIC_RELAXED) == 0) continue;
      ++executed;
      lines.insert(function.codes[i].line);
    }
  }
  if (executed == entry.told) return {};
  entry.told = executed;
  return fmt::format("kernel\t{}\t{}\t{}\t{}\t{}\n", entry.module_bytes, entry.kernel, executed,
                     total, fmt::join(lines, ","));
}

/// One write in append mode: lines of processes that write together do not mix.
void append(const std::string& text) {
  const char* name = std::getenv("ASSAY_EMULATOR_COVERAGE");
  if (name == nullptr || text.empty()) return;
  const int file = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  const bool is_written =
      file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (file >= 0) close(file);
  if (!is_written) std::abort();  // a figure without these lines would be wrong
}

class Registry {
 public:
  ~Registry() {
    writer_ = {};  // stops and joins
    write_new_lines();
  }
  void add(Entry entry) {
    const std::lock_guard lock(mutex_);
    entries_.push_back(std::move(entry));
    if (!writer_.joinable())
      writer_ = std::jthread([this](const std::stop_token& stop) { write_until(stop); });
  }

 private:
  void write_until(const std::stop_token& stop) {
    std::mutex own;
    std::unique_lock lock(own);
    std::condition_variable_any stopped;
    while (!stopped.wait_for(lock, stop, between_lines, [&] { return stop.stop_requested(); }))
      write_new_lines();
  }
  void write_new_lines() {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (Entry& entry : entries_) text += line_of(entry);
    append(text);
  }

  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::jthread writer_;
};

/// The process, from when the library is loaded to a normal exit.
struct Life {
  Life() { tell("started"); }
  ~Life() { tell("ended"); }
  static void tell(const char* what) { append(fmt::format("{}\t{}\n", what, getpid())); }
} life;

}  // namespace

bool coverage_wanted() {
  static const bool wanted = std::getenv("ASSAY_EMULATOR_COVERAGE") != nullptr;
  return wanted;
}

void add_to_coverage(std::size_t module_bytes, const std::string& kernel,
                     std::shared_ptr<const KernelCode> code) {
  if (!coverage_wanted()) return;
  static Registry registry;
  registry.add({module_bytes, kernel, std::move(code)});
}

}  // namespace emulator
