#include "tests/cuda_emulator/machine/coverage.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <vector>

namespace emulator {
namespace {

struct Entry {
  std::string file, kernel;
  std::shared_ptr<const KernelCode> code;
};

std::string line_of(const Entry& entry) {
  std::size_t executed = 0, total = 0;
  std::set<int> missed;
  for (const FunctionCode& function : entry.code->functions) {
    // The last `ret` is the compiler's own.
    for (std::size_t i = 0; i + 1 < function.codes.size(); ++i) {
      ++total;
      if (function.executed[i] != 0)
        ++executed;
      else
        missed.insert(function.codes[i].line);
    }
  }
  return fmt::format("{}\t{}\t{}\t{}\t{}\n", entry.file, entry.kernel, executed, total,
                     fmt::join(missed, ","));
}

class Registry {
 public:
  ~Registry() {
    const char* name = std::getenv("ASSAY_EMULATOR_COVERAGE");
    if (name == nullptr || entries_.empty()) return;
    std::string text;
    for (const Entry& entry : entries_) text += line_of(entry);
    // One write in append mode: processes that end together do not mix their lines.
    std::FILE* file = std::fopen(name, "ae");
    if (file == nullptr) return;
    std::setvbuf(file, nullptr, _IOFBF, text.size() + 1);
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
  }
  void add(Entry entry) {
    const std::lock_guard lock(mutex_);
    entries_.push_back(std::move(entry));
  }

 private:
  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace

bool coverage_wanted() {
  static const bool wanted = std::getenv("ASSAY_EMULATOR_COVERAGE") != nullptr;
  return wanted;
}

void add_to_coverage(const std::string& file, const std::string& kernel,
                     std::shared_ptr<const KernelCode> code) {
  if (!coverage_wanted()) return;
  static Registry registry;
  registry.add({file, kernel, std::move(code)});
}

}  // namespace emulator
