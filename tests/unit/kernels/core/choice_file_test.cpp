// Choices that processes hand on: the first one holds, and a file that is torn or none is told
// apart.
#include "kernels/core/choice_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "kernels/core/status.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

class ChoiceFiles : public testing::Test {
 protected:
  ChoiceFiles() { fs::remove(path); }
  ~ChoiceFiles() override { fs::remove(path); }

  static StoredChoice choice(const std::string& plan, const std::string& chosen) {
    return {"GPU-1", "library 1.2", plan, chosen, "algorithm " + chosen, "", {}};
  }
  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(path).rdbuf();
    return all.str();
  }

  const fs::path path =
      fs::path(testing::TempDir()) /
      (std::string("choices-") + testing::UnitTest::GetInstance()->current_test_info()->name());
  const ChoiceFile file{path};
};

TEST_F(ChoiceFiles, HandsTheFirstChoiceOnByItsWholeKey) {
  StoredChoice first = choice("m=1", "aa");
  first.left_out = "algorithm 3 (not\tsupported)";
  first.wrong = {"algorithm 4, tile 2", "algorithm 5"};
  EXPECT_EQ(file.find(first), std::nullopt);
  file.keep(first, std::nullopt);
  first.left_out = "algorithm 3 (not supported)";
  EXPECT_EQ(ChoiceFile(path).keep(choice("m=1", "bb"), std::nullopt), first);
  EXPECT_EQ(file.find(choice("m=1", "")), first);
  for (StoredChoice other : {choice("m=2", ""), choice("m=1", "")}) {
    if (other.plan == "m=1") other.library = "library 1.3";
    EXPECT_EQ(file.find(other), std::nullopt);
  }
  EXPECT_EQ(file.read().size(), 1U);
}

TEST_F(ChoiceFiles, ReplacesOnlyTheChoiceThatWasRefused) {
  file.keep(choice("m=1", "aa"), std::nullopt);
  const auto refused = file.find(choice("m=1", ""));
  EXPECT_EQ(file.keep(choice("m=1", "bb"), refused).chosen, "bb");
  EXPECT_EQ(file.keep(choice("m=1", "cc"), refused).chosen, "bb") << "another process was first";
  EXPECT_EQ(file.find(choice("m=1", ""))->chosen, "bb");
}

TEST_F(ChoiceFiles, ForgetsALineThatWasNotEnded) {
  file.keep(choice("m=1", "aa"), std::nullopt);
  std::ofstream(path, std::ios::app) << "GPU-1\tlibrary 1.2\tm=2\t";
  EXPECT_EQ(file.read().size(), 1U);
  file.keep(choice("m=2", "bb"), std::nullopt);
  EXPECT_EQ(file.find(choice("m=2", ""))->chosen, "bb");
  EXPECT_EQ(file.read().size(), 2U);
}

TEST_F(ChoiceFiles, RefusesAnotherFileAndLeavesItAsItIs) {
  for (const std::string other : {"case,device\n", "device\tlibrary\n"}) {
    std::ofstream(path) << other;
    EXPECT_THROW(file.read(), UsageError);
    EXPECT_THROW(file.make(), UsageError);
    EXPECT_THROW(file.keep(choice("m=1", "aa"), std::nullopt), UsageError);
    EXPECT_EQ(text(), other);
  }
  fs::remove(path);
  file.make();
  std::ofstream(path, std::ios::app) << "a line\n";
  EXPECT_THROW(file.find(choice("m=1", "")), UsageError);
  EXPECT_THROW(ChoiceFile("/nonesuch/choices").keep(choice("m=1", "aa"), std::nullopt), UsageError);
}

TEST_F(ChoiceFiles, HoldsOneOfManyThatAreStoredAtOnce) {
  std::vector<std::string> held(8);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < held.size(); ++i) {
      threads.emplace_back([&, i] {
        held[i] = ChoiceFile(path).keep(choice("m=1", std::to_string(i)), std::nullopt).chosen;
      });
    }
  }
  EXPECT_EQ(held, std::vector<std::string>(held.size(), held.front()));
  EXPECT_EQ(file.read().size(), 1U);
}

TEST(ChoiceFile, StoresNothingWithoutAFile) {
  const ChoiceFile none("");
  const StoredChoice own{"GPU-1", "library", "m=1", "aa", "", "", {}};
  EXPECT_EQ(none.keep(own, std::nullopt), own);
  EXPECT_EQ(none.find(own), std::nullopt);
}

}  // namespace
}  // namespace assay
