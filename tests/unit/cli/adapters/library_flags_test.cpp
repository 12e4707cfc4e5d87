// Command lines that are in part another library's.
#include "cli/adapters/library_flags.h"

#include <gtest/gtest.h>

#include <functional>

#include "kernels/core/status.h"

namespace assay::cli {
namespace {

SplitCommandLine gtest(const std::vector<std::string>& words) {
  return split_command_line(words, "--gtest_", gtest_flags());
}
SplitCommandLine gbench(const std::vector<std::string>& words) {
  return split_command_line(words, "--benchmark_", gbench_flags());
}
using Words = std::vector<std::string>;

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(LibraryFlags, ArePartedFromAssays) {
  const auto words = gtest(
      {"--suite", "linear", "--gtest_shuffle", "--seed=2", "--gtest_output=xml:a=b.xml", "word"});
  EXPECT_EQ(words.assay, (Words{"--suite", "linear", "--seed=2", "word"}));
  EXPECT_EQ(words.library, (Words{"--gtest_shuffle", "--gtest_output=xml:a=b.xml"}));
  EXPECT_EQ(value_of(words, "--gtest_output"), "xml:a=b.xml");
  EXPECT_EQ(value_of(words, "--gtest_shuffle"), "");
  EXPECT_TRUE(is_on(words, "--gtest_shuffle"));
  EXPECT_FALSE(is_on(words, "--gtest_list_tests"));
}

TEST(LibraryFlags, OfSeveralTheLastCounts) {
  const auto words = gbench({"--benchmark_list_tests", "--benchmark_out=a", "--benchmark_out=b",
                             "--benchmark_list_tests=false"});
  EXPECT_EQ(value_of(words, "--benchmark_out"), "b");
  EXPECT_FALSE(is_on(words, "--benchmark_list_tests"));
}

TEST(LibraryFlags, ThoseThatAreNoneAreRefusedWithTheNearest) {
  EXPECT_NE(refusal([] { gtest({"--gtest_fliter=x"}); }).find("did you mean '--gtest_filter'"),
            std::string::npos);
  EXPECT_NE(refusal([] { gtest({"--gtest_flagfile=x"}); }).find("unknown option"),
            std::string::npos);
  EXPECT_NE(refusal([] { gbench({"--benchmark_fitler=x"}); }).find("'--benchmark_filter'"),
            std::string::npos);
}

TEST(LibraryFlags, OnWhichTheLibrariesWouldEndGreenAreRefused) {
  for (const char* word :
       {"--gtest_filter", "--gtest_output=yaml", "--gtest_output=xmlfile", "--gtest_repeat=twice",
        "--gtest_repeat=", "--gtest_color=blue", "--gtest_brief=perhaps", "--gtest_list_tests=no",
        "--gtest_fail_fast=off"}) {
    EXPECT_NE(refusal([&] { gtest({word}); }), "accepted") << word;
  }
  for (const char* word :
       {"--benchmark_filter=(", "--benchmark_format=xml", "--benchmark_repetitions=0",
        "--benchmark_repetitions=-1", "--benchmark_repetitions=x", "--benchmark_time_unit=h",
        "--benchmark_list_tests=perhaps", "--benchmark_out"}) {
    EXPECT_NE(refusal([&] { gbench({word}); }), "accepted") << word;
  }
}

TEST(LibraryFlags, GoodOnesAreTaken) {
  for (const char* word : {"--gtest_filter=*-cpu.*", "--gtest_filter=", "--gtest_output=json",
                           "--gtest_output=xml:dir/", "--gtest_repeat=-1", "--gtest_brief=1"}) {
    EXPECT_EQ(refusal([&] { gtest({word}); }), "accepted") << word;
  }
  for (const char* word :
       {"--benchmark_filter=-^cpu/(add|exp)", "--benchmark_filter=all", "--benchmark_format=json",
        "--benchmark_repetitions=3", "--benchmark_min_time=0.5", "--benchmark_context=a=b"}) {
    EXPECT_EQ(refusal([&] { gbench({word}); }), "accepted") << word;
  }
}

}  // namespace
}  // namespace assay::cli
