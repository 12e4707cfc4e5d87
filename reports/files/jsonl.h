#pragma once

#include <cstdio>

#include "harness/records/record.h"

namespace assay {

/// Each record as one line of JSON, as its trial ends: for programs that read along.
class Jsonl final : public Sink {
 public:
  explicit Jsonl(std::FILE* to) : to_(to) {}
  /// Throws std::system_error when the line cannot be written: it was asked for.
  void result(const Result& result) override;

 private:
  std::FILE* to_;
};

}  // namespace assay
