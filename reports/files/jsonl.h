#pragma once

#include <cstdio>

#include "harness/records/record.h"

namespace assay {

/// Prints each record as one line of JSON as its trial ends, for programs that read along.
class Jsonl final : public Sink {
 public:
  explicit Jsonl(std::FILE* to) : to_(to) {}
  /// Throws std::system_error if the line cannot be written: the user asked for it.
  void result(const Result& result) override;

 private:
  std::FILE* to_;
};

}  // namespace assay
