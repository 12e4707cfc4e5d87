#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emulator/machine/guarded_words.h"
#include "emulator/machine/product_reads.h"
#include "emulator/machine/random.h"
#include "emulator/machine/shared_matrix.h"

namespace emulator {

/// A product that the warps of a warpgroup have begun. Each gives the registers of a frame.
struct WarpgroupProduct {
  const Code* code = nullptr;
  std::array<Frame*, warpgroup_warps> frames{};  // null: not yet, or it has ended
  std::uint32_t begun = 0;                       // a bit for each warp
  std::uint64_t a_descriptor = 0, b_descriptor = 0;
  bool adds = false;

  bool is_first() const { return begun == 0; }
  bool is_complete() const { return begun == (1u << warpgroup_warps) - 1; }
};

/// The warpgroups of a block: which instructions they have executed together, and the products that
/// run beside them. A warp does not stop at a product that others have not begun, but waits for all
/// of it. A product is done when its last warp has begun it or when somebody waits for it, as the
/// seed decides; within a warpgroup in order.
class Warpgroups {
 public:
  Warpgroups(const LaunchContext& launch, const std::vector<WarpState*>& warps, MarkedBytes& shared,
             SharedRaces& races, GuardedWords& guards, Random& random);

  /// The warp executes an instruction that all warps of its warpgroup have to. Throws LaneFault if
  /// others have executed another one in its place.
  void step(WarpState& warp, const Code& code);
  void multiply(WarpState& warp, Frame& frame, const Code& code);
  void commit(WarpState& warp);
  /// Waits for all groups but the last `pending`. False: a warp has not come to a product yet.
  bool wait_groups(WarpState& warp, const Code& code, std::uint64_t pending);
  /// setmaxnreg: `increases` to this count.
  void set_max_registers(WarpState& warp, std::uint32_t count, bool increases);
  /// The frame's registers are gone.
  void end_frame(const WarpState& warp, const Frame& frame);

  /// Warps that go on since the last call.
  std::uint64_t take_woken() { return std::exchange(woken_, 0); }
  /// An instruction that a warp has not executed, though others of its warpgroup have.
  struct Missing {
    const WarpState* warp = nullptr;  // null: there is none
    const Code* code = nullptr;
    std::string text{};
  };
  Missing missing() const;

 private:
  struct Member {
    std::uint64_t steps = 0;
    bool waits = false;                             // its last step is one that it has to repeat
    std::uint64_t products = 0;                     // begun
    std::deque<std::uint64_t> groups{};             // the last product of each that may be pending
    std::uint32_t max_registers = 0;                // 0: unknown
    std::vector<std::uint32_t> register_changes{};  // the warp's clock at each setmaxnreg
  };
  struct Group {
    std::deque<const Code*> steps{};  // that not all warps have executed
    std::uint64_t first_step = 0;
    std::array<Member, warpgroup_warps> members{};
    std::deque<WarpgroupProduct> products{};  // that are not done
    std::uint64_t first_product = 1;
  };
  Group& group_of(const WarpState& warp);
  Member& member_of(const WarpState& warp);
  void look_at(WarpState& warp, const SharedMatrix& matrix, unsigned extent,
               const WarpgroupProduct& product, std::uint64_t number);
  void finish(Group& group, std::uint64_t last);

  const LaunchContext& launch_;
  const std::vector<WarpState*>& warps_;
  MarkedBytes& shared_;
  SharedRaces& races_;
  GuardedWords& guards_;
  Random& random_;
  ProductReads reads_;
  std::vector<Group> groups_;
  std::uint64_t woken_ = 0;
};

/// d = a * b + d, as the units of the launch's GPU compute it.
void multiply_warpgroup(const LaunchContext& launch, const std::byte* shared,
                        const WarpgroupProduct& product);
/// Throws LaneFault if nothing tells how the launch's GPU computes it.
void check_units(const LaunchContext& launch, const WarpState& warp, const ProductCode& product);
SharedMatrix a_matrix(const WarpgroupProduct& product);
SharedMatrix b_matrix(const WarpgroupProduct& product);

}  // namespace emulator
