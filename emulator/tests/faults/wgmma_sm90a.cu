// Mistakes with products of warpgroups, and the same without. `mistake` chooses among them.
#include "emulator/tests/faults/wgmma.cuh"

namespace {

struct Factors {
  std::uint16_t a[64 * wgmma::k], b[wgmma::n * wgmma::k];
};

constexpr std::uint16_t one = 0x3c00;  // of f16

// All threads of a block of 128 or 256.
__device__ void fill(Factors& factors) {
  for (unsigned i = threadIdx.x; i < 64 * wgmma::k; i += blockDim.x)
    factors.a[wgmma::place(i / wgmma::k, i % wgmma::k)] = one;
  for (unsigned i = threadIdx.x; i < wgmma::n * wgmma::k; i += blockDim.x)
    factors.b[wgmma::place(i / wgmma::k, i % wgmma::k)] = one;
}

__device__ void publish() {
  wgmma::fence_proxy();
  __syncthreads();
}

__device__ void store(float* out, const float (&d)[wgmma::sums]) {
  float sum = 0;
  for (const float each : d) sum += each;
  out[threadIdx.x] = sum;
}

}  // namespace

// 1: reads a sum before the wait; 2: waits for the group before; 3: no wgmma.fence; 4: changes a
// sum behind it; 5: a product of another shape without a fence; 6: the same shape twice is right.
extern "C" __global__ void registers(float* out, int mistake) {
  __shared__ alignas(128) Factors factors;
  fill(factors);
  publish();
  const std::uint64_t a = wgmma::descriptor(factors.a), b = wgmma::descriptor(factors.b);
  float d[wgmma::sums] = {};
  for (float& each : d) wgmma::add(each, 1);
  if (mistake != 3) wgmma::fence();
  if (mistake == 4) wgmma::add(d[3], 1);
  wgmma::multiply(d, a, b);
  if (mistake == 5) wgmma::multiply_narrow(d, a, b);
  if (mistake == 6) wgmma::multiply(d, a, b);
  wgmma::commit();
  if (mistake == 1) wgmma::add(d[7], 1);
  if (mistake == 2)
    wgmma::wait<1>();
  else
    wgmma::wait<0>();
  wgmma::add(d[0], 0);
  wgmma::wait<0>();
  store(out, d);
}

// Factors in registers. 1: changes one before the wait; 2: behind the fence.
extern "C" __global__ void factors_in_registers(float* out, int mistake) {
  __shared__ alignas(128) Factors factors;
  fill(factors);
  publish();
  float d[wgmma::sums] = {};
  unsigned a[4];
  for (unsigned& each : a)
    asm volatile("add.u32 %0, %1, 0x3c003c00;" : "=r"(each) : "r"(threadIdx.x / 256));
  wgmma::fence();
  if (mistake == 2) asm volatile("add.u32 %0, %0, 0;" : "+r"(a[2]));
  wgmma::multiply_registers(d, a, wgmma::descriptor(factors.b));
  wgmma::commit();
  if (mistake == 1) asm volatile("add.u32 %0, %0, 0;" : "+r"(a[1]));
  wgmma::wait<0>();
  store(out, d);
}

// 1: no fence.proxy.async; 2: no barrier; 3: writes before the wait; 4: behind the end of shared
// memory; 5: where nothing has been written; 6: a descriptor with a bit that means nothing; 7: it
// differs between warps. -1: writes behind the wait.
extern "C" __global__ void shared_memory(float* out, int mistake) {
  __shared__ alignas(128) Factors factors;
  __shared__ alignas(128) std::uint16_t nothing[wgmma::n * wgmma::k];
  if (mistake == 100) nothing[threadIdx.x] = one;
  fill(factors);
  if (mistake != 1) wgmma::fence_proxy();
  if (mistake != 2) __syncthreads();
  std::uint64_t a = wgmma::descriptor(factors.a), b = wgmma::descriptor(factors.b);
  if (mistake == 4) b += 32 * 1024 >> 4;
  if (mistake == 5) b = wgmma::descriptor(nothing);
  if (mistake == 6) a |= std::uint64_t{1} << 53;
  if (mistake == 7 && threadIdx.x >= 96) b += 1;
  float d[wgmma::sums];
  wgmma::fence();
  wgmma::multiply(d, a, b, 0);
  wgmma::commit();
  if (mistake == 3) factors.b[threadIdx.x] = one + 1;
  wgmma::wait<0>();
  if (mistake == -1) factors.b[threadIdx.x] = one + 1;
  store(out, d);
}

// The second warpgroup writes what the first one multiplies. 1: without a barrier; 2: the barrier
// comes before the wait.
extern "C" __global__ void two_warpgroups(float* out, int mistake) {
  __shared__ alignas(128) Factors factors;
  fill(factors);
  publish();
  float d[wgmma::sums] = {};
  if (threadIdx.x < 128) {
    wgmma::fence();
    wgmma::multiply(d, wgmma::descriptor(factors.a), wgmma::descriptor(factors.b), 0);
    wgmma::commit();
    if (mistake == 2) asm volatile("barrier.sync 1, 256;" ::: "memory");
    wgmma::wait<0>();
  } else if (mistake == 2) {
    asm volatile("barrier.sync 1, 256;" ::: "memory");
  }
  if (mistake == 0) asm volatile("barrier.sync 1, 256;" ::: "memory");
  if (threadIdx.x >= 128) factors.b[threadIdx.x - 128] = one + 1;
  store(out, d);
}

// A bulk copy brings a factor, without a fence.proxy.async. 1: one warp alone waits for it.
extern "C" __global__ void bulk_factors(const std::uint16_t* in, float* out, int mistake) {
  __shared__ alignas(128) Factors factors;
  __shared__ std::uint64_t barrier;
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
  for (unsigned i = threadIdx.x; i < 64 * wgmma::k; i += blockDim.x) factors.a[i] = one;
  publish();
  if (threadIdx.x == 0)
    asm volatile(
        "mbarrier.arrive.expect_tx.shared.b64 _, [%0], %3;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%1], [%2], %3, [%0];" ::
            "r"(at),
        "r"(static_cast<unsigned>(__cvta_generic_to_shared(factors.b))), "l"(in),
        "r"(static_cast<unsigned>(sizeof factors.b))
        : "memory");
  unsigned done = mistake == 1 && threadIdx.x >= 32 ? 1 : 0;
  while (done == 0)
    asm volatile(
        "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], 0;\n"
        "selp.u32 %0, 1, 0, p;\n}"
        : "=r"(done)
        : "r"(at)
        : "memory");
  float d[wgmma::sums];
  wgmma::fence();
  wgmma::multiply(d, wgmma::descriptor(factors.a), wgmma::descriptor(factors.b), 0);
  wgmma::commit();
  wgmma::wait<0>();
  store(out, d);
}

// One thread of the first warpgroup tells the second one by an mbarrier, as pipelines do.
// 1: before the wait.
extern "C" __global__ void announced(float* out, int mistake) {
  __shared__ alignas(128) Factors factors;
  __shared__ std::uint64_t barrier;
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
  fill(factors);
  publish();
  float d[wgmma::sums] = {};
  const auto arrive = [&] {
    if (threadIdx.x == 77)
      asm volatile("{\n.reg .b64 s;\nmbarrier.arrive.shared.b64 s, [%0];\n}" ::"r"(at) : "memory");
  };
  if (threadIdx.x < 128) {
    wgmma::fence();
    wgmma::multiply(d, wgmma::descriptor(factors.a), wgmma::descriptor(factors.b), 0);
    wgmma::commit();
    if (mistake == 1) arrive();
    wgmma::wait<0>();
    if (mistake == 0) arrive();
  } else {
    unsigned done = 0;
    while (done == 0)
      asm volatile(
          "{\n.reg .pred p;\nmbarrier.try_wait.parity.shared.b64 p, [%1], 0;\n"
          "selp.u32 %0, 1, 0, p;\n}"
          : "=r"(done)
          : "r"(at)
          : "memory");
    factors.b[threadIdx.x - 128] = one + 1;
  }
  store(out, d);
}

// 1: a warp leaves out the product; 2: it has another one in its place; 3: it ends before. 4 and 5:
// it leaves out what follows the fence, or ends before, and nothing waits.
extern "C" __global__ void warps(float* out, int mistake) {
  __shared__ alignas(128) Factors factors;
  fill(factors);
  publish();
  const std::uint64_t a = wgmma::descriptor(factors.a), b = wgmma::descriptor(factors.b);
  const bool is_odd = threadIdx.x >= 64 && threadIdx.x < 96;
  float d[wgmma::sums] = {};
  if ((mistake == 3 || mistake == 5) && is_odd) return;
  wgmma::fence();
  if (mistake == 2 && is_odd)
    wgmma::multiply_narrow(d, a, b);
  else if ((mistake != 1 && mistake != 4) || !is_odd)
    wgmma::multiply(d, a, b);
  if (mistake >= 4) return;
  wgmma::commit();
  wgmma::wait<0>();
  store(out, d);
}

// Two groups. 1: the second one's sums behind a wait for the first one.
extern "C" __global__ void two_groups(float* out, int mistake) {
  __shared__ alignas(128) Factors factors;
  fill(factors);
  publish();
  const std::uint64_t a = wgmma::descriptor(factors.a), b = wgmma::descriptor(factors.b);
  float d[wgmma::sums] = {}, e[wgmma::sums] = {};
  wgmma::fence();
  wgmma::multiply(d, a, b);
  wgmma::commit();
  wgmma::multiply(e, a, b);
  wgmma::commit();
  wgmma::wait<1>();
  for (float& each : d) wgmma::add(each, 1);
  if (mistake == 1) wgmma::add(e[5], 1);
  wgmma::wait<0>();
  for (unsigned i = 0; i < wgmma::sums; ++i) d[i] += e[i];
  store(out, d);
}

// A function that is called multiplies, and its caller waits. 1: the function returns sums that are
// not there yet.
__device__ __noinline__ float multiply_in_function(std::uint64_t a, std::uint64_t b, int waits) {
  float d[wgmma::sums] = {};
  wgmma::fence();
  wgmma::multiply(d, a, b);
  wgmma::commit();
  if (waits != 0) {
    wgmma::wait<0>();
    return d[0] + d[1] + d[2] + d[3] + d[4] + d[5] + d[6] + d[7];
  }
  return 0;
}
extern "C" __global__ void in_function(float* out, int mistake) {
  __shared__ alignas(128) Factors factors;
  fill(factors);
  publish();
  out[threadIdx.x] = multiply_in_function(wgmma::descriptor(factors.a),
                                          wgmma::descriptor(factors.b), mistake == 0);
  wgmma::wait<0>();
}

// Sums that nothing has written. 1: they are added to; 2: factors are like that.
extern "C" __global__ void undefined(float* out, const float* nothing, int mistake) {
  __shared__ alignas(128) Factors factors;
  fill(factors);
  publish();
  float d[wgmma::sums];
  for (unsigned i = 0; i < wgmma::sums; ++i) d[i] = nothing[i];
  unsigned a[4];
  for (unsigned i = 0; i < 4; ++i) a[i] = mistake == 2 ? __float_as_uint(nothing[i]) : 0x3c003c00;
  wgmma::fence();
  if (mistake == 2) {
    for (float& each : d) each = 0;
    wgmma::multiply_registers(d, a, wgmma::descriptor(factors.b));
  } else {
    wgmma::multiply(d, wgmma::descriptor(factors.a), wgmma::descriptor(factors.b), mistake);
  }
  wgmma::commit();
  wgmma::wait<0>();
  store(out, d);
}

// 1: without a barrier between two; 2: releases more registers than the warps have.
extern "C" __global__ void counts_of_registers(float* out, int mistake) {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
  if (mistake != 1) __syncthreads();
  if (mistake == 2)
    asm volatile("setmaxnreg.dec.sync.aligned.u32 48;");
  else
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  out[threadIdx.x] = 0;
}
