#include "reports/files/atomic_file.h"

#include <string>
#include <system_error>
#include <utility>

#include "reports/files/append_file.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

/// Fails for an existing file, which may be somebody's: it is neither removed nor written to.
std::unique_ptr<AppendFile> make_beside(const fs::path& path) {
  for (int n = 1;; ++n) {
    fs::path part = path;
    part += n == 1 ? ".part" : ".part-" + std::to_string(n);
    try {
      return std::make_unique<AppendFile>(part);
    } catch (const std::system_error& error) {
      if (error.code() != std::errc::file_exists) throw;
    }
  }
}

}  // namespace

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)), part_(make_beside(path_)) {}

AtomicFile::~AtomicFile() {
  if (!part_) return;
  std::error_code ignored;
  fs::remove(part_->path(), ignored);
}

void AtomicFile::write(std::string_view text) { part_->write(text); }

void AtomicFile::commit() {
  part_->sync();  // or a power cut after the rename could leave an empty file
  std::error_code is_new;
  const fs::file_status old = fs::status(path_, is_new);
  if (fs::is_regular_file(old)) fs::permissions(part_->path(), old.permissions());
  fs::rename(part_->path(), path_);
  part_.reset();
}

void write_atomically(const fs::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace assay
