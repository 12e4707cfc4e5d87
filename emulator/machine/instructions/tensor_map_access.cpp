#include "emulator/machine/instructions/tensor_map_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "emulator/machine/access.h"
#include "emulator/machine/address_windows.h"
#include "emulator/machine/block.h"
#include "emulator/machine/ordering.h"

namespace emulator {
namespace {

constexpr std::size_t part = 16;  // of a map, which one access reads

bool is_constant(const LaunchContext& context, std::uint64_t address) {
  const auto& ranges = context.kernel.constant_ranges[static_cast<std::size_t>(context.launch.gpu)];
  return std::ranges::any_of(ranges, [address](const auto& range) {
    return address >= range.first && address < range.second;
  });
}

/// Global memory, which generic writes may have reached and the copies have not seen yet.
void check_acquired(Warp& warp, int lane, std::uint64_t address) {
  Block& block = warp.block();
  if (is_constant(block.context(), address) || block.async().acquired_maps.contains(address))
    return;
  warp.find(FaultKind::race, lane,
            fmt::format("uses the tensor map at {:#x} in global memory: no thread of the block has "
                        "executed fence.proxy.tensormap::generic.acquire for it",
                        address));
}

TensorMap read_any(Warp& warp, int lane, std::uint64_t address, bool checks_fence) {
  if (address % TensorMap::alignment != 0)
    warp.fault(FaultKind::misaligned_address, lane,
               fmt::format("a tensor map at {:#x}, which is no multiple of {}", address,
                           TensorMap::alignment));
  const ptx::Space space = address_windows().space_of(address);
  if (space == ptx::Space::shared || space == ptx::Space::local)
    warp.fault(
        FaultKind::undefined, lane,
        fmt::format("a tensor map lies in the kernel's parameters (as __grid_constant__), in "
                    "constant or in global memory, and {:#x} is {} memory",
                    address, space == ptx::Space::shared ? "shared" : "local"));
  TensorMap map;
  for (std::size_t at = 0; at < sizeof map; at += part) {
    const Target target = locate(warp, ptx::Space::generic, lane, address + at, part, Access::read);
    if (target.window != nullptr) warp.block().global_races.read(warp, lane, target, part, false);
    std::memcpy(reinterpret_cast<std::byte*>(&map) + at, target.data, part);
  }
  if (!is_sealed(map))
    warp.fault(FaultKind::undefined, lane,
               fmt::format("the 128 bytes at {:#x} are no tensor map that cuTensorMapEncodeTiled "
                           "made, or something has changed them",
                           address));
  if (checks_fence && space == ptx::Space::generic) check_acquired(warp, lane, address);
  return map;
}

}  // namespace

TensorMap read_tensor_map(Warp& warp, int lane, std::uint64_t address, unsigned rank) {
  const TensorMap map = read_any(warp, lane, address, true);
  if (const std::string problem = problem_of(map); !problem.empty())
    warp.fault(FaultKind::undefined, lane,
               fmt::format("the tensor map at {:#x} is invalid: {}", address, problem));
  if (const std::string lacking = lacking_of(map); !lacking.empty())
    warp.fault(FaultKind::illegal_instruction, lane,
               fmt::format("the tensor map at {:#x}: {}", address, lacking));
  if (map.rank != rank)
    warp.fault(FaultKind::undefined, lane,
               fmt::format("a copy of {} dimensions with a tensor map of {}", rank, map.rank));
  return map;
}

namespace {

/// flag3: acquires, a: the address of a map.
void run_fence(Warp& warp, const Code& code, Mask lanes) {
  fence_lanes(warp, lanes, code.scope);
  if (!code.flag3) return;
  const std::byte* base = warp.at<std::byte>(code.a);
  for_lanes(lanes, [&](int lane) {
    const std::uint64_t address = lane_address(code, base, lane);
    if (address % TensorMap::alignment != 0)
      warp.fault(FaultKind::misaligned_address, lane,
                 fmt::format("a fence for a tensor map at {:#x}, which is no multiple of {}",
                             address, TensorMap::alignment));
    warp.block().async().acquired_maps.insert(address);
  });
}

void prefetch_map(Warp& warp, const Code& code, Mask lanes) {
  const std::byte* base = warp.at<std::byte>(code.a);
  for_lanes(lanes, [&](int lane) { read_any(warp, lane, lane_address(code, base, lane), false); });
}

}  // namespace

void decode_tensor_map_fence(Decoder& decoder) {
  decoder.needs(90);
  const bool acquires = decoder.take("acquire");
  if (!acquires) decoder.expect("release");
  if (!decoder.take_scope()) decoder.fail("a scope is missing");
  decoder.expect_operands(acquires ? 2 : 0);
  if (acquires) {
    decoder.address(0);
    const ptx::Operand& size = decoder.operand(1);
    if (size.kind != ptx::OperandKind::integer || size.bits != sizeof(TensorMap))
      decoder.fail("the size of a tensor map is 128");
  }
  decoder.code.flag3 = acquires;
  decoder.emit(run_fence);
}

void decode_tensor_map_prefetch(Decoder& decoder) {
  decoder.needs(90);
  decoder.take("const");
  decoder.expect_operands(1);
  decoder.address(0);
  if (decoder.code.space == ptx::Space::parameter)
    decoder.fail("the address of a tensor map is generic here");
  decoder.emit(prefetch_map);
}

}  // namespace emulator
