#include "emulator/tests/opcodes/wgmma_support.h"

#include <cstring>

#include "emulator/tests/module.h"

namespace emulator::test {
namespace {

constexpr int rows = 64, threads = 128;
constexpr std::size_t copied_at_once = 2048;

struct Place {
  int row, column;
};

/// PTX ISA, figures "WGMMA .m64nNk… register fragment layout for matrix A" and "accumulator".
Place a_place(std::size_t bytes, int thread, int i) {
  const int warp = thread / 32, group = thread % 32 / 4, lane = thread % 4;
  const int packed = static_cast<int>(4 / bytes), which = i / packed;  // register
  return {warp * 16 + group + (which % 2 == 0 ? 0 : 8),
          lane * packed + i % packed + (which < 2 ? 0 : 4 * packed)};
}
Place d_place(int thread, int i) {
  return {thread / 32 * 16 + thread % 32 / 4 + (i % 4 < 2 ? 0 : 8),
          i / 4 * 8 + thread % 4 * 2 + i % 2};
}

template <class PlaceOf>
std::vector<std::byte> packed(const std::string& type, Values& matrix, int count, PlaceOf place) {
  const std::size_t bytes = matrix_bytes(type);
  std::vector<std::byte> all(static_cast<std::size_t>(count * threads) * bytes);
  std::byte* to = all.data();
  for (int thread = 0; thread < threads; ++thread)
    for (int i = 0; i < count; ++i, to += bytes) {
      const Place at = place(thread, i);
      const std::uint64_t bits = matrix_bits(type, matrix.at(at.row, at.column));
      std::memcpy(to, &bits, bytes);
    }
  return all;
}

std::string list(const std::string& name, std::size_t first, std::size_t count) {
  std::string text = "{";
  for (std::size_t i = 0; i < count; ++i)
    text += (i == 0 ? "" : ", ") + name + std::to_string(first + i);
  return text + "}";
}

std::string move(const std::string& name, const std::string& base, std::size_t count, bool loads) {
  std::string text = element(base, static_cast<int>(4 * count));
  for (std::size_t i = 0; i < count; ++i) {
    const std::string address = "[%l31+" + std::to_string(4 * i) + "]";
    const std::string each = name + std::to_string(i);
    text += loads ? "ld.global.b32 " + each + ", " + address + ";\n"
                  : "st.global.b32 " + address + ", " + each + ";\n";
  }
  return text;
}

}  // namespace

std::size_t SharedFactor::offset(int i, int l) const {
  const auto width = static_cast<int>(matrix_bytes(type));
  const int in_chunk = 16 / width;  // elements of 16 bytes
  const int major = layout.is_k_major ? l : i, minor = layout.is_k_major ? i : l;
  const int majors = layout.is_k_major ? k : extent, minors = layout.is_k_major ? extent : k;
  const int row_bytes = layout.swizzle_bytes == 0 ? 16 : layout.swizzle_bytes;
  const int in_row = row_bytes / width;
  // Rows of an atom share a swizzle if several of them fill 128 bytes.
  const int turn = layout.swizzle_bytes == 0 ? 0 : minor % 8 / (128 / row_bytes);
  const int chunk = major % in_row / in_chunk ^ turn;
  const int atom = layout.are_atoms_by_columns ? major / in_row * (minors / 8) + minor / 8
                                               : minor / 8 * (majors / in_row) + major / in_row;
  return begin + static_cast<std::size_t>(atom * 8 * row_bytes + minor % 8 * row_bytes +
                                          chunk * 16 + major % in_chunk * width);
}

std::uint64_t SharedFactor::descriptor(int l) const {
  const auto width = static_cast<int>(matrix_bytes(type));
  const int in_row = (layout.swizzle_bytes == 0 ? 16 : layout.swizzle_bytes) / width;
  const int major = layout.is_k_major ? k : extent;
  const std::uint64_t mode = layout.swizzle_bytes == 0     ? 0
                             : layout.swizzle_bytes == 128 ? 1
                             : layout.swizzle_bytes == 64  ? 2
                                                           : 3;
  const std::size_t base = offset(0, 0);
  const auto at = [&](int i, int depth) { return offset(i, depth) - base; };
  // The next atom along the major dimension, and along the other one.
  const std::size_t along = in_row >= major ? 0 : layout.is_k_major ? at(0, in_row) : at(in_row, 0);
  const std::size_t across = layout.is_k_major ? (extent > 8 ? at(8, 0) : 0) : at(0, 8);
  const bool is_swapped = layout.swizzle_bytes == 0 && !layout.is_k_major;
  const std::size_t leading = is_swapped ? across : along, stride = is_swapped ? along : across;
  // Within a row of a swizzled atom the address goes on as if it were not swizzled.
  const std::size_t start =
      layout.is_k_major && layout.swizzle_bytes != 0
          ? offset(0, l / in_row * in_row) + static_cast<std::size_t>(l % in_row * width)
          : offset(0, l);
  return start >> 4 | std::uint64_t{leading >> 4} << 16 | std::uint64_t{stride >> 4} << 32 |
         static_cast<std::uint64_t>(layout.base_offset) << 49 | mode << 62;
}

std::string instruction_of(const WgmmaCase& c) {
  return "wgmma.mma_async.sync.aligned.m64n" + std::to_string(c.n) + "k" + std::to_string(c.k) +
         c.more + "." + c.d + "." + c.a + "." + c.b;
}

std::vector<std::uint64_t> run_wgmma(const WgmmaCase& c, Values a, Values b, Values sum,
                                     std::uint64_t seed) {
  const int depth = c.k * c.steps;
  const auto round_up = [](std::size_t bytes) {
    return (bytes + copied_at_once - 1) / copied_at_once * copied_at_once;
  };
  const auto shift = [](const SharedLayout& layout) {
    return static_cast<std::size_t>(128 * layout.base_offset);
  };
  const SharedFactor a_factor{c.a_layout, c.a, rows, depth, shift(c.a_layout)};
  const SharedFactor b_factor{c.b_layout, c.b, c.n, depth,
                              round_up(a_factor.begin + a_factor.bytes()) + shift(c.b_layout)};
  std::vector<std::byte> image(round_up(b_factor.begin + b_factor.bytes()));
  const auto put = [&](const SharedFactor& factor, int i, int l, double value) {
    const std::uint64_t bits = matrix_bits(factor.type, value);
    std::memcpy(image.data() + factor.offset(i, l), &bits, matrix_bytes(factor.type));
  };
  for (int l = 0; l < depth; ++l) {
    for (int i = 0; i < rows; ++i) put(a_factor, i, l, a.at(i, l));
    for (int j = 0; j < c.n; ++j) put(b_factor, j, l, b.at(l, j));
  }

  std::vector<std::byte> a_registers;
  for (int step = 0; step < c.steps; ++step) {
    Values part{rows, c.k};
    for (int i = 0; i < rows; ++i)
      for (int l = 0; l < c.k; ++l) part.at(i, l) = a.at(i, step * c.k + l);
    const auto bytes = packed(c.a, part, rows * c.k / threads, [&](int thread, int i) {
      return a_place(matrix_bytes(c.a), thread, i);
    });
    a_registers.insert(a_registers.end(), bytes.begin(), bytes.end());
  }
  const int count = rows * c.n / threads;
  const auto sums = packed(c.d, sum, count, d_place);
  const std::size_t d_registers = sums.size() / threads / 4;

  std::string body = ".shared .align 1024 .b8 memory[" + std::to_string(image.size()) +
                     "];\n.reg .b32 %md<" + std::to_string(d_registers) + ">, %ma<" +
                     std::to_string(4 * c.steps) +
                     ">;\nmov.u32 %r3, memory;\nshl.b32 %r4, %r2, 4;\nadd.u32 %r3, %r3, %r4;\n"
                     "cvt.u64.u32 %l1, %r4;\nadd.u64 %l1, %l1, %image;\n";
  for (std::size_t at = 0; at < image.size(); at += copied_at_once) {
    const std::string offset = std::to_string(at);
    body += "ld.global.v4.b32 {%r10, %r11, %r12, %r13}, [%l1+" + offset +
            "];\nst.shared.v4.b32 [%r3+" + offset + "], {%r10, %r11, %r12, %r13};\n";
  }
  body += "fence.proxy.async;\nbar.sync 0;\n" + move("%md", "%d", d_registers, true);
  for (int step = 0; step < c.steps && c.has_a_registers; ++step) {
    const std::string base = "%l2" + std::to_string(step);
    body += "add.u64 " + base + ", %a, " + std::to_string(step * threads * 16) + ";\n";
    std::string loads = move("%mx", base, 4, true);
    for (int i = 3; i >= 0; --i) {
      const std::string from = "%mx" + std::to_string(i);
      loads.replace(loads.find(from + ","), from.size(), "%ma" + std::to_string(4 * step + i));
    }
    body += loads;
  }
  body += "wgmma.fence.sync.aligned;\nsetp.eq.u32 %p1, %r0, %r0;\n";
  const bool is_integer = c.model.terms == 0;
  const bool has_majors = matrix_bytes(c.a) == 2;
  for (int step = 0; step < c.steps; ++step) {
    const auto number = [](std::uint64_t value) { return std::to_string(value); };
    body += "mov.b64 %l2, " + number(a_factor.descriptor(step * c.k)) + ";\nmov.b64 %l3, " +
            number(b_factor.descriptor(step * c.k)) + ";\n" + instruction_of(c) + " " +
            list("%md", 0, d_registers) + ", " +
            (c.has_a_registers ? list("%ma", static_cast<std::size_t>(4 * step), 4) : "%l2") +
            ", %l3, " + (c.adds || step > 0 ? "%p1" : "!%p1");
    if (!is_integer)
      body += std::string(c.negates_a ? ", -1" : ", 1") + (c.negates_b ? ", -1" : ", 1");
    if (has_majors && !c.has_a_registers) body += c.a_layout.is_k_major ? ", 0" : ", 1";
    if (has_majors) body += c.b_layout.is_k_major ? ", 0" : ", 1";
    body += ";\n";
  }
  body += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n" +
          move("%md", "%d", d_registers, false);

  Device device;
  device.set_gpu(c.gpu);
  Kernels kernels(device, module_head("sm_90a") + kernel({"image", "a", "d"}, body));
  kernels.settings.seed = seed;
  const auto d = device.upload(sums);
  kernels.run("test", {.grid = {1}, .block = {threads}}, device.upload(image),
              device.upload(a_registers), d);
  const auto bytes = device.download<std::byte>(d, sums.size());
  std::vector<std::uint64_t> result(static_cast<std::size_t>(rows * c.n));
  for (int thread = 0; thread < threads; ++thread)
    for (int i = 0; i < count; ++i) {
      const Place at = d_place(thread, i);
      const auto index = static_cast<std::size_t>(thread * count + i);
      std::memcpy(&result[static_cast<std::size_t>(at.row * c.n + at.column)],
                  bytes.data() + index * matrix_bytes(c.d), matrix_bytes(c.d));
    }
  return result;
}

}  // namespace emulator::test
