#include <gtest/gtest.h>

#include <bit>
#include <numeric>

#include "emulator/tests/module.h"

// tex, tld4, txq, suld, sust and suq, each on its own.
namespace emulator::test {
namespace {

/// A GPU with an image of 4 by 4 by 2 texels of one 32-bit channel: 100 z + 10 y + x.
struct Images {
  explicit Images(ChannelKind kind = ChannelKind::unsigned_integer) {
    std::vector<std::uint32_t> texels;
    for (std::uint32_t i = 0; i < 32; ++i)
      texels.push_back(100 * (i / 16) + 10 * (i / 4 % 4) + i % 4);
    if (kind == ChannelKind::floating)
      for (std::uint32_t& each : texels)
        each = std::bit_cast<std::uint32_t>(static_cast<float>(each));
    image = {device.upload(texels), {1, 4, kind}, {4, 4, 2}, 16, 64};
    out = device.allocate(32 * 4);
  }

  Texture texture(ImageShape shape) const {
    Texture made{.shape = shape, .levels = {image}};
    made.addressing.fill(Addressing::clamp);
    return made;
  }

  /// Executes `body`, which uses the handle %in and sets %r10 to %r13, in `threads` threads of
  /// `blocks` blocks.
  template <class Object>
  Caught run(const Object& object, const std::string& body, unsigned threads = 1,
             unsigned blocks = 1) {
    Kernels kernels(device,
                    module_head() + kernel({"out", "in"}, body + "mul.wide.u32 %l30, %r0, 16;\n"
                                                                 "add.s64 %l30, %l30, %out;\n"
                                                                 "st.global.v4.u32 [%l30], "
                                                                 "{%r10, %r11, %r12, %r13};\n"));
    std::uint64_t handle = 5;
    if constexpr (!std::is_same_v<Object, std::nullptr_t>) handle = kernels.images.add(object);
    return caught_from(
        [&] { kernels.run("test", {.grid = {blocks}, .block = {threads}}, out, handle); });
  }

  std::vector<std::uint32_t> results(std::size_t count = 1) {
    return device.download<std::uint32_t>(out, count);
  }

  Device device;
  Image image;
  std::uintptr_t out = 0;
};

const std::string zeros = "mov.u32 %r10, 0; mov.u32 %r11, 0; mov.u32 %r12, 0; mov.u32 %r13, 0;\n";
const std::string coordinates =
    "mov.u32 %r3, 3; mov.u32 %r4, 2; mov.u32 %r5, 1; mov.f32 %f3, 0f40600000;\n"
    "mov.f32 %f4, 0f40200000; mov.f32 %f5, 0f3FC00000;\n";  // 3.5, 2.5, 1.5

TEST(Images, FetchesOfEachGeometry) {
  struct Row {
    ImageShape shape;
    const char* code;
    std::uint32_t value;
  };
  for (const Row& row : std::initializer_list<Row>{
           {ImageShape::one, "tex.1d.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%in, {%f3}];", 3},
           {ImageShape::one, "tex.1d.v4.s32.s32 {%r10, %r11, %r12, %r13}, [%in, %r3];", 3},
           {ImageShape::linear, "tex.1d.v4.s32.s32 {%r10, %r11, %r12, %r13}, [%in, {%r3}];", 3},
           {ImageShape::two, "tex.2d.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%in, {%f3, %f4}];", 23},
           {ImageShape::two, "tex.2d.v4.u32.s32 {%r10, %r11, %r12, %r13}, [%in, {%r3, %r4}];", 23},
           {ImageShape::three,
            "tex.3d.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%in, {%f3, %f4, %f5, %f5}];", 123},
           {ImageShape::layers_of_two,
            "tex.a2d.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%in, {%r5, %f3, %f4, %f4}];", 123},
           {ImageShape::layers_of_one,
            "tex.a1d.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%in, {%r5, %f3}];", 103},
           {ImageShape::two,
            "tex.level.2d.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%in, {%f3, %f4}], %f5;", 23},
           {ImageShape::two,
            "tex.grad.2d.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%in, {%f3, %f4}], {%f3, %f3}, "
            "{%f3, %f3};",
            23},
           {ImageShape::two,
            "tex.2d.v4.u32.f32 {%r10, %r11, %r12, %r13}|%p1, [%in, {%f3, %f4}];\n"
            "selp.u32 %r10, 77, 5, %p1;",
            77},
           {ImageShape::three, "txq.width.b32 %r10, [%in];", 4},
           {ImageShape::three, "txq.depth.b32 %r10, [%in];", 2},
           {ImageShape::layers_of_two, "txq.array_size.b32 %r10, [%in];", 2},
           {ImageShape::two, "txq.num_mipmap_levels.b32 %r10, [%in];", 1}}) {
    Images images;
    const Caught caught = images.run(images.texture(row.shape), zeros + coordinates + row.code);
    ASSERT_FALSE(caught.any) << row.code << caught.text;
    EXPECT_EQ(images.results()[0], row.value) << row.code;
  }
}

TEST(Images, LanesFetchTheirOwn) {
  Images images;
  const Caught caught =
      images.run(images.texture(ImageShape::linear),
                 zeros +
                     "sub.s32 %r3, %r0, 1;\n"
                     "tex.1d.v4.u32.s32 {%r10, %r11, %r12, %r13}, [%in, {%r3}];\n",
                 8);
  ASSERT_FALSE(caught.any) << caught.text;
  const auto values = images.results(32);
  // Out of linear memory, at -1 and from 4 on, lie zeros.
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(values[4 * i], i >= 1 && i <= 4 ? i - 1 : 0) << i;
}

TEST(Images, Gathers) {
  Images images(ChannelKind::floating);
  const std::string code = coordinates +
                           "mov.f32 %f6, 0f40000000;\n"
                           "tld4.r.2d.v4.f32.f32 {%f7, %f8, %f9, %f10}, [%in, {%f6, %f6}];\n"
                           "cvt.rzi.u32.f32 %r10, %f7; cvt.rzi.u32.f32 %r11, %f8;\n"
                           "cvt.rzi.u32.f32 %r12, %f9; cvt.rzi.u32.f32 %r13, %f10;\n";
  Texture texture = images.texture(ImageShape::two);
  ASSERT_FALSE(images.run(texture, code).any);
  EXPECT_EQ(images.results(4), (std::vector<std::uint32_t>{21, 22, 12, 11}));
  texture.can_gather = false;
  EXPECT_EQ(images.run(texture, code).kind, FaultKind::undefined);
}

TEST(Images, SurfacesCountBytes) {
  Images images;
  const std::string place = zeros + "mov.u32 %r3, 8; mov.u32 %r4, 2; mov.u32 %r5, 1;\n";
  struct Row {
    ImageShape shape;
    const char* code;
    std::uint32_t value;
  };
  for (const Row& row : std::initializer_list<Row>{
           {ImageShape::one, "suld.b.1d.b32.trap {%r10}, [%in, {%r3}];", 2},
           {ImageShape::one, "suld.b.1d.b32.trap %r10, [%in, %r3];", 2},
           {ImageShape::two, "suld.b.2d.b32.trap {%r10}, [%in, {%r3, %r4}];", 22},
           {ImageShape::three, "suld.b.3d.b32.trap {%r10}, [%in, {%r3, %r4, %r5, %r5}];", 122},
           {ImageShape::layers_of_two, "suld.b.a2d.b32.trap {%r10}, [%in, {%r5, %r3, %r4, %r4}];",
            122},
           {ImageShape::cube, "suld.b.a2d.b32.trap {%r10}, [%in, {%r5, %r3, %r4, %r4}];", 122},
           {ImageShape::two, "suld.b.2d.b16.clamp {%h1}, [%in, {%r3, %r4}]; cvt.u32.u16 %r10, %h1;",
            22},
           {ImageShape::two,
            "suld.b.2d.v4.b8.clamp {%h1, %h2, %h3, %h4}, [%in, {%r3, %r4}]; cvt.u32.u16 %r10, %h1;",
            22},
           {ImageShape::two, "mov.u32 %r3, 400; suld.b.2d.b32.clamp {%r10}, [%in, {%r3, %r4}];",
            23},
           {ImageShape::two, "mov.u32 %r4, -4; suld.b.2d.b32.clamp {%r10}, [%in, {%r3, %r4}];", 2},
           {ImageShape::two, "mov.u32 %r3, 16; suld.b.2d.b32.zero {%r10}, [%in, {%r3, %r4}];", 0},
           {ImageShape::two, "suq.height.b32 %r10, [%in];", 4}}) {
    const Caught caught =
        images.run(Surface{.shape = row.shape, .image = images.image}, place + row.code);
    ASSERT_FALSE(caught.any) << row.code << caught.text;
    EXPECT_EQ(images.results()[0], row.value) << row.code;
  }
}

TEST(Images, SurfacesAreWritten) {
  Images images;
  const Surface surface{.shape = ImageShape::two, .image = images.image};
  const std::string place = zeros +
                            "mov.u32 %r3, 8; mov.u32 %r4, 2; mov.u32 %r5, 0x01020304;\n"
                            "mov.u32 %r6, 16; mov.u16 %h1, 0x7777;\n";
  const auto texel = [&](std::size_t x, std::size_t y) {
    return images.device.download<std::uint32_t>(images.image.at(x, y, 0), 1)[0];
  };
  ASSERT_FALSE(images
                   .run(surface, place + "sust.b.2d.b32.trap [%in, {%r3, %r4}], {%r5};\n"
                                         "sust.b.2d.b32.zero [%in, {%r6, %r4}], {%r5};\n")
                   .any);
  EXPECT_EQ(texel(2, 2), 0x01020304U);
  EXPECT_EQ(texel(0, 3), 30U);  // not the next row
  ASSERT_FALSE(images.run(surface, place + "sust.b.2d.b16.clamp [%in, {%r6, %r4}], {%h1};\n").any);
  EXPECT_EQ(texel(3, 2), 0x77770017U);  // the last 2 bytes of the row
  ASSERT_FALSE(
      images.run(surface, place + "sust.b.2d.v2.b8.trap [%in, {%r3, %r4}], {%h1, %h1};\n").any);
  EXPECT_EQ(texel(2, 2), 0x01027777U);
}

TEST(Images, Faults) {
  Images images;
  const Texture two = images.texture(ImageShape::two);
  const Surface surface{.shape = ImageShape::two, .image = images.image};
  const std::string fetch =
      coordinates + "tex.2d.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%in, {%f3, %f4}];\n";
  const auto expect = [&](FaultKind kind, const std::string& text, const Caught& caught) {
    ASSERT_TRUE(caught.any) << text;
    EXPECT_EQ(caught.kind, kind) << caught.text;
    EXPECT_NE(caught.text.find(text), std::string::npos) << caught.text;
  };
  expect(FaultKind::illegal_address, "is no texture object", images.run(nullptr, fetch));
  expect(FaultKind::illegal_address, "is no texture object", images.run(surface, fetch));
  expect(FaultKind::undefined, "a 2D access to an object of shape 3D",
         images.run(images.texture(ImageShape::three), fetch));
  Texture elsewhere = two;
  elsewhere.gpu = 1;
  expect(FaultKind::illegal_address, "belongs to GPU 1", images.run(elsewhere, fetch));
  Texture freed = two;
  freed.levels[0].address += 1 << 20;
  expect(FaultKind::illegal_address, "", images.run(freed, fetch));
  expect(FaultKind::illegal_address, "layer 3 of a texture that has 2",
         images.run(images.texture(ImageShape::layers_of_two),
                    coordinates + "tex.a2d.v4.u32.f32 {%r10, %r11, %r12, %r13}, "
                                  "[%in, {%r3, %f3, %f4, %f4}];\n"));
  const auto at = [](int x, const std::string& type) {
    return zeros + "mov.u32 %r3, " + std::to_string(x) + "; mov.u32 %r4, 0;\nsuld.b.2d." + type +
           " {%r10}, [%in, {%r3, %r4}];\n";
  };
  expect(FaultKind::illegal_address, "outside of a surface",
         images.run(surface, at(16, "b32.trap")));
  expect(FaultKind::misaligned_address, "multiple of 4", images.run(surface, at(2, "b32.trap")));
}

TEST(Images, RefusedForms) {
  for (const char* code :
       {"tex.2d.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%in, {%f3}];",
        "tex.2d.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%in, %out, {%f3, %f4}];",
        "tex.2d.v4.u32.f64 {%r10, %r11, %r12, %r13}, [%in, {%d3, %d4}];",
        "tex.2d.v4.u32.f32 {%r10, %r11}, [%in, {%f3, %f4}];",
        "tex.2dms.v4.u32.f32 {%r10, %r11, %r12, %r13}, [%in, {%f3, %f4}];",
        "tld4.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%in, {%f3, %f4}];",
        "txq.channel_order.b32 %r10, [%in];", "suld.p.2d.b32.trap {%r10}, [%in, {%r3, %r4}];",
        "suld.b.2d.f32.trap {%f3}, [%in, {%r3, %r4}];", "ld.global.u32 %r10, [%in, {%r3}];"}) {
    Images images;
    const Caught caught = images.run(images.texture(ImageShape::two), zeros + code + "\n");
    EXPECT_TRUE(caught.any && caught.kind == FaultKind::illegal_instruction) << code;
  }
}

// Texels are memory: nothing has written some, and threads race for others.
TEST(Images, FollowUnwrittenTexels) {
  Images images(ChannelKind::floating);
  const auto memory = images.device.allocate(64);
  images.device.memory().view(memory, 32, Access::write, host, "test");  // half of it
  Texture texture = images.texture(ImageShape::two);
  texture.levels[0].address = memory;
  texture.levels[0].size = {4, 4, 1};
  const auto fetch = [](const char* y, const char* use) {
    return zeros + std::string("mov.f32 %f3, 0f3F000000; mov.f32 %f4, ") + y +
           ";\ntex.2d.v4.f32.f32 {%f7, %f8, %f9, %f10}, [%in, {%f3, %f4}];\n" + use + "\n";
  };
  const char* const copy = "mov.b32 %r10, %f7;";
  const char* const sum = "add.f32 %f7, %f7, %f7; mov.b32 %r10, %f7;";
  EXPECT_FALSE(images.run(texture, fetch("0f3FC00000", sum)).any);  // y = 1.5
  // A copy takes its marks along.
  EXPECT_FALSE(images.run(texture, fetch("0f40200000", copy)).any);  // y = 2.5
  EXPECT_FALSE(images.device.memory().is_initialised(images.out, 4));
  EXPECT_EQ(images.run(texture, fetch("0f40200000", sum)).kind, FaultKind::uninitialised_read);
  texture.is_filtered = true;
  EXPECT_FALSE(images.run(texture, fetch("0f3FC00000", copy)).any);
  EXPECT_TRUE(images.device.memory().is_initialised(images.out, 4));
  EXPECT_EQ(images.run(texture, fetch("0f40000000", copy)).kind, FaultKind::uninitialised_read);
  const Surface surface{.shape = ImageShape::two, .image = texture.levels[0]};
  const std::string store = "mov.u32 %r3, 0;\nsust.b.2d.b32.trap [%in, {%r3, %r3}], {%r10};\n";
  EXPECT_FALSE(images.run(surface, zeros + store).any);
  EXPECT_TRUE(images.device.memory().is_initialised(memory, 4));
  const std::string load =
      "mov.u32 %r4, 2;\nmov.u32 %r3, 0;\nsuld.b.2d.b32.trap {%r10}, [%in, {%r3, %r4}];\n";
  EXPECT_FALSE(images.run(surface, zeros + load + store).any);
  EXPECT_FALSE(images.device.memory().is_initialised(memory, 4));
  EXPECT_EQ(images.run(surface, zeros + load + "add.u32 %r10, %r10, 1;\n" + store).kind,
            FaultKind::uninitialised_read);
}

TEST(Images, FindRaces) {
  Images images;
  const Surface surface{.shape = ImageShape::two, .image = images.image};
  const std::string store = zeros +
                            "mov.u32 %r3, 0;\n"
                            "sust.b.2d.b32.trap [%in, {%r3, %r3}], {%r0};\n";
  EXPECT_FALSE(images.run(surface, store).any);
  EXPECT_EQ(images.run(surface, store, 1, 2).kind, FaultKind::race);
  const std::string load = zeros +
                           "mov.u32 %r3, 0; setp.eq.u32 %p1, %r0, 0;\n"
                           "@%p1 sust.b.2d.b32.trap [%in, {%r3, %r3}], {%r0};\n"
                           "@!%p1 suld.b.2d.b32.trap {%r10}, [%in, {%r3, %r3}];\n";
  EXPECT_EQ(images.run(surface, load, 1, 2).kind, FaultKind::race);
}

}  // namespace
}  // namespace emulator::test
