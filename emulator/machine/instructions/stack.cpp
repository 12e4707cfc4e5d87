#include <fmt/format.h>

#include <bit>

#include "emulator/machine/block.h"
#include "emulator/machine/instructions/lanes.h"

// alloca, stacksave and stackrestore: local memory that a function takes while it runs. Addresses
// are those of local space.
namespace emulator {
namespace {

/// variant: the logarithm of the alignment.
template <class T>
void allocate(Warp& warp, const Code& code, Mask lanes) {
  T* d = warp.at<T>(code.d);
  const T* sizes = warp.at<T>(code.a);
  Block& block = warp.block();
  const std::size_t stack = block.local_bytes_per_thread();
  for_lanes(lanes, [&](int lane) {
    const std::size_t begin = ptx::align_up(warp.stack_top(lane), std::size_t{1} << code.variant);
    const std::size_t bytes = sizes[lane];
    if (begin > stack || bytes > stack - begin)
      warp.fault(FaultKind::illegal_address, lane,
                 fmt::format("alloca of {} bytes, where a thread has {} bytes of stack "
                             "(cudaDeviceSetLimit(cudaLimitStackSize, …))",
                             bytes, stack));
    block.forget_local(warp.index(), lane, begin, bytes);
    warp.set_stack_top(lane, begin + bytes);
    d[lane] = static_cast<T>(begin);
  });
}

template <class T>
void save(Warp& warp, const Code& code, Mask lanes) {
  T* d = warp.at<T>(code.d);
  for_lanes(lanes, [&](int lane) { d[lane] = static_cast<T>(warp.stack_top(lane)); });
}

template <class T>
void restore(Warp& warp, const Code& code, Mask lanes) {
  const T* tops = warp.at<T>(code.a);
  for_lanes(lanes, [&](int lane) {
    if (tops[lane] > warp.stack_top(lane))
      warp.fault(FaultKind::undefined, lane, "stackrestore of what is no place of this stack");
    warp.set_stack_top(lane, tops[lane]);
  });
}

ptx::Type address_type(Decoder& decoder) {
  const ptx::Type type = decoder.type();
  if (type != ptx::Type::u32 && type != ptx::Type::u64) decoder.fail_type(type);
  decoder.layout().code().allocates_stack = true;
  return type;
}

void decode_alloca(Decoder& decoder) {
  const ptx::Type type = address_type(decoder);
  decoder.expect_operands(2, 3);
  decoder.code.d = decoder.destination(0, type);
  decoder.code.a = decoder.source(1, type);
  decoder.code.variant = 3;
  if (decoder.operands() == 3) {
    const ptx::Operand& alignment = decoder.operand(2);
    if (alignment.kind != ptx::OperandKind::integer || !std::has_single_bit(alignment.bits) ||
        alignment.bits > 4096)
      decoder.fail("an alignment is a power of two");
    decoder.code.variant = static_cast<unsigned char>(std::countr_zero(alignment.bits));
  }
  decoder.emit(type == ptx::Type::u32 ? allocate<std::uint32_t> : allocate<std::uint64_t>);
}

void decode_stacksave(Decoder& decoder) {
  const ptx::Type type = address_type(decoder);
  decoder.expect_operands(1);
  decoder.code.d = decoder.destination(0, type);
  decoder.emit(type == ptx::Type::u32 ? save<std::uint32_t> : save<std::uint64_t>);
}

void decode_stackrestore(Decoder& decoder) {
  const ptx::Type type = address_type(decoder);
  decoder.expect_operands(1);
  decoder.code.a = decoder.source(0, type);
  decoder.emit(type == ptx::Type::u32 ? restore<std::uint32_t> : restore<std::uint64_t>);
}

const Opcodes opcodes{{"alloca", decode_alloca},
                      {"stacksave", decode_stacksave},
                      {"stackrestore", decode_stackrestore}};

}  // namespace
}  // namespace emulator
