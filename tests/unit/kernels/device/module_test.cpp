// The module loader, on modules that are built beside this test.
#include "kernels/device/module.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "kernels/device/backends.h"
#include "tests/unit/scoped_variable.h"

namespace assay {
namespace {

const std::filesystem::path folder = ASSAY_TEST_MODULE_DIR;

std::string refusal(const std::filesystem::path& file) {
  try {
    load_module(file);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "it was loaded";
}

TEST(Modules, OneOfThisBuildIsLoadedAndItsBackendIsFound) {
  Backends backends;
  backends.load_modules(folder / "good");
  EXPECT_TRUE(backends.problems().empty());
  Backend* backend = backends.find("refusing");
  ASSERT_NE(backend, nullptr);
  EXPECT_EQ(backend->describe().at(0).device, "refusing:0");
  EXPECT_EQ(backends.find("cuda"), nullptr);
}

TEST(Modules, OneOfAnotherBuildIsReportedAndNotLoaded) {
  Backends backends;
  backends.load_modules(folder / "stale");
  EXPECT_EQ(backends.find("refusing"), nullptr);
  ASSERT_EQ(backends.problems().size(), 1U);
  EXPECT_NE(backends.problems()[0].text.find("built as some other build"), std::string::npos)
      << backends.problems()[0].text;
  EXPECT_EQ(backends.problems()[0].backend, "stale");
}

TEST(Modules, WhatIsNoModuleIsRefusedByName) {
  EXPECT_NE(refusal(folder / "none" / "assay_none.so").find("assay_none.so"), std::string::npos);
  EXPECT_NE(refusal(folder / "empty" / "assay_empty.so").find("no entry point"), std::string::npos);
}

TEST(Modules, AMissingFolderIsNoProblem) {
  Backends backends;
  backends.load_modules(folder / "nowhere");
  EXPECT_TRUE(backends.problems().empty());
}

TEST(Modules, FoldersOfTheEnvironmentComeAfterTheInstallation) {
  const testing_support::ScopedVariable named("ASSAY_BACKEND_PATH", "/first::/second");
  const auto folders = module_folders();
  ASSERT_EQ(folders.size(), 3U);
  EXPECT_EQ(folders[0].filename(), "assay");
  EXPECT_EQ(folders[1], "/first");
  EXPECT_EQ(folders[2], "/second");
}

}  // namespace
}  // namespace assay
