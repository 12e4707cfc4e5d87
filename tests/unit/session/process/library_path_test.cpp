#include "session/process/library_path.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "kernels/core/status.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

/// Folders with files that are named like libraries.
class LibraryPath : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* file : {"new/libdnnl.so.2", "new/libc.so.6", "newer/libdnnl.so.2",
                             "newer/libgomp.so.1", "newer/libother.so.1"}) {
      fs::create_directories((root_ / file).parent_path());
      std::ofstream(root_ / file) << "x";
    }
  }
  void TearDown() override { fs::remove_all(root_); }

  const fs::path root_ =
      fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::vector<std::string> loaded_{"/usr/lib/libdnnl.so.2", "/usr/lib/libc.so.6",
                                         "/usr/lib/libgomp.so.1"};
};

TEST_F(LibraryPath, ReplacesWhatIsLoadedByTheFirstOfItsName) {
  const std::string folders =
      (root_ / "none").string() + ":" + (root_ / "new").string() + ":" + (root_ / "newer").string();
  EXPECT_EQ(replacements(folders, loaded_),
            (std::vector<std::string>{(root_ / "new/libdnnl.so.2").string(),
                                      (root_ / "newer/libgomp.so.1").string()}));
}

TEST_F(LibraryPath, LeavesALibraryThatIsTheSameFile) {
  const std::vector<std::string> here{(root_ / "newer/libgomp.so.1").string()};
  EXPECT_TRUE(replacements((root_ / "newer").string(), here).empty());
}

TEST_F(LibraryPath, PreloadsWhatThisProgramHas) {
  const fs::path math = root_ / "math/libm.so.6";
  fs::create_directories(math.parent_path());
  std::ofstream(math) << "x";
  const Variables variables =
      with_library_path({{"A", "b"}, {"LD_LIBRARY_PATH", math.parent_path().string()}});
  ASSERT_EQ(variables.size(), 3U);
  EXPECT_EQ(variables[2].first, "LD_PRELOAD");
  EXPECT_EQ(variables[2].second.substr(0, math.string().size()), math.string());
  EXPECT_EQ(with_library_path({{"A", "b"}}).size(), 1U);
  EXPECT_EQ(with_library_path({{"LD_LIBRARY_PATH", "/nowhere"}}).size(), 1U);
}

TEST_F(LibraryPath, RefusesAPathThatCannotBePreloaded) {
  fs::create_directories(root_ / "a b");
  std::ofstream(root_ / "a b/libm.so.6") << "x";
  EXPECT_THROW(with_library_path({{"LD_LIBRARY_PATH", (root_ / "a b").string()}}), UsageError);
}

}  // namespace
}  // namespace assay
