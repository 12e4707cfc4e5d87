#pragma once

#include <filesystem>
#include <istream>
#include <streambuf>
#include <vector>

#include "kernels/core/file_descriptor.h"

namespace assay {

/// A read-only file as a stream. Opens only regular files: a reader of a pipe may wait for ever,
/// and a device may have no end.
class InputFile final : public std::istream {
 public:
  /// Throws UsageError("PATH: cannot be read: why").
  explicit InputFile(const std::filesystem::path& path);

 private:
  class Buffer final : public std::streambuf {
   public:
    explicit Buffer(const std::filesystem::path& path);

   private:
    int_type underflow() override;

    std::filesystem::path path_;
    FileDescriptor file_;
    std::vector<char> block_;
  };

  Buffer buffer_;
};

}  // namespace assay
