// Reads of bytes that nothing has written.

extern "C" __global__ void add_one(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x] + 1;
}

// Only even threads write.
extern "C" __global__ void half_written_shared(int* out) {
  __shared__ int place[64];
  const unsigned t = threadIdx.x;
  if (t % 2 == 0) place[t] = static_cast<int>(t);
  __syncthreads();
  out[t] = place[t ^ 1];
}

extern "C" __global__ void written_shared(int* out) {
  __shared__ int place[64];
  const unsigned t = threadIdx.x;
  place[t] = static_cast<int>(t);
  __syncthreads();
  out[t] = place[t ^ 1];
}

extern "C" __global__ void local_array(int* out, int count, int index) {
  int place[8];
  for (int i = 0; i < count; ++i) place[i] = i;
  out[threadIdx.x] = place[index];
}

// An atomic reads what it changes.
extern "C" __global__ void count(int* total) { atomicAdd(total, 1); }

extern "C" __global__ void clear(int* total) { *total = 0; }

// Shared memory of one block is not that of the block before it.
extern "C" __global__ void shared_of_another_block(int* out) {
  __shared__ int place[32];
  if (blockIdx.x == 0) place[threadIdx.x] = 1;
  __syncthreads();
  out[blockIdx.x * 32 + threadIdx.x] = place[threadIdx.x];
}

// One byte of the four is missing.
extern "C" __global__ void write_three_bytes(unsigned char* out) {
  if (threadIdx.x < 3) out[threadIdx.x] = 1;
}

// What follows loads bytes that nothing has written. Ends right: nobody uses them.

struct Pair {
  unsigned char small;
  int large;
};

// Padding goes through shared memory, registers and global memory.
extern "C" __global__ void copy_padding(Pair* out) {
  __shared__ Pair place[32];
  Pair mine;
  mine.small = static_cast<unsigned char>(threadIdx.x);
  mine.large = 1;
  place[threadIdx.x] = mine;
  __syncthreads();
  out[threadIdx.x] = place[31 - threadIdx.x];
}

// Whole words, as a copy by 16 bytes does.
extern "C" __global__ void copy_vectors(const int4* in, int4* out) {
  out[threadIdx.x] = in[threadIdx.x];
}

// Three words of four are written and used; the compiler may load all four.
extern "C" __global__ void three_of_four(int* out) {
  __shared__ __align__(16) int place[4];
  if (threadIdx.x < 3) place[threadIdx.x] = static_cast<int>(threadIdx.x) + 1;
  __syncthreads();
  out[threadIdx.x] = place[0] * 2 + place[1] * 3 + place[2] * 5;
}

// Another thread writes the fourth word meanwhile.
extern "C" __global__ void three_while_a_fourth(int* out) {
  __shared__ __align__(16) int place[4];
  if (threadIdx.x < 3) place[threadIdx.x] = static_cast<int>(threadIdx.x) + 1;
  __syncthreads();
  if (threadIdx.x == 0) place[3] = 7;
  if (threadIdx.x >= 32) out[threadIdx.x] = place[0] * 2 + place[1] * 3 + place[2] * 5;
}

// `in` is written but for its last byte. Bits of the others, by masks, shifts and bytes.
extern "C" __global__ void use_defined_bits(const volatile unsigned* in, unsigned* out) {
  const unsigned word = in[0];
  out[0] = (word & 0xffffff) + 1;
  out[1] = (word << 12 >> 12) * 3;
  out[2] = __byte_perm(word, 0x11223344, 0x5210) + 1;
  out[3] = (word | 0xff000000) + 1;
  out[4] = __float_as_uint(static_cast<float>(word >> 8 & 0xffff));
  out[5] = __popc(word & 0xff00);
}

// Both sides of a choice are computed, and the undefined one is dropped.
extern "C" __global__ void choose_defined(const volatile int* in, int* out, int count) {
  const int value = in[threadIdx.x] * 3 + 1;
  asm volatile("{\n.reg .pred p;\nsetp.lt.s32 p, %1, %2;\nselp.s32 %0, %3, -1, p;\n}"
               : "=r"(out[threadIdx.x])
               : "r"(static_cast<int>(threadIdx.x)), "r"(count), "r"(value));
}

// Lanes 16 to 31 hand undefined values down to lanes 0 to 15, which drop them.
extern "C" __global__ void shuffle_defined(const volatile int* in, int* out) {
  const int value = in[threadIdx.x];
  const int other = __shfl_xor_sync(0xffffffffu, value, 16);
  int kept = threadIdx.x < 16 ? value : other;
  asm volatile("" : "+r"(kept));
  out[threadIdx.x] = kept + 1;
}

struct Three {
  unsigned char bytes[3];
};
__device__ __noinline__ Three pass(Three value) {
  value.bytes[0] = static_cast<unsigned char>(value.bytes[0] + 1);
  return value;
}
extern "C" __global__ void pass_by_value(const Three* in, Three* out) {
  out[threadIdx.x] = pass(in[threadIdx.x]);
}

// What follows uses them.

extern "C" __global__ void branch_on(const int* in, int* out) {
  if (in[threadIdx.x] > 1000) out[threadIdx.x] = 1;
}

extern "C" __global__ void address_by(const int* in, int* out) { out[in[threadIdx.x] & 7] = 1; }

extern "C" __global__ void bits_of_another_byte(const volatile unsigned* in, unsigned* out) {
  out[0] = (in[0] >> 20) + 1;
}

extern "C" __global__ void through_shared(const int* in, int* out) {
  __shared__ int place[64];
  place[threadIdx.x] = in[threadIdx.x] * 5;
  __syncthreads();
  out[threadIdx.x] = place[threadIdx.x ^ 1];
}

extern "C" __global__ void sum_by_shuffles(const float* in, float* out) {
  float sum = in[threadIdx.x];
  for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffffu, sum, by);
  if (threadIdx.x == 0) out[0] = sum;
}

// Nothing was ever stored where this looks: no padding, and no copy of anything.
extern "C" __global__ void copy_of_nothing(int* out) {
  __shared__ int place[64];
  if (threadIdx.x < 32) place[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = place[threadIdx.x];
}

__device__ __noinline__ int twice(int value) { return 2 * value; }
extern "C" __global__ void through_a_call(const int* in, int* out) {
  out[threadIdx.x] = twice(in[threadIdx.x]);
}

extern "C" __global__ void add_to_total(const int* in, int* total) {
  atomicAdd(total, in[threadIdx.x]);
}

// Locks and flags begin so: what the exchange returns, nobody looks at, unless `looks`.
extern "C" __global__ void begin_by_exchange(int* out, int looks) {
  __shared__ int place;
  const int old = atomicExch(&place, 7);
  __syncthreads();
  out[threadIdx.x] = looks ? old : place;
}
