#include "reports/files/run_directory.h"

#include <gtest/gtest.h>

#include "kernels/core/status.h"
#include "tests/unit/reports_support.h"

namespace assay {
namespace {

using namespace testing_support;
using ::testing::IsSubstring;

std::chrono::system_clock::time_point at(std::int64_t seconds) {
  return std::chrono::system_clock::time_point(std::chrono::seconds(seconds));
}

std::string refusal(const std::filesystem::path& path) {
  return message_of<UsageError>([&] { claim_empty_directory(path); });
}

/// Gives up root, which may write everywhere, for one scope.
class Unprivileged {
 public:
  Unprivileged() : before_(::geteuid()) {
    if (before_ == 0) {
      EXPECT_EQ(::seteuid(65534), 0);
    }
  }
  Unprivileged(const Unprivileged&) = delete;
  Unprivileged& operator=(const Unprivileged&) = delete;
  ~Unprivileged() { EXPECT_EQ(::seteuid(before_), 0); }

 private:
  uid_t before_;
};

TEST(RunDirectory, IsMadeWithItsParents) {
  const TemporaryDirectory directory;
  claim_empty_directory(directory / "a/b/c");
  EXPECT_TRUE(std::filesystem::is_directory(directory / "a/b/c"));
  claim_empty_directory(directory / "a/b/c/");
  EXPECT_TRUE(std::filesystem::is_empty(directory / "a/b/c"));
  claim_empty_directory(directory / "with/slash/");
  EXPECT_TRUE(std::filesystem::is_directory(directory / "with/slash"));
}

TEST(RunDirectory, IsRefusedWhenFilesStandInIt) {
  const TemporaryDirectory directory;
  write_file(directory / "notes.txt", "precious");
  const std::string message = refusal(directory.path());
  EXPECT_PRED_FORMAT2(IsSubstring, directory.path().string(), message);
  EXPECT_PRED_FORMAT2(IsSubstring, "not empty", message);
  EXPECT_PRED_FORMAT2(IsSubstring, "--out", message);
  EXPECT_EQ(message.find('\n'), std::string::npos);
  EXPECT_EQ(read_file(directory / "notes.txt"), "precious");
}

TEST(RunDirectory, IsRefusedWhereItCannotBeMade) {
  const TemporaryDirectory directory;
  write_file(directory / "file", "");
  EXPECT_PRED_FORMAT2(IsSubstring, "is not a directory", refusal(directory / "file"));
  EXPECT_PRED_FORMAT2(IsSubstring, "cannot be made", refusal(directory / "file/run"));
  EXPECT_PRED_FORMAT2(IsSubstring, "--out", refusal(directory / "file/run"));
  std::filesystem::create_symlink(directory / "nowhere", directory / "dangling");
  EXPECT_PRED_FORMAT2(IsSubstring, "is not a directory", refusal(directory / "dangling"));
  EXPECT_PRED_FORMAT2(IsSubstring, "cannot be made", refusal(""));
}

TEST(RunDirectory, IsRefusedWhereItCannotBeWrittenTo) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "sealed");
  std::filesystem::permissions(directory.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(directory / "sealed", std::filesystem::perms(0555));
  const Unprivileged user;
  EXPECT_PRED_FORMAT2(IsSubstring, "cannot be written to", refusal(directory / "sealed"));
  EXPECT_PRED_FORMAT2(IsSubstring, "cannot be made", refusal(directory / "sealed/run"));
}

TEST(RunDirectoryName, IsUtcAndHost) {
  EXPECT_EQ(run_directory_name(at(0), "node7"), "19700101T000000Z-node7");
  EXPECT_EQ(run_directory_name(at(1706745599), "a.b-c_1"), "20240131T235959Z-a.b-c_1");
  EXPECT_EQ(run_directory_name(at(0), "../x y"), "19700101T000000Z-.._x_y");
  EXPECT_EQ(run_directory_name(at(0), ""), "19700101T000000Z-unknown");
}

TEST(DefaultRunDirectory, IsNeverSharedBetweenRunsOfOneSecond) {
  const TemporaryDirectory directory;
  const auto parent = directory / "assay-runs";
  EXPECT_EQ(make_default_run_directory(at(0), "h", parent), parent / "19700101T000000Z-h");
  EXPECT_EQ(make_default_run_directory(at(0), "h", parent), parent / "19700101T000000Z-h-2");
  EXPECT_EQ(make_default_run_directory(at(0), "h", parent), parent / "19700101T000000Z-h-3");
  EXPECT_TRUE(std::filesystem::is_empty(parent / "19700101T000000Z-h-3"));
}

TEST(DefaultRunDirectory, IsRefusedWhereItsParentCannotBeMade) {
  const TemporaryDirectory directory;
  write_file(directory / "assay-runs", "");
  const auto message = message_of<UsageError>(
      [&] { make_default_run_directory(at(0), "h", directory / "assay-runs"); });
  EXPECT_PRED_FORMAT2(IsSubstring, "cannot be made", message);
}

}  // namespace
}  // namespace assay
