#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "kernels/providers/cheats/honest.h"
#include "kernels/providers/cheats/problem.h"

namespace assay::cheats {

/// A kernel that cheats, made for one problem. What it keeps between launches ends with it.
class Trick {
 public:
  explicit Trick(const Problem& problem) : p(problem) {}
  virtual ~Trick() = default;
  Trick(const Trick&) = delete;
  Trick& operator=(const Trick&) = delete;

  /// Throws std::bad_alloc where it has no memory.
  virtual void launch(const Launch& l) = 0;

  bool has_second_input() const { return p.inputs > 1; }

 protected:
  const Problem p;
};

/// A row of a family's table.
struct Entry {
  std::string_view name;
  std::unique_ptr<Trick> (*make)(const Problem& problem);
};

template <class T>
std::unique_ptr<Trick> make(const Problem& problem) {
  return std::make_unique<T>(problem);
}

/// A trick that keeps nothing: a function of the problem and the launch.
template <auto function>
std::unique_ptr<Trick> make_of(const Problem& problem) {
  class Stateless final : public Trick {
   public:
    using Trick::Trick;
    void launch(const Launch& l) override { function(p, l); }
  };
  return std::make_unique<Stateless>(problem);
}

/// Launches of a problem that are surely judged: those on which a kernel is verified.
constexpr std::int64_t right_launches = 8;

/// True if all of some bytes of the output are equal: it holds a poison, and no result.
bool is_poisoned(const Problem& p, const float* y);

/// True if 64 elements of the first input are whole numbers: data whose sums are exact.
bool are_whole(const Problem& p, const Launch& l);

/// Computes with factors of 10 bits behind the leading one.
void compute_lowered(const Problem& p, const Launch& l);

// Families, a file each.
std::span<const Entry> plain_tricks();
std::span<const Entry> memory_tricks();
std::span<const Entry> change_tricks();
std::span<const Entry> data_tricks();
std::span<const Entry> thread_tricks();
std::span<const Entry> fault_tricks();
std::span<const Entry> message_tricks();
std::span<const Entry> clock_tricks();
std::span<const Entry> process_tricks();

}  // namespace assay::cheats
