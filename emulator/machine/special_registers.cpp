#include "emulator/machine/special_registers.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace emulator {
namespace {

using Reader = const SpecialReader&;

const std::array<std::uint32_t, 3>& tid(Reader r) {
  return r.launch.thread_positions[static_cast<std::size_t>(r.warp * warp_lanes + r.lane)];
}
Mask bit(Reader r) { return Mask{1} << r.lane; }

struct SpecialRegister {
  template <class Value>
  constexpr SpecialRegister(std::string_view its_name, Value)
      : name(its_name), value([](Reader r) { return static_cast<std::uint32_t>(Value{}(r)); }) {}
  std::string_view name;
  std::uint32_t (*value)(Reader);
};
constexpr SpecialRegister registers[] = {
    {"%tid.x", [](Reader r) { return tid(r)[0]; }},
    {"%tid.y", [](Reader r) { return tid(r)[1]; }},
    {"%tid.z", [](Reader r) { return tid(r)[2]; }},
    {"%ntid.x", [](Reader r) { return r.launch.launch.block.x; }},
    {"%ntid.y", [](Reader r) { return r.launch.launch.block.y; }},
    {"%ntid.z", [](Reader r) { return r.launch.launch.block.z; }},
    {"%ctaid.x", [](Reader r) { return r.ctaid.x; }},
    {"%ctaid.y", [](Reader r) { return r.ctaid.y; }},
    {"%ctaid.z", [](Reader r) { return r.ctaid.z; }},
    {"%nctaid.x", [](Reader r) { return r.launch.launch.grid.x; }},
    {"%nctaid.y", [](Reader r) { return r.launch.launch.grid.y; }},
    {"%nctaid.z", [](Reader r) { return r.launch.launch.grid.z; }},
    {"%laneid", [](Reader r) { return r.lane; }},
    {"%warpid", [](Reader r) { return r.warp; }},
    {"%nwarpid", [](Reader r) { return r.launch.gpu.threads_per_multiprocessor / warp_lanes; }},
    {"%smid",
     [](Reader r) { return r.block % static_cast<unsigned>(r.launch.gpu.multiprocessors); }},
    {"%nsmid", [](Reader r) { return r.launch.gpu.multiprocessors; }},
    {"%gridid", [](Reader r) { return r.launch.number; }},
    {"%lanemask_eq", [](Reader r) { return bit(r); }},
    {"%lanemask_lt", [](Reader r) { return bit(r) - 1; }},
    {"%lanemask_le", [](Reader r) { return bit(r) | (bit(r) - 1); }},
    {"%lanemask_ge", [](Reader r) { return ~(bit(r) - 1); }},
    {"%lanemask_gt", [](Reader r) { return ~(bit(r) | (bit(r) - 1)); }},
    // Where a cooperative launch has its workspace (cooperative_groups/details/driver_abi.h).
    {"%envreg1", [](Reader r) { return r.launch.launch.grid_workspace >> 32; }},
    {"%envreg2", [](Reader r) { return r.launch.launch.grid_workspace; }},
    {"%total_smem_size", [](Reader r) { return r.shared_bytes; }},
    {"%aggr_smem_size", [](Reader r) { return r.shared_bytes; }},
    {"%dynamic_smem_size", [](Reader r) { return r.launch.launch.dynamic_shared_bytes; }}};

}  // namespace

std::optional<std::size_t> find_special(std::string_view name) {
  const auto* found = std::ranges::find(registers, name, &SpecialRegister::name);
  if (found == std::end(registers)) return std::nullopt;
  return static_cast<std::size_t>(found - registers);
}

std::uint32_t special_value(std::size_t special, const SpecialReader& reader) {
  return registers[special].value(reader);
}

}  // namespace emulator
