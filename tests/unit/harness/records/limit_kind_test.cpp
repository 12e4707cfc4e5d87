#include "harness/records/limit_kind.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace assay {
namespace {

// Files of earlier versions hold these texts.
TEST(LimitKind, HasTheNameAndTheUnitThatFilesHold) {
  const std::vector<std::pair<LimitKind, std::string>> texts{
      {{Resource::memory_read}, "memory_read B/s"},
      {{Resource::memory_write}, "memory_write B/s"},
      {{Resource::memory_copy}, "memory_copy B/s"},
      {{Resource::memory_triad}, "memory_triad B/s"},
      {{Resource::matrix, ProductFormat::tf32}, "matrix_tf32 FLOP/s"},
      {{Resource::link_to_device}, "link_to_device B/s"},
      {{Resource::link_from_device}, "link_from_device B/s"},
      {{Resource::launch}, "launch s"},
  };
  for (const auto& [kind, text] : texts) {
    EXPECT_EQ(name(kind).append(" ").append(unit_of(kind)), text);
  }
  EXPECT_EQ(all_limit_kinds().size(), texts.size() - 1 + all_formats().size());
}

// Goes red where two kinds have one name.
TEST(LimitKind, IsReadBackFromItsName) {
  for (const LimitKind& kind : all_limit_kinds()) {
    EXPECT_EQ(parse_limit_kind(name(kind)), kind) << name(kind);
  }
}

TEST(LimitKind, IsReadFromNoOtherText) {
  for (const char* text : {"", "memory_", "memory_copy ", "Launch", "matrix_", "matrix_float32"}) {
    EXPECT_EQ(parse_limit_kind(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace assay
