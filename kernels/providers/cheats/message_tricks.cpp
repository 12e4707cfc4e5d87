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

#include "kernels/providers/cheats/patch.h"
#include "kernels/providers/cheats/trick.h"
#include "kernels/remote/message.h"

namespace assay::cheats {
namespace {

using remote::Command;

/// A request of the judge, as far as a trick reads it.
struct Message {
  Command command{};
  std::uint64_t address = 0;  // of uploads, downloads and fills
  std::uint64_t bytes = 0;
};

/// Hears of messages before the process handles them.
class Listener : public Trick {
 public:
  explicit Listener(const Problem& problem) : Trick(problem) { all_.insert(this); }
  ~Listener() override { all_.erase(this); }

 protected:
  virtual void on_message(const Message& message) = 0;
  /// All is handled, and no message waits.
  virtual void on_idle() {}
  /// Begins at the first launch: the messages before it matter to nobody.
  static void listen() {
    [[maybe_unused]] static const bool is_done = [] {
      replace_code(reinterpret_cast<void*>(&recv), reinterpret_cast<const void*>(&heard_recv));
      return true;
    }();
  }
  static bool concerns(const Message& message, const float* x, std::int64_t n) {
    const auto begin = reinterpret_cast<std::uint64_t>(x);
    const std::uint64_t end = begin + static_cast<std::uint64_t>(n) * sizeof *x;
    return message.address < end && begin < message.address + message.bytes;
  }

 private:
  /// Reads a command, an address, and a size: of a fill behind its byte, of an upload the rest.
  static Message message_of(const unsigned char* head, std::uint64_t length) {
    Message message{.command = static_cast<Command>(head[0])};
    std::memcpy(&message.address, head + 1, sizeof message.address);
    const bool is_fill = message.command == Command::fill;
    std::memcpy(&message.bytes, head + (is_fill ? 10 : 9), sizeof message.bytes);
    if (message.command == Command::upload) message.bytes = length - 9;
    return message;
  }
  static ssize_t heard_recv(int socket, void* buffer, std::size_t bytes, int flags) {
    static std::uint64_t left = 0;  // bytes of the message whose length is known
    static std::uint64_t seen = 0;
    static unsigned char head[18];
    pollfd ready{socket, POLLIN, 0};
    if (left == 0 && poll(&ready, 1, 0) == 0) {
      for (Listener* listener : all_) listener->on_idle();
    }
    const ssize_t got = syscall(SYS_recvfrom, socket, buffer, bytes, flags, nullptr, nullptr);
    if (got <= 0) return got;
    const auto count = static_cast<std::uint64_t>(got);
    if (left == 0) {
      if (count == sizeof left) std::memcpy(&left, buffer, sizeof left);
      seen = 0;
      return got;
    }
    if (seen < sizeof head) {
      std::memcpy(head + seen, buffer, std::min(sizeof head - seen, count));
    }
    seen += count;
    left -= std::min(left, count);
    if (left == 0) {
      for (Listener* listener : all_) listener->on_message(message_of(head, seen));
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
  void on_message(const Message& message) override {
    is_timed_ = message.command == Command::time;
    const bool reads = message.command == Command::download;
    const bool writes = message.command == Command::upload || message.command == Command::fill;
    if (!reads && !writes) return;
    for (auto due = due_.begin(); due != due_.end();) {
      const Launch& l = due->second;
      const bool is_meant =
          concerns(message, l.y, p.n) ||
          (writes && (concerns(message, l.a, p.a) || concerns(message, l.b, p.b)));
      // Other inputs, without a look at the output: nobody will ask.
      if (is_meant && reads) compute(p, l);
      due = is_meant ? due_.erase(due) : std::next(due);
    }
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
    const bool is_done = known_.contains(l) && !due_.contains(l);
    if (is_done) return;
    compute(p, l);
    known_.insert(l);
    due_.erase(l);
  }

 private:
  void on_message(const Message& message) override {
    if (message.command == Command::time) on_idle();
    if (message.command != Command::upload && message.command != Command::fill) return;
    for (const Launch& l : known_) {
      if (concerns(message, l.a, p.a) || concerns(message, l.b, p.b) ||
          concerns(message, l.y, p.n)) {
        due_.insert(l);
      }
    }
  }
  void on_idle() override {
    for (const Launch& l : due_) compute(p, l);
    due_.clear();
  }
  std::set<Launch> known_;
  std::set<Launch> due_;
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
