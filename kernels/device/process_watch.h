#pragma once

#include <optional>
#include <string>

namespace assay {

/// A device whose kernels are those of others, and run in a process of their own.
class ProcessWatch {
 public:
  virtual ~ProcessWatch() = default;
  /// Describes state of that process which its kernels have changed since they were prepared:
  /// "leaves OpenMP with 1 thread, not 2".
  virtual std::optional<std::string> changed_process() = 0;
};

}  // namespace assay
