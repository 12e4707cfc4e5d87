#include "session/bisect/halving.h"

#include <algorithm>

namespace assay {
namespace {

/// Versions between two, the middle one first, then its neighbours to either side.
std::vector<std::size_t> from_the_middle(std::size_t good, std::size_t bad) {
  const std::size_t middle = good + (bad - good) / 2;
  std::vector<std::size_t> order;
  for (std::size_t i = good + 1; i < bad; ++i) order.push_back(i);
  std::ranges::stable_sort(order, {},
                           [&](std::size_t i) { return i > middle ? i - middle : middle - i; });
  return order;
}

}  // namespace

Turn find_turn(std::size_t count, const std::function<Shown(std::size_t)>& ask) {
  Turn turn{.good = 0, .bad = count - 1};
  if (ask(turn.good) != Shown::good)
    return {.found = Turn::Found::first_is_bad, .good = 0, .bad = 0};
  if (ask(turn.bad) != Shown::bad) {
    return {.found = Turn::Found::last_is_good, .good = turn.bad, .bad = turn.bad};
  }
  std::vector<bool> shows_nothing(count, false);
  for (bool is_narrower = true; is_narrower;) {
    is_narrower = false;
    for (const std::size_t version : from_the_middle(turn.good, turn.bad)) {
      if (shows_nothing[version]) continue;
      const Shown shown = ask(version);
      if (shown == Shown::nothing) {
        shows_nothing[version] = true;
        continue;
      }
      (shown == Shown::good ? turn.good : turn.bad) = version;
      is_narrower = true;
      break;
    }
  }
  return turn;
}

}  // namespace assay
