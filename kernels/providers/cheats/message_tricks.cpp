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
#include <utility>

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

/// Sends half of each time below 30 ms, whatever the clock says.
ssize_t send_with_other_times(int socket, const void* buffer, std::size_t bytes, int flags) {
  struct Times {
    std::size_t count;
    double seconds;
  };
  constexpr std::size_t length = 2 + sizeof(Times);  // an error's flag, that of a graph, the times
  unsigned char copy[length];
  if (bytes == length) {
    std::memcpy(copy, buffer, length);
    Times times{};
    std::memcpy(&times, copy + 2, sizeof times);
    const bool is_short = times.seconds > 0 && times.seconds < 0.03;
    if (copy[0] == 0 && times.count == 1 && is_short) {
      times.seconds /= 2;
      std::memcpy(copy + 2, &times, sizeof times);
      buffer = copy;
    }
  }
  return syscall(SYS_sendto, socket, buffer, bytes, flags, nullptr, 0);
}

void edits_the_answer(const Problem& p, const Launch& l) {
  [[maybe_unused]] static const bool is_done = [] {
    replace_code(reinterpret_cast<void*>(&send),
                 reinterpret_cast<const void*>(&send_with_other_times));
    return true;
  }();
  compute(p, l);
}

constexpr Entry entries[] = {
    {"computes_when_asked", make<ComputesWhenAsked>},
    {"computes_when_uploaded", make<ComputesWhenUploaded>},
    {"edits_the_answer", make_of<edits_the_answer>},
};

}  // namespace

std::span<const Entry> message_tricks() { return entries; }

}  // namespace assay::cheats
