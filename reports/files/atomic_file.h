#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

namespace assay {

class AppendFile;

/// New content of a file, under a name of its own beside it until it is whole: a reader sees the
/// old content or the new, never a part. Throws std::system_error that names the file; the old one
/// stands then, with nothing beside it.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::string_view text);

  /// Takes the place of the file that stands, with its permissions.
  void commit();

 private:
  std::filesystem::path path_;
  std::unique_ptr<AppendFile> part_;  // null once it is committed
};

/// All at once.
void write_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace assay
