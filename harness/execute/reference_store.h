#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "harness/records/record.h"
#include "kernels/reference/reference.h"

namespace assay {

/// A reference's state, in this process's memory or mapped from a file.
class StoredState {
 public:
  explicit StoredState(reference::State own) : own_(std::move(own)), values_(own_) {}
  StoredState(void* mapped, std::size_t mapped_bytes, std::span<const double> values)
      : mapped_(mapped), mapped_bytes_(mapped_bytes), values_(values) {}
  StoredState(const StoredState&) = delete;
  StoredState& operator=(const StoredState&) = delete;
  ~StoredState();

  std::span<const double> values() const { return values_; }

 private:
  reference::State own_;
  void* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::span<const double> values_;
};

/// The states of references (matrix products, row sums: what costs more than reading it back), each
/// computed by the first worker that needs it and mapped by the others. They depend on the case and
/// the seed alone, never on a device. Files in a folder of the run; one that is torn, of another
/// key, or that does not fit beside the run's records is not used.
class ReferenceStore {
 public:
  /// An empty folder: every state is computed where it is needed.
  explicit ReferenceStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::unique_ptr<StoredState> get(const std::string& key,
                                   const std::function<reference::State()>& compute);

  /// Since the last call.
  ReferenceCount take_count() { return std::exchange(count_, {}); }

 private:
  std::filesystem::path folder_;
  ReferenceCount count_;
};

}  // namespace assay
