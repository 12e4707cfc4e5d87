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
/// The block's place in its cluster, by a coordinate.
unsigned in_cluster(unsigned Dim3::*axis, Reader r) {
  return r.ctaid.*axis % r.launch.cluster.*axis;
}
unsigned cluster_index(unsigned Dim3::*axis, Reader r) {
  return r.ctaid.*axis / r.launch.cluster.*axis;
}
unsigned clusters(unsigned Dim3::*axis, Reader r) {
  return r.launch.launch.grid.*axis / r.launch.cluster.*axis;
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
    {"%clusterid.x", [](Reader r) { return cluster_index(&Dim3::x, r); }},
    {"%clusterid.y", [](Reader r) { return cluster_index(&Dim3::y, r); }},
    {"%clusterid.z", [](Reader r) { return cluster_index(&Dim3::z, r); }},
    {"%nclusterid.x", [](Reader r) { return clusters(&Dim3::x, r); }},
    {"%nclusterid.y", [](Reader r) { return clusters(&Dim3::y, r); }},
    {"%nclusterid.z", [](Reader r) { return clusters(&Dim3::z, r); }},
    {"%cluster_ctaid.x", [](Reader r) { return in_cluster(&Dim3::x, r); }},
    {"%cluster_ctaid.y", [](Reader r) { return in_cluster(&Dim3::y, r); }},
    {"%cluster_ctaid.z", [](Reader r) { return in_cluster(&Dim3::z, r); }},
    {"%cluster_nctaid.x", [](Reader r) { return r.launch.cluster.x; }},
    {"%cluster_nctaid.y", [](Reader r) { return r.launch.cluster.y; }},
    {"%cluster_nctaid.z", [](Reader r) { return r.launch.cluster.z; }},
    {"%cluster_ctarank",
     [](Reader r) {
       const Dim3& cluster = r.launch.cluster;
       return (in_cluster(&Dim3::z, r) * cluster.y + in_cluster(&Dim3::y, r)) * cluster.x +
              in_cluster(&Dim3::x, r);
     }},
    {"%cluster_nctarank", [](Reader r) { return r.launch.blocks_per_cluster(); }},
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
