#include "session/bisect/halving.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace assay {
namespace {

/// Asks versions that show "g" good, "b" bad or "-" nothing, and counts.
struct Versions {
  std::string shown;
  std::string asked{};

  Turn turn() {
    return find_turn(shown.size(), [this](std::size_t i) {
      asked += std::to_string(i) + " ";
      return shown[i] == 'g' ? Shown::good : shown[i] == 'b' ? Shown::bad : Shown::nothing;
    });
  }
};

TEST(Halving, FindsEveryTurnAndAsksFewVersions) {
  for (std::size_t count = 2; count <= 40; ++count) {
    for (std::size_t first_bad = 1; first_bad < count; ++first_bad) {
      Versions versions{std::string(first_bad, 'g') + std::string(count - first_bad, 'b')};
      const Turn turn = versions.turn();
      EXPECT_EQ(turn.found, Turn::Found::turn);
      EXPECT_EQ(turn.bad, first_bad);
      EXPECT_EQ(turn.good, first_bad - 1);
      const auto asked = std::ranges::count(versions.asked, ' ');
      EXPECT_LE(asked, 2 + 6) << versions.shown;  // 2^6 > 40
    }
  }
}

TEST(Halving, GoesRoundVersionsThatShowNothing) {
  Versions around{"gg---bb"};
  const Turn turn = around.turn();
  EXPECT_EQ(turn.good, 1U);
  EXPECT_EQ(turn.bad, 5U);
  EXPECT_EQ(around.asked, "0 6 3 2 4 1 5 ");
  Versions only_ends{"g---b"};
  EXPECT_EQ(only_ends.turn().good, 0U);
  EXPECT_EQ(only_ends.turn().bad, 4U);
}

TEST(Halving, NeedsAGoodFirstAndABadLastVersion) {
  for (const char* shown : {"bb", "-b", "bgb"}) {
    EXPECT_EQ(Versions{shown}.turn().found, Turn::Found::first_is_bad) << shown;
  }
  for (const char* shown : {"gg", "g-", "gbg"}) {
    EXPECT_EQ(Versions{shown}.turn().found, Turn::Found::last_is_good) << shown;
  }
}

TEST(Halving, FindsOneOfSeveralTurns) {
  const Turn turn = Versions{"gbgbgb"}.turn();
  EXPECT_EQ(turn.bad, turn.good + 1);
}

}  // namespace
}  // namespace assay
