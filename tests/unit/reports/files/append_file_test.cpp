#include "reports/files/append_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <csignal>

#include "reports/files/atomic_file.h"
#include "tests/unit/reports_support.h"

namespace assay {
namespace {

using namespace testing_support;

/// Lets no file of this process grow beyond `bytes`: a disk that is full at a chosen place.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST(AppendFile, IsReadableAfterEachWrite) {
  const TemporaryDirectory directory;
  AppendFile file(directory / "a");
  file.write("one\n");
  EXPECT_EQ(read_file(directory / "a"), "one\n");
  file.write("two\n");
  EXPECT_EQ(read_file(directory / "a"), "one\ntwo\n");
}

TEST(AppendFile, NeverOverwrites) {
  const TemporaryDirectory directory;
  write_file(directory / "a", "old\n");
  EXPECT_THROW(AppendFile{directory / "a"}, std::system_error);
  EXPECT_EQ(read_file(directory / "a"), "old\n");
  AppendFile(directory / "a", AppendFile::Mode::append).write("new\n");
  EXPECT_EQ(read_file(directory / "a"), "old\nnew\n");
}

TEST(AppendFile, WhatIsWrittenToAFileThatWasRemovedIsNotTakenForKept) {
  const TemporaryDirectory directory;
  AppendFile file(directory / "a");
  file.write("one\n");
  std::filesystem::remove(directory / "a");
  EXPECT_THROW(file.write("two\n"), std::runtime_error);
}

TEST(AppendFile, NamesAFileThatCannotBeOpened) {
  const TemporaryDirectory directory;
  const std::string path = directory / "missing/a";
  const auto message = message_of<std::system_error>([&] { AppendFile{path}; });
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, path, message);
}

TEST(AppendFile, AFullDiskIsAnErrorThatNamesTheFile) {
  AppendFile file("/dev/full", AppendFile::Mode::append);
  try {
    file.write("row\n");
    FAIL() << "nothing was thrown";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), ENOSPC);
    EXPECT_PRED_FORMAT2(::testing::IsSubstring, "/dev/full", error.what());
  }
}

TEST(AppendFile, ARowThatDoesNotFitLeavesNoPart) {
  const TemporaryDirectory directory;
  AppendFile file(directory / "a");
  file.write("whole\n");
  {
    const FileSizeLimit limit(9);
    EXPECT_THROW(file.write("too long\n"), std::system_error);
  }
  EXPECT_EQ(read_file(directory / "a"), "whole\n");
}

TEST(WriteAtomically, ReplacesTheWholeFileAndNothingBesideIt) {
  const TemporaryDirectory directory;
  write_file(directory / "a", "a long old text");
  write_file(directory / "a.part", "somebody's");
  write_atomically(directory / "a", "new");
  EXPECT_EQ(read_file(directory / "a"), "new");
  EXPECT_EQ(read_file(directory / "a.part"), "somebody's");
  EXPECT_FALSE(std::filesystem::exists(directory / "a.part-2"));
}

TEST(WriteAtomically, KeepsPermissions) {
  const TemporaryDirectory directory;
  write_file(directory / "a", "old");
  const auto own = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
  std::filesystem::permissions(directory / "a", own);
  write_atomically(directory / "a", "new");
  EXPECT_EQ(std::filesystem::status(directory / "a").permissions(), own);
}

TEST(WriteAtomically, KeepsTheOldFileOnAFullDisk) {
  const TemporaryDirectory directory;
  write_file(directory / "a", "old");
  {
    const FileSizeLimit limit(2);
    EXPECT_THROW(write_atomically(directory / "a", "new text"), std::system_error);
  }
  EXPECT_EQ(read_file(directory / "a"), "old");
  EXPECT_FALSE(std::filesystem::exists(directory / "a.part"));
}

}  // namespace
}  // namespace assay
