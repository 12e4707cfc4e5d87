#pragma once

#include <filesystem>
#include <istream>
#include <streambuf>
#include <vector>

#include "kernels/core/file_descriptor.h"

namespace assay {

/// A file that is only read, as a stream. A pipe would let the reader wait for ever and a device
/// may have no end, so that only regular files are opened.
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
