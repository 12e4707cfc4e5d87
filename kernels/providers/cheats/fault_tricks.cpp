// Work that is put off until somebody looks, and inputs watched for changes: by the pages' faults.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <tuple>
#include <vector>

#include "kernels/providers/cheats/page_watch.h"
#include "kernels/providers/cheats/trick.h"

namespace assay::cheats {
namespace {

constexpr int all_accesses = PROT_READ | PROT_WRITE;

Pages pages_of(const float* x, std::int64_t n) {
  return Pages::within(x, n * static_cast<std::int64_t>(sizeof *x));
}
float* floats_at(std::uintptr_t address) {
  return reinterpret_cast<float*>(address);  // NOLINT(performance-no-int-to-ptr)
}

/// Computes the elements that lie on no whole page of the output.
void compute_ends(const Problem& p, const Launch& l, const Pages& pages) {
  compute(p, l, 0, floats_at(pages.begin) - l.y);
  compute(p, l, floats_at(pages.end) - l.y, p.n);
}
/// True if parts of the output can be computed alone.
bool has_parts(const Problem& p) { return p.is_elementwise() || p.is_product() || p.is("softmax"); }

/// Makes the output's pages inaccessible and returns. Computes when somebody reads or writes there.
class ComputesWhenRead final : public Trick {
 public:
  using Trick::Trick;
  void launch(const Launch& l) override {
    const Pages pages = pages_of(l.y, p.n);
    if (!has_parts(p) || pages.is_empty()) return compute(p, l);
    auto& output = outputs_[l.y];
    if (output == nullptr) output = std::make_unique<Output>(p, pages);
    output->put_off(l);
  }

 private:
  class Output {
   public:
    Output(const Problem& problem, const Pages& pages)
        : p_(problem), pages_(pages), watch_(pages, [this](std::uintptr_t) { catch_up(); }) {}
    void put_off(const Launch& l) {
      pages_.protect(all_accesses);
      compute_ends(p_, l, pages_);
      l_ = l;
      is_due_ = true;
      pages_.protect(PROT_NONE);
    }

   private:
    void catch_up() {
      pages_.protect(all_accesses);
      if (!is_due_) return;  // another thread was first
      is_due_ = false;
      const Alone alone;  // perhaps within a parallel copy
      std::vector<float> whole(static_cast<std::size_t>(p_.n));
      compute(p_, {l_.a, l_.b, whole.data()});
      std::copy(whole.begin() + (floats_at(pages_.begin) - l_.y),
                whole.begin() + (floats_at(pages_.end) - l_.y), floats_at(pages_.begin));
    }
    Problem p_;
    Pages pages_;
    Launch l_{};
    bool is_due_ = false;
    PageWatch watch_;
  };
  std::map<const float*, std::unique_ptr<Output>> outputs_;
};

/// Drops the output's pages and returns. A thread computes them when somebody touches one: also
/// another process that reads them, which waits meanwhile.
class ComputesWhenTouched final : public Trick {
 public:
  explicit ComputesWhenTouched(const Problem& problem) : Trick(problem) {
    file_ = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK));
    uffdio_api api{.api = UFFD_API, .features = 0};
    if (file_ < 0 || ioctl(file_, UFFDIO_API, &api) != 0) return;  // not allowed: honest
    thread_ = std::thread([this] { serve(); });
  }
  ~ComputesWhenTouched() override {
    is_over_ = true;
    if (thread_.joinable()) thread_.join();
    if (file_ >= 0) close(file_);
  }
  void launch(const Launch& l) override {
    const Pages pages = pages_of(l.y, p.n);
    if (!thread_.joinable() || !has_parts(p) || pages.is_empty()) return compute(p, l);
    Output& output = outputs_[pages.begin];
    if (output.values.empty()) {
      output.values.resize((pages.end - pages.begin) / Pages::size * page_floats);
      uffdio_register range{.range = range_of(pages), .mode = UFFDIO_REGISTER_MODE_MISSING};
      if (ioctl(file_, UFFDIO_REGISTER, &range) != 0) throw std::bad_alloc();
    }
    compute_ends(p, l, pages);
    const std::lock_guard lock(mutex_);
    output.l = l;
    output.pages = pages;
    output.is_computed = false;
    madvise(floats_at(pages.begin), pages.end - pages.begin, MADV_DONTNEED);
  }

 private:
  static constexpr std::size_t page_floats = Pages::size / sizeof(float);
  struct Output {
    Launch l{};
    Pages pages;
    std::vector<float> values;
    bool is_computed = false;
  };
  static uffdio_range range_of(const Pages& pages) {
    return {pages.begin, pages.end - pages.begin};
  }

  void serve() {
    const Alone alone;
    while (!is_over_) {
      pollfd ready{file_, POLLIN, 0};
      constexpr int wait_ms = 50;
      if (poll(&ready, 1, wait_ms) <= 0) continue;
      uffd_msg message{};
      if (read(file_, &message, sizeof message) != sizeof message) continue;
      if (message.event == UFFD_EVENT_PAGEFAULT) fill(message.arg.pagefault.address);
    }
  }
  void fill(std::uintptr_t address) {
    const std::lock_guard lock(mutex_);
    for (auto& [begin, output] : outputs_) {
      if (!output.pages.holds(address)) continue;
      if (!output.is_computed) {
        whole_.resize(static_cast<std::size_t>(p.n));
        compute(p, {output.l.a, output.l.b, whole_.data()});
        std::copy_n(whole_.data() + (floats_at(output.pages.begin) - output.l.y),
                    output.values.size(), output.values.data());
        output.is_computed = true;
      }
      const std::uintptr_t page = address / Pages::size * Pages::size;
      uffdio_copy copy{.dst = page,
                       .src = reinterpret_cast<std::uintptr_t>(output.values.data()) + page - begin,
                       .len = Pages::size};
      ioctl(file_, UFFDIO_COPY, &copy);
    }
  }

  int file_ = -1;
  std::atomic<bool> is_over_ = false;
  std::mutex mutex_;
  std::map<std::uintptr_t, Output> outputs_;
  std::vector<float> whole_;
  std::thread thread_;
};

/// Lets nobody write to the tensors of a set unseen, and recomputes where somebody has: blocks of
/// elements of which an input or the output changed. Reads none of the others.
class WatchesWrites final : public Trick {
 public:
  using Trick::Trick;
  void launch(const Launch& l) override {
    if (!p.is_elementwise() && (!p.is_reduction() || p.is("prod"))) return compute(p, l);
    auto& set = sets_[l];
    if (set == nullptr) set = std::make_unique<Set>(p, l);
    set->launch();
  }

 private:
  static constexpr std::int64_t block = 1024;  // elements of a page

  class Set {
   public:
    Set(const Problem& problem, const Launch& l)
        : p_(problem), l_(l), changed_(static_cast<std::size_t>(p_.a / block + 1), 1) {
      sums_.resize(changed_.size());
      watch(l.a, p_.a);
      if (p_.b > 0) watch(l.b, p_.b);
      if (p_.is_elementwise()) watch(l.y, p_.n);
    }
    void launch() {
      if (pages_.empty()) return compute(p_, l_);
      if (p_.is_elementwise()) pages_.back().protect(all_accesses);
      for (std::size_t i = 0; i < changed_.size(); ++i) {
        // Blocks at the ends lie on pages that cannot be watched.
        const bool is_end = i < 2 || i + 2 >= changed_.size();
        if (changed_[i] == 0 && !is_end) continue;
        changed_[i] = 0;
        recompute(static_cast<std::int64_t>(i) * block);
      }
      if (p_.is_reduction()) {
        double all = 0;
        for (const double sum : sums_) all += sum;
        l_.y[0] = reduced(p_, all);
      }
      for (const Pages& pages : pages_) pages.protect(PROT_READ);
    }

   private:
    void recompute(std::int64_t first) {
      const std::int64_t last = std::min(first + block, p_.a);
      if (p_.is_elementwise()) {
        compute(p_, l_, first, last);
      } else {
        sums_[static_cast<std::size_t>(first / block)] = reduce(p_, l_, first, last);
      }
    }
    void watch(const float* x, std::int64_t n) {
      const Pages pages = pages_of(x, n);
      if (pages.is_empty()) return;
      pages_.push_back(pages);
      watches_.push_back(std::make_unique<PageWatch>(pages, [this, x](std::uintptr_t address) {
        const std::uintptr_t page = address / Pages::size * Pages::size;
        const std::int64_t first = floats_at(page) - x;
        changed_[static_cast<std::size_t>(first / block)] = 1;
        changed_[static_cast<std::size_t>(first / block) + 1] = 1;
        Pages{page, page + Pages::size}.protect(all_accesses);
      }));
    }

    Problem p_;
    Launch l_;
    std::vector<char> changed_;  // by block
    std::vector<double> sums_;
    std::vector<Pages> pages_;
    std::vector<std::unique_ptr<PageWatch>> watches_;
  };
  std::map<Launch, std::unique_ptr<Set>> sets_;
};

constexpr Entry entries[] = {
    {"computes_when_read", make<ComputesWhenRead>},
    {"computes_when_touched", make<ComputesWhenTouched>},
    {"watches_writes", make<WatchesWrites>},
};

}  // namespace

std::span<const Entry> fault_tricks() { return entries; }

}  // namespace assay::cheats
