#include "harness/records/input_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <iterator>

#include "kernels/core/status.h"
#include "tests/unit/reports_support.h"

namespace assay {
namespace {

using namespace testing_support;

std::string refusal(const std::filesystem::path& path) {
  return message_of<UsageError>([&] { InputFile file(path); });
}

TEST(InputFile, ReadsARegularFileThroughLinks) {
  const TemporaryDirectory folder;
  const std::string text(200'000, 'x');
  write_file(folder / "a", text + "\n");
  std::filesystem::create_symlink("a", folder / "link");
  InputFile file(folder / "link");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), text + "\n");
}

TEST(InputFile, AnEmptyFileIsOne) {
  const TemporaryDirectory folder;
  write_file(folder / "a", "");
  InputFile file(folder / "a");
  EXPECT_EQ(file.get(), InputFile::traits_type::eof());
  EXPECT_FALSE(file.bad());
}

TEST(InputFile, RefusesWhatHasNoEndOrNobodyWrites) {
  const TemporaryDirectory folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(refusal(pipe), pipe + ": cannot be read: it is a pipe; only regular files are read");
  EXPECT_EQ(refusal("/dev/zero"),
            "/dev/zero: cannot be read: it is a device; only regular files are read");
}

TEST(InputFile, SaysWhyThereIsNone) {
  EXPECT_EQ(refusal("/nowhere/a"), "/nowhere/a: cannot be read: No such file or directory");
  EXPECT_EQ(refusal("/"), "/: cannot be read: it is a directory; give a file");
}

}  // namespace
}  // namespace assay
