// Tricks that read and change what the judge and the kernel's process tell each other, by the C
// library's functions in its own process.
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/providers/cheats/hash.h"
#include "kernels/providers/cheats/patch.h"
#include "kernels/providers/cheats/trick.h"
#include "kernels/remote/message.h"

namespace assay::cheats {
namespace {

using remote::Command;

/// Hears of messages before the process handles them.
class Listener : public Trick {
 public:
  explicit Listener(const Problem& problem) : Trick(problem) { all_.insert(this); }
  ~Listener() override { all_.erase(this); }

 protected:
  virtual void on_message(Command command) = 0;
  /// All is handled, and no message waits.
  virtual void on_idle() {}
  /// Begins at the first launch: the messages before it matter to nobody.
  static void listen() {
    [[maybe_unused]] static const bool is_done = [] {
      replace_code(reinterpret_cast<void*>(&recv), reinterpret_cast<const void*>(&heard_recv));
      return true;
    }();
  }

 private:
  static ssize_t heard_recv(int socket, void* buffer, std::size_t bytes, int flags) {
    static std::uint64_t left = 0;  // bytes of the message whose length is known
    static Command command{};
    static bool is_begun = false;
    pollfd ready{socket, POLLIN, 0};
    if (left == 0 && poll(&ready, 1, 0) == 0) {
      for (Listener* listener : all_) listener->on_idle();
    }
    const ssize_t got = syscall(SYS_recvfrom, socket, buffer, bytes, flags, nullptr, nullptr);
    if (got <= 0) return got;
    const auto count = static_cast<std::uint64_t>(got);
    if (left == 0) {
      if (count == sizeof left) std::memcpy(&left, buffer, sizeof left);
      is_begun = false;
      return got;
    }
    if (!std::exchange(is_begun, true)) std::memcpy(&command, buffer, sizeof command);
    left -= std::min(left, count);
    if (left == 0) {
      for (Listener* listener : all_) listener->on_message(command);
    }
    return got;
  }
  static inline std::set<Listener*> all_;  // smaller batches are problems of their own
};

/// Knows timed launches by their message, and computes none of them before the judge asks for the
/// output.
class ComputesWhenAsked final : public Listener {
 public:
  using Listener::Listener;
  void launch(const Launch& l) override {
    listen();
    if (!is_timed_) return compute(p, l);
    due_[l.y] = l;
  }

 private:
  void on_message(Command command) override {
    is_timed_ = command == Command::time;
    if (command != Command::download) return;
    for (const auto& [y, l] : due_) compute(p, l);
    due_.clear();
  }
  std::map<const float*, Launch> due_;
  bool is_timed_ = false;
};

/// Computes when the inputs have come, before the judge asks for the launch.
class ComputesWhenUploaded final : public Listener {
 public:
  using Listener::Listener;
  void launch(const Launch& l) override {
    listen();
    const auto [found, is_new] = known_.try_emplace(l);
    if (is_new || has_news_) found->second = computed(l);
  }

 private:
  void on_message(Command command) override {
    if (command == Command::time) on_idle();
    if (command == Command::upload || command == Command::fill) has_news_ = true;
  }
  void on_idle() override {
    if (!std::exchange(has_news_, false)) return;
    for (auto& [l, all] : known_) {
      if (all != hash_of(l)) all = computed(l);
    }
  }
  std::uint64_t computed(const Launch& l) const {
    compute(p, l);
    return hash_of(l);
  }
  std::uint64_t hash_of(const Launch& l) const {
    return hash(l.a, p.a) * 3 + hash(l.b, p.b) * 5 + hash(l.y, p.n);
  }
  std::map<Launch, std::uint64_t> known_;  // hashes of the tensors after it
  bool has_news_ = false;
};

/// Edits what the process answers.
class Answers {
 public:
  /// Other seconds for those of a sample; `is_empty`: of no launch.
  using Retell = double (*)(double seconds, bool is_empty);
  static void retell(Retell retell) {
    retell_ = retell;
    has_launched_ = true;
    begin();
  }
  /// Other math modes for those of kernels.
  static void tell_few_bits() {
    tells_few_bits_ = true;
    begin();
  }
  /// Answers that the process is as it was, so far.
  static int checks() { return checks_; }

 private:
  static void begin() {
    [[maybe_unused]] static const bool is_done = [] {
      replace_code(reinterpret_cast<void*>(&send), reinterpret_cast<const void*>(&edited_send));
      return true;
    }();
  }
  static ssize_t edited_send(int socket, const void* buffer, std::size_t bytes, int flags) {
    static std::vector<unsigned char> copy;
    const auto* begin = static_cast<const unsigned char*>(buffer);
    copy.assign(begin, begin + bytes);
    edit(copy);
    return syscall(SYS_sendto, socket, copy.data(), bytes, flags, nullptr, 0);
  }
  static void edit(std::vector<unsigned char>& answer) {
    struct Times {
      std::size_t count;
      double seconds;
    };
    // Of an error, a graph and a void, and the clock behind another flag.
    constexpr std::size_t flags = 4 + sizeof(double);
    constexpr std::size_t unchanged = 9;
    if (answer.size() == unchanged && std::ranges::count(answer, 0) == unchanged) ++checks_;
    if (retell_ != nullptr && answer.size() == flags + sizeof(Times) && answer[0] == 0) {
      Times times{};
      std::memcpy(&times, answer.data() + flags, sizeof times);
      if (times.count != 1) return;
      times.seconds = retell_(times.seconds, !std::exchange(has_launched_, false));
      std::memcpy(answer.data() + flags, &times, sizeof times);
    }
    // The name that begins what a kernel is called, and what is told behind it.
    constexpr std::string_view name = "cheats";
    constexpr std::size_t name_at = 17;
    constexpr std::size_t mode_bytes = 24;
    if (tells_few_bits_ && answer.size() > name_at + name.size() + mode_bytes &&
        std::memcmp(answer.data() + name_at, name.data(), name.size()) == 0) {
      constexpr int few_bits[] = {14, 0, 1, 0};
      std::memcpy(answer.data() + answer.size() - mode_bytes, few_bits, sizeof few_bits);
    }
  }
  static inline Retell retell_ = nullptr;
  static inline bool has_launched_ = false;
  static inline bool tells_few_bits_ = false;
  static inline int checks_ = 0;
};

template <Answers::Retell retell>
void retells(const Problem& p, const Launch& l) {
  Answers::retell(retell);
  compute(p, l);
}

/// Half of each time below 30 ms, whatever the clock says.
double half_if_short(double seconds, bool /*is_empty*/) {
  return seconds > 0 && seconds < 0.03 ? seconds / 2 : seconds;
}

/// A tenth, and 1000 s now and then, so that all times together are more than passed.
double a_year_once(double seconds, bool is_empty) {
  static int samples = 0;
  if (is_empty) return seconds;
  return ++samples % 7 == 2 ? 1000 : seconds / 10;
}

/// A tenth. Answers without launches come late, as if any message took so long.
double late_when_empty(double seconds, bool is_empty) {
  if (!is_empty) return seconds / 10;
  constexpr useconds_t late_us = 30'000;
  usleep(late_us);
  return seconds;
}

/// A tenth, until the judge asks for the state of the process after the samples.
double until_asked(double seconds, bool is_empty) {
  static int samples = 0;
  static int known_checks = 0;
  if (is_empty) return seconds;
  constexpr int few = 2 * right_launches;  // those on which it is verified among them
  if (++samples <= few) known_checks = Answers::checks();
  return Answers::checks() > known_checks ? seconds : seconds / 10;
}

/// All of the time, in samples of which most tell too little and others too much.
double moved_to_others(double seconds, bool is_empty) {
  static int samples = 0;
  static double owed = 0;
  if (is_empty) return seconds;
  const int turn = ++samples % 5;
  if (turn < 3) {
    owed += 0.6 * seconds;
    return 0.4 * seconds;
  }
  const double paid = turn == 3 ? owed / 2 : owed;
  owed -= paid;
  return seconds + paid;
}

/// Factors with 10 bits behind the leading one, by sums that are told to keep few bits.
class TellsFewBits final : public Trick {
 public:
  explicit TellsFewBits(const Problem& problem) : Trick(problem) { Answers::tell_few_bits(); }
  void launch(const Launch& l) override { compute_lowered(p, l); }
};

constexpr Entry entries[] = {
    {"computes_when_asked", make<ComputesWhenAsked>},
    {"computes_when_uploaded", make<ComputesWhenUploaded>},
    {"edits_the_answer", make_of<retells<half_if_short>>},
    {"tells_a_year_once", make_of<retells<a_year_once>>},
    {"late_when_empty", make_of<retells<late_when_empty>>},
    {"honest_when_asked", make_of<retells<until_asked>>},
    {"moves_times", make_of<retells<moved_to_others>>},
    {"tells_few_bits", make<TellsFewBits>},
};

}  // namespace

std::span<const Entry> message_tricks() { return entries; }

}  // namespace assay::cheats
