// Command lines that belong in part to another library.
#include "cli/adapters/library_flags.h"

#include <gtest/gtest.h>

#include "kernels/core/status.h"

namespace assay::cli {
namespace {

using Words = std::vector<std::string>;

TEST(LibraryFlags, ArePartedFromAssays) {
  const auto words = split_command_line(
      {"--suite", "linear", "--gtest_shuffle", "--seed=2", "--gtest_output=xml:a=b.xml", "word"},
      "--gtest_");
  EXPECT_EQ(words.assay, (Words{"--suite", "linear", "--seed=2", "word"}));
  EXPECT_EQ(words.library, (Words{"--gtest_shuffle", "--gtest_output=xml:a=b.xml"}));
  EXPECT_EQ(value_of(words, "--gtest_output"), "xml:a=b.xml");
  EXPECT_EQ(value_of(words, "--gtest_shuffle"), "");
  EXPECT_TRUE(is_on(words, "--gtest_shuffle"));
  EXPECT_FALSE(is_on(words, "--gtest_list_tests"));
}

TEST(LibraryFlags, OfSeveralTheLastCounts) {
  const auto words = split_command_line({"--benchmark_list_tests", "--benchmark_out=a",
                                         "--benchmark_out=b", "--benchmark_list_tests=false"},
                                        "--benchmark_");
  EXPECT_EQ(value_of(words, "--benchmark_out"), "b");
  EXPECT_FALSE(is_on(words, "--benchmark_list_tests"));
}

TEST(LibraryFlags, AreRefusedWhereTheLibraryLeavesThem) {
  const auto leave = [](int left) {
    return [left](int* argc, char** argv) {
      EXPECT_EQ(*argc, 3);
      EXPECT_STREQ(argv[2], "--gtest_b");
      EXPECT_EQ(argv[3], nullptr);
      *argc = left;
    };
  };
  std::string program = "assay_gtest";
  EXPECT_NO_THROW(
      initialize_library("GoogleTest", program.data(), {"--gtest_a", "--gtest_b"}, leave(1)));
  EXPECT_THROW(
      initialize_library("GoogleTest", program.data(), {"--gtest_a", "--gtest_b"}, leave(2)),
      UsageError);
}

}  // namespace
}  // namespace assay::cli
