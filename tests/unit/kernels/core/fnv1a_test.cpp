#include "kernels/core/fnv1a.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

// Vectors of the authors (http://www.isthe.com/chongo/tech/comp/fnv): FNV-1a, 64 bits.
TEST(Fnv1a, IsThePublishedOne) {
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325U);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8U);
}

}  // namespace
}  // namespace assay
