// Extents that are written with the names of parameters.
#include "kernels/ops/extent.h"

#include <gtest/gtest.h>

#include "kernels/core/status.h"

namespace assay {
namespace {

std::int64_t value_of(std::string_view text) {
  Params params;
  params.set("rows", std::int64_t{12});
  params.set("cols", std::int64_t{64});
  params.set("act", std::string("relu"));
  return evaluate_extent(text, params);
}

TEST(Extents, AreNumbersNamesAndWhatIsMadeOfThem) {
  EXPECT_EQ(value_of("7"), 7);
  EXPECT_EQ(value_of("rows"), 12);
  EXPECT_EQ(value_of("2*cols + rows - 1"), 139);
  EXPECT_EQ(value_of("(rows+1)*cols"), 832);
  EXPECT_EQ(value_of("cols//32"), 2);
  EXPECT_EQ(value_of("cols // 4 * 2"), 32);
}

TEST(Extents, LeaveCasesOutThatDoNotFit) {
  EXPECT_THROW(value_of("rows//5"), NotApplicable);
  EXPECT_THROW(value_of("rows//0"), NotApplicable);
  EXPECT_THROW(value_of("rows-cols"), NotApplicable);
  EXPECT_THROW(value_of("rows*9223372036854775807"), NotApplicable);
}

TEST(Extents, RefuseOtherText) {
  for (const auto* text :
       {"", "depth", "act", "rows cols", "rows+", "(rows", "rows)", "2x", "rows/2"}) {
    try {
      value_of(text);
      FAIL() << text;
    } catch (const NotApplicable&) {
      FAIL() << text;
    } catch (const UsageError&) {
    }
  }
}

}  // namespace
}  // namespace assay
