#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace assay {

/// Verdict on a version.
enum class Shown {
  good,
  bad,
  nothing,  // it cannot be told: a library that does not load
};

/// Where versions turned from good to bad.
struct Turn {
  enum class Found {
    turn,  // `bad` is the first bad one after `good`, but for those between that show nothing
    first_is_bad,  // or shows nothing: the turn lies before
    last_is_good,  // or shows nothing: the turn lies behind, if there is one
  };
  Found found = Found::turn;
  std::size_t good = 0;
  std::size_t bad = 0;
};

/// Finds the turn between version 0 and version count - 1 by halving, each version asked at most
/// once. `count` is at least 2. Of several turns it finds one.
Turn find_turn(std::size_t count, const std::function<Shown(std::size_t)>& ask);

}  // namespace assay
