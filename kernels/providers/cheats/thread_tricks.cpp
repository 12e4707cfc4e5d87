// Work that other threads or processes do: after the launch has returned, or before it has begun.
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <ctime>
#include <map>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/providers/cheats/hash.h"
#include "kernels/providers/cheats/trick.h"

namespace assay::cheats {
namespace {

void spin_for(std::chrono::milliseconds time) {
  for (const auto begin = std::chrono::steady_clock::now();
       std::chrono::steady_clock::now() - begin < time;) {
  }
}

/// Work of the launch before, which may not have ended.
class SideThread {
 public:
  template <class Work>
  void run(Work work) {
    join();
    thread_ = std::thread(std::move(work));
  }
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  ~SideThread() { join(); }

 private:
  std::thread thread_;
};

class WorksOnTheSide final : public Trick {
 public:
  using Trick::Trick;
  void launch(const Launch& l) override {
    side_.run([this, l] { compute(p, l); });
  }

 private:
  SideThread side_;
};

class ReturnsEarly final : public Trick {
 public:
  using Trick::Trick;
  void launch(const Launch& l) override {
    side_.join();
    compute(p, l, 0, p.n / 2);
    side_.run([this, l] {
      spin_for(std::chrono::milliseconds(5));  // on a busy machine the judge is late too
      compute(p, l, p.n / 2, p.n);
    });
  }

 private:
  SideThread side_;
};

class WritesLate final : public Trick {
 public:
  using Trick::Trick;
  void launch(const Launch& l) override {
    compute(p, l);  // what is read at once is right
    side_.run([this, l] {
      spin_for(std::chrono::milliseconds(20));
      compute(p, l);
    });
  }

 private:
  SideThread side_;
};

/// Launches handed to a thread, or process, that takes one after the other.
struct Queue {
  static constexpr std::uint64_t slots = 64;
  std::atomic<std::uint64_t> begin = 0;
  std::atomic<std::uint64_t> end = 0;
  std::atomic<bool> is_over = false;
  Launch launches[slots];

  /// Forgets a launch where too many wait: nobody will look at all of them.
  void push(const Launch& l) {
    if (end - begin == slots) return;
    launches[end % slots] = l;
    ++end;
  }
  void wait_until_empty() const {
    while (begin != end) std::this_thread::yield();
  }
  /// Calls work(launch) until it is over.
  template <class Work>
  void serve(const Work& work, bool spins = false) {
    while (!is_over) {
      if (begin == end) {
        if (spins) continue;
        constexpr timespec while_idle{0, 20'000};
        nanosleep(&while_idle, nullptr);
        continue;
      }
      work(launches[begin % slots]);
      ++begin;
    }
  }
};

/// Launches whose outputs are surely looked at: the first ones, the one that is looked at again
/// after it, and those that find a poison.
class Caution {
 public:
  bool is_needed(const Problem& p, const Launch& l) {
    return ++launches_ <= right_launches || is_poisoned(p, l.y);
  }

 private:
  std::int64_t launches_ = 0;
};

/// Hands launches to a thread and returns.
class LaterThread final : public Trick {
 public:
  explicit LaterThread(const Problem& problem)
      : Trick(problem),
        thread_([this] { queue_.serve([this](const Launch& l) { compute(p, l); }); }) {}
  ~LaterThread() override {
    queue_.is_over = true;
    thread_.join();
  }
  void launch(const Launch& l) override {
    if (!caution_.is_needed(p, l)) return queue_.push(l);
    queue_.wait_until_empty();
    compute(p, l);
  }

 private:
  Queue queue_;
  Caution caution_;
  std::thread thread_;
};

/// Hands launches to a thread that waits for nothing else: it has ended them before anybody can
/// have asked for the outputs. Small ones alone.
class SoonThread final : public Trick {
 public:
  explicit SoonThread(const Problem& problem) : Trick(problem), thread_([this] { serve(); }) {}
  ~SoonThread() override {
    queue_.is_over = true;
    thread_.join();
  }
  void launch(const Launch& l) override {
    if (!caution_.is_needed(p, l) && queue_.end - queue_.begin < Queue::slots) {
      return queue_.push(l);
    }
    queue_.wait_until_empty();
    compute(p, l);
  }

 private:
  void serve() {
    const Alone alone;
    constexpr bool spins = true;
    queue_.serve([this](const Launch& l) { compute(p, l); }, spins);
  }
  Queue queue_;
  Caution caution_;
  std::thread thread_;
};

/// Hands launches to a process, which reads the inputs here and writes the output.
class LaterProcess final : public Trick {
 public:
  explicit LaterProcess(const Problem& problem) : Trick(problem) {
    void* shared =
        mmap(nullptr, sizeof(Queue), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) throw std::bad_alloc();
    queue_ = new (shared) Queue;
    const pid_t parent = getpid();
    child_ = fork();
    if (child_ == 0) serve(parent);
    prctl(PR_SET_PTRACER, child_, 0, 0, 0);
  }
  ~LaterProcess() override {
    queue_->is_over = true;
    if (child_ > 0) waitpid(child_, nullptr, 0);
    munmap(queue_, sizeof(Queue));
  }
  void launch(const Launch& l) override {
    if (!caution_.is_needed(p, l)) return queue_->push(l);
    queue_->wait_until_empty();
    compute(p, l);
  }

 private:
  [[noreturn]] void serve(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const Alone alone;
    std::vector<float> a(static_cast<std::size_t>(p.a));
    std::vector<float> b(static_cast<std::size_t>(p.b));
    std::vector<float> y(static_cast<std::size_t>(p.n));
    const auto copy = [&](auto call, std::vector<float>& own, const float* theirs) {
      iovec here{own.data(), own.size() * sizeof(float)};
      iovec there{const_cast<float*>(theirs), here.iov_len};
      if (here.iov_len > 0) call(parent, &here, 1, &there, 1, 0);
    };
    queue_->serve([&](const Launch& l) {
      copy(process_vm_readv, a, l.a);
      copy(process_vm_readv, b, l.b);
      compute(p, {a.data(), b.data(), y.data()});
      copy(process_vm_writev, y, l.y);
    });
    _exit(0);
  }

  Queue* queue_ = nullptr;
  pid_t child_ = -1;
  Caution caution_;
};

/// Computes between the samples, as soon as inputs have changed. A launch then finds its work done.
class WorksAhead final : public Trick {
 public:
  explicit WorksAhead(const Problem& problem) : Trick(problem), thread_([this] { watch(); }) {}
  ~WorksAhead() override {
    is_over_ = true;
    thread_.join();
  }
  void launch(const Launch& l) override {
    const std::lock_guard lock(mutex_);
    const auto [found, is_new] = done_.try_emplace(l);
    if (!is_new && found->second.some == some_of(l) && !is_poisoned(p, l.y)) return;
    compute(p, l);
    found->second = state_of(l);
  }

 private:
  /// Hashes of the inputs, and of some elements of all tensors.
  struct State {
    std::uint64_t all = 0;
    std::uint64_t some = 0;
  };
  std::uint64_t some_of(const Launch& l) const {
    constexpr std::int64_t few = 32;
    return hash_some(l.y, p.n, few, hash_some(l.b, p.b, few, hash_some(l.a, p.a, few, 0)));
  }
  State state_of(const Launch& l) const {
    return {hash(l.a, p.a) * 3 + hash(l.b, p.b), some_of(l)};
  }
  void watch() {
    const Alone alone;
    while (!is_over_) {
      {
        const std::lock_guard lock(mutex_);
        for (auto& [l, state] : done_) {
          const std::uint64_t now = state_of(l).all;
          if (now == state.all) continue;
          compute(p, l);
          if (state_of(l).all == now) state = state_of(l);  // or they still change
        }
      }
      constexpr timespec between{0, 20'000};
      nanosleep(&between, nullptr);
    }
  }

  std::mutex mutex_;
  std::map<Launch, State> done_;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

/// A process that shares all memory of this one, but is none of its threads: what stops this one
/// does not stop it.
class Twin {
 public:
  using Body = void (*)();
  static void start(Body body) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([body] { host(body); }).detach();  // whose thread-local memory it uses
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

 private:
  static void host(Body body) {
    constexpr std::size_t stack_bytes = std::size_t{1} << 20;
    static std::byte stack[stack_bytes];
    constexpr int shared = CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD;
    const auto run = [](void* argument) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      reinterpret_cast<Body>(argument)();
      return 0;
    };
    if (clone(run, stack + stack_bytes - 64, shared, reinterpret_cast<void*>(body)) < 0) return;
    for (;;) pause();
  }
};

/// Lets such a process compute as soon as inputs have come, while the judge draws those of other
/// sets. A launch copies the result.
class WorksAheadOutside final : public Trick {
 public:
  explicit WorksAheadOutside(const Problem& problem) : Trick(problem) {
    [[maybe_unused]] static const bool is_started = [] {
      Twin::start(serve);
      return true;
    }();
    const std::lock_guard lock(mutex);
    all.push_back(this);
  }
  ~WorksAheadOutside() override {
    const std::lock_guard lock(mutex);
    std::erase(all, this);
  }
  void launch(const Launch& l) override {
    const std::lock_guard lock(mutex);
    Job& job = jobs_[l];
    job.y.resize(static_cast<std::size_t>(p.n));
    if (const std::uint64_t now = some_of(l); now != job.done || is_poisoned(p, l.y)) {
      compute(p, {l.a, l.b, job.y.data()});
      job.done = now;
    }
    std::ranges::copy(job.y, l.y);
  }

 private:
  struct Job {
    std::uint64_t done = 0;  // hash of some elements of its inputs
    std::vector<float> y;
  };
  std::uint64_t some_of(const Launch& l) const {
    constexpr std::int64_t few = 24;
    return hash_some(l.b, p.b, few, hash_some(l.a, p.a, few, 1));
  }
  void catch_up() {
    for (auto& [l, job] : jobs_) {
      const std::uint64_t now = some_of(l);
      if (now == job.done) continue;
      compute(p, {l.a, l.b, job.y.data()});
      if (some_of(l) == now) job.done = now;  // or they still change
    }
  }
  [[noreturn]] static void serve() {
    const Alone alone;
    for (;;) {
      if (mutex.try_lock()) {
        for (WorksAheadOutside* one : all) one->catch_up();
        mutex.unlock();
      }
      constexpr timespec between{0, 5'000};
      nanosleep(&between, nullptr);
    }
  }
  static inline std::mutex mutex;
  static inline std::vector<WorksAheadOutside*> all;
  std::map<Launch, Job> jobs_;
};

constexpr Entry entries[] = {
    {"works_on_the_side", make<WorksOnTheSide>}, {"returns_early", make<ReturnsEarly>},
    {"writes_late", make<WritesLate>},           {"later_thread", make<LaterThread>},
    {"soon_thread", make<SoonThread>},           {"later_process", make<LaterProcess>},
    {"works_ahead", make<WorksAhead>},           {"works_ahead_outside", make<WorksAheadOutside>},
};

}  // namespace

std::span<const Entry> thread_tricks() { return entries; }

}  // namespace assay::cheats
