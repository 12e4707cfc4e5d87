#include "emulator/runtime/reports.h"

#include <gtest/gtest.h>

namespace emulator {
namespace {

TEST(Reports, FitKernelsByAnyOfTheirNames) {
  const std::string demangled = "void spaces::scan<int, 4>(int*, int)", mangled = "_ZN6spaces4scan";
  for (const char* pattern : {"_ZN6spaces4scan", "*scan<int, 4>*", "void spaces::scan", "*::sc?n"})
    EXPECT_TRUE(fits_kernel(pattern, demangled, mangled)) << pattern;
  for (const char* pattern : {"scan", "*scan<float*", "spaces"})
    EXPECT_FALSE(fits_kernel(pattern, demangled, mangled)) << pattern;
}

}  // namespace
}  // namespace emulator
