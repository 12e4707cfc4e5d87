#include "harness/execute/engine_options.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(EngineOptions, OfOurKernelsShareReferencesAndAcceptDeclaredDeviations) {
  const EngineOptions options{.references = "folder"};
  EXPECT_FALSE(options.takes_fresh_inputs());
  EXPECT_EQ(options.shared_references(), "folder");
  EXPECT_EQ(options.accepted_deviations().size(), declared_deviations().size());
}

TEST(EngineOptions, OfForeignKernelsTakeFreshInputsAndShareNoReferences) {
  EngineOptions options{.references = "folder"};
  options.kernels = "mine.so";
  EXPECT_TRUE(options.takes_fresh_inputs());
  EXPECT_EQ(options.shared_references(), "");
}

TEST(EngineOptions, OfAStrictRunAcceptNoDeviation) {
  EngineOptions options;
  options.strict = true;
  EXPECT_TRUE(options.accepted_deviations().empty());
}

}  // namespace
}  // namespace assay
