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

/// States of references that cost more to compute than to read back (matrix products, row sums).
/// The first worker that needs one computes it; the others map it. A state depends on the case and
/// the seed alone, never on a device. The files lie in a folder of the run. A torn file, one of
/// another key, or one that does not fit beside the run's records is not used.
class ReferenceStore {
 public:
  /// Empty `folder`: each worker computes the states that it needs.
  explicit ReferenceStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::unique_ptr<StoredState> get(const std::string& key,
                                   const std::function<reference::State()>& compute);

  /// Returns the count since the last call.
  ReferenceCount take_count() { return std::exchange(count_, {}); }

 private:
  std::filesystem::path folder_;
  ReferenceCount count_;
};

}  // namespace assay
