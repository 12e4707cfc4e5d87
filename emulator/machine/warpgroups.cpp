#include "emulator/machine/warpgroups.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "emulator/machine/product_registers.h"

namespace emulator {
namespace {

std::size_t in_group(const WarpState& warp) {
  return static_cast<std::size_t>(warp.index()) % warpgroup_warps;
}

/// Sets what the warp says of an operand that all warps have to agree on.
template <class T>
void agree(const WarpState& warp, bool is_first, T& known, T said, const char* what) {
  if (is_first) known = said;
  if (known != said)
    warp.find(
        FaultKind::undefined, 0,
        fmt::format("{} is {:#x} in this warp and {:#x} in another one of its warpgroup", what,
                    static_cast<std::uint64_t>(said), static_cast<std::uint64_t>(known)));
}

std::uint64_t descriptor_in(const WarpState& warp, const Frame& frame, Place place) {
  const auto* values = reinterpret_cast<const std::uint64_t*>(frame.at(place));
  for (int lane = 1; lane < warp_lanes; ++lane)
    if (values[lane] != values[0])
      warp.find(FaultKind::undefined, lane,
                fmt::format("the matrix descriptor is {:#x} in this lane and {:#x} in lane 0",
                            values[lane], values[0]));
  return values[0];
}

/// scale-d.
bool adds_sums(const WarpState& warp, const Frame& frame, const ProductCode& product) {
  Mask scale = *reinterpret_cast<const Mask*>(frame.at(product.scale));
  if (product.is_scale_negated) scale = ~scale;
  if (scale != 0 && scale != all_lanes)
    warp.find(FaultKind::undefined, std::countr_zero(~scale), "scale-d differs between lanes");
  return scale != 0;
}

void read_operands(const WarpState& warp, const Frame& frame, const Code& code,
                   WarpgroupProduct& product) {
  const ProductCode& site = *code.product;
  const bool is_first = product.is_first();
  if (!site.has_a_registers())
    agree(warp, is_first, product.a_descriptor, descriptor_in(warp, frame, site.a_descriptor),
          "the matrix descriptor of a");
  agree(warp, is_first, product.b_descriptor, descriptor_in(warp, frame, site.b_descriptor),
        "the matrix descriptor of b");
  agree(warp, is_first, product.adds, adds_sums(warp, frame, site), "scale-d");
}

/// Undefined values must not come into a product, and none comes out of it.
void check_undefined(const WarpState& warp, Frame& frame, const ProductCode& site, bool adds) {
  if (frame.undefined == nullptr) return;
  const auto check = [&](Place place, std::uint8_t bytes, const char* what) {
    if (place.bank != 0) return;
    const Mask lanes = frame.undefined->lanes({place.offset, bytes});
    if (lanes != 0)
      warp.find(FaultKind::uninitialised_read, std::countr_zero(lanes),
                fmt::format("{} comes from bytes that nothing has written", what));
    frame.undefined->define({place.offset, bytes}, all_lanes);
  };
  for (const Place place : site.a.registers) check(place, 4, "a factor");
  if (!site.has_a_registers()) check(site.a_descriptor, 8, "the matrix descriptor of a");
  check(site.b_descriptor, 8, "the matrix descriptor of b");
  check(site.scale, 0, "scale-d");
  for (const Place place : site.d.registers) {
    if (adds) check(place, 4, "a sum");
    frame.undefined->define({place.offset, 4}, all_lanes);
  }
}

}  // namespace

Warpgroups::Warpgroups(const LaunchContext& launch, const std::vector<WarpState*>& warps,
                       MarkedBytes& shared, SharedRaces& races, GuardedWords& guards,
                       Random& random)
    : launch_(launch),
      warps_(warps),
      shared_(shared),
      races_(races),
      guards_(guards),
      random_(random),
      reads_(launch, races, shared.bytes.size(), warps.size()),
      groups_((warps.size() + warpgroup_warps - 1) / warpgroup_warps) {
  guards_.product_reads = &reads_;
}

Warpgroups::Group& Warpgroups::group_of(const WarpState& warp) {
  return groups_[static_cast<std::size_t>(warp.index()) / warpgroup_warps];
}

Warpgroups::Member& Warpgroups::member_of(const WarpState& warp) {
  return group_of(warp).members[in_group(warp)];
}

void Warpgroups::step(WarpState& warp, const Code& code) {
  const std::size_t first = static_cast<std::size_t>(warp.index()) - in_group(warp);
  if (first + warpgroup_warps > warps_.size())
    warp.fault(FaultKind::divergent_barrier, 0,
               fmt::format("a warpgroup has four warps, and this one {}", warps_.size() - first));
  Group& group = group_of(warp);
  Member& me = member_of(warp);
  const std::size_t at = me.steps - group.first_step;
  if (at == group.steps.size()) group.steps.push_back(&code);
  if (group.steps[at] != &code)
    warp.fault(FaultKind::divergent_barrier, 0,
               fmt::format("other warps of its warpgroup have executed that at {} in its place",
                           launch_.kernel.module->place(group.steps[at]->line)));
  ++me.steps;
  std::uint64_t of_all = me.steps;
  for (const Member& member : group.members) of_all = std::min(of_all, member.steps);
  for (; group.first_step < of_all; ++group.first_step) group.steps.pop_front();
}

void Warpgroups::multiply(WarpState& warp, Frame& frame, const Code& code) {
  step(warp, code);
  if (warp.product_fences == 0)
    warp.find(FaultKind::undefined, 0,
              "a wgmma.fence is missing before the first wgmma.mma_async of the warp");
  Group& group = group_of(warp);
  const std::uint64_t number = ++member_of(warp).products;
  const ProductCode& site = *code.product;
  if (number - group.first_product == group.products.size()) {
    check_units(launch_, warp, site);
    group.products.push_back({.code = &code});
  }
  WarpgroupProduct& product = group.products[number - group.first_product];
  read_operands(warp, frame, code, product);
  check_undefined(warp, frame, site, product.adds);
  frame.product_registers->multiply(warp, code, number, *launch_.kernel.module);
  if (!site.has_a_registers()) look_at(warp, a_matrix(product), product_rows, product, number);
  look_at(warp, b_matrix(product), static_cast<unsigned>(site.n), product, number);
  product.frames[in_group(warp)] = &frame;
  product.begun |= 1u << in_group(warp);
  if (!product.is_complete()) return;
  const std::size_t first = static_cast<std::size_t>(warp.index()) - in_group(warp);
  for (std::size_t i = first; i < first + warpgroup_warps; ++i)
    for (Split& split : warps_[i]->splits()) {
      if (split.wait != Wait::warpgroup) continue;
      split.wait = Wait::none;
      woken_ |= std::uint64_t{1} << i;
    }
  if (random_.below(2) == 0) finish(group, number);
}

/// Checks that a warp may read a factor through its descriptor, and guards it until a wait.
void Warpgroups::look_at(WarpState& warp, const SharedMatrix& matrix, unsigned extent,
                         const WarpgroupProduct& product, std::uint64_t number) {
  constexpr unsigned bytes = SharedMatrix::chunk_bytes;
  const std::size_t group = static_cast<std::size_t>(warp.index()) / warpgroup_warps;
  const bool is_last = (product.begun | 1u << in_group(warp)) == (1u << warpgroup_warps) - 1;
  if (const std::string problem = matrix.problem(); !problem.empty())
    warp.fault(FaultKind::undefined, 0,
               fmt::format("a matrix descriptor is none that PTX describes: {}", problem));
  const std::uint64_t size = shared_.bytes.size();
  matrix.for_each_chunk(
      extent, static_cast<unsigned>(product.code->product->k), [&](std::uint64_t offset) {
        if (offset + bytes > size)
          warp.fault(
              FaultKind::illegal_address, 0,
              fmt::format("a matrix descriptor leads to {} bytes at {:#x}: there are {} bytes of "
                          "shared memory",
                          bytes, offset, size));
        races_.check_product(warp, offset, bytes);
        const bool is_written = guards_.check(warp, 0, offset, bytes, false);
        if (!is_written && is_last) {
          warp.find(FaultKind::uninitialised_read, 0,
                    fmt::format("multiplies {} bytes at {:#x}: nothing has written all of them, in "
                                "shared memory",
                                bytes, offset));
          for (unsigned i = 0; i < bytes; ++i) guards_.set_mark(offset + i, mark_written);
        }
        if (!product.is_first()) return;
        reads_.add(group, number, *product.code, offset);
        guards_.add_product(offset, bytes);
      });
}

void Warpgroups::commit(WarpState& warp) {
  Member& me = member_of(warp);
  me.groups.push_back(me.products);
}

bool Warpgroups::wait_groups(WarpState& warp, const Code& code, std::uint64_t pending) {
  Member& me = member_of(warp);
  if (!std::exchange(me.waits, false)) step(warp, code);
  if (me.groups.size() <= pending) return true;
  Group& group = group_of(warp);
  const std::uint64_t last = me.groups[me.groups.size() - 1 - pending];
  if (last >= group.first_product && !group.products[last - group.first_product].is_complete()) {
    me.waits = true;
    return false;
  }
  finish(group, last);
  while (me.groups.size() > pending) me.groups.pop_front();
  warp.products_over = last;
  reads_.wait(warp, last);
  return true;
}

void Warpgroups::finish(Group& group, std::uint64_t last) {
  for (; group.first_product <= last; ++group.first_product) {
    multiply_warpgroup(launch_, shared_.bytes.data(), group.products.front());
    group.products.pop_front();
  }
}

void Warpgroups::set_max_registers(WarpState& warp, std::uint32_t count, bool increases) {
  Group& group = group_of(warp);
  Member& me = member_of(warp);
  const std::size_t first = static_cast<std::size_t>(warp.index()) - in_group(warp);
  for (std::size_t i = 0; !me.register_changes.empty() && i < warpgroup_warps; ++i) {
    const auto& theirs = group.members[i].register_changes;
    const std::size_t last = me.register_changes.size() - 1;
    if (theirs.size() > last &&
        races_.order().warps.ordered(warp.index(), static_cast<int>(first + i), theirs[last]))
      continue;
    warp.find(FaultKind::undefined, 0,
              fmt::format("warp {} of the warpgroup is not synchronised behind the setmaxnreg "
                          "before",
                          first + i));
  }
  if (me.max_registers != 0 && (increases ? count < me.max_registers : count > me.max_registers))
    warp.find(FaultKind::undefined, 0,
              fmt::format("the warp has {} registers for each thread before", me.max_registers));
  me.max_registers = count;
  me.register_changes.push_back(races_.order().warps.own(warp.index()));
}

void Warpgroups::end_frame(const WarpState& warp, const Frame& frame) {
  for (WarpgroupProduct& product : group_of(warp).products) {
    Frame*& own = product.frames[in_group(warp)];
    if (own == &frame) own = nullptr;
  }
}

Warpgroups::Missing Warpgroups::missing() const {
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    const Group& each = groups_[group];
    if (each.steps.empty()) continue;
    Missing found{.code = each.steps.front()};
    for (std::size_t i = 0; i < warpgroup_warps; ++i) {
      const std::size_t warp = group * warpgroup_warps + i;
      if (each.members[i].steps > each.first_step)
        found.warp = warps_[warp];
      else
        found.text =
            fmt::format("all warps of the warpgroup are needed, but warp {} has not come", warp);
    }
    return found;
  }
  return {};
}

}  // namespace emulator
