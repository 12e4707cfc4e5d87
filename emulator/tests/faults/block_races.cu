// Blocks of one grid that use the same global memory without order between them.

extern "C" __global__ void plain_histogram(const unsigned* in, int* counts) {
  ++counts[in[blockIdx.x * blockDim.x + threadIdx.x]];
}

extern "C" __global__ void atomic_histogram(const unsigned* in, int* counts) {
  atomicAdd(&counts[in[blockIdx.x * blockDim.x + threadIdx.x]], 1);
}

// The block that arrives last adds the parts of all.
template <bool fence>
__device__ void last_block_sum(const int* in, int* parts, unsigned* arrived, int* out) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    int sum = 0;
    for (unsigned i = 0; i < 32; ++i) sum += in[blockIdx.x * 32 + i];
    parts[blockIdx.x] = sum;
    if (fence) __threadfence();
    is_last = atomicAdd(arrived, 1u) == gridDim.x - 1;
    if (fence) __threadfence();
  }
  __syncthreads();
  if (!is_last || threadIdx.x != 0) return;
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += parts[i];
  *out = sum;
}

extern "C" __global__ void last_without_fence(const int* in, int* parts, unsigned* arrived,
                                              int* out) {
  last_block_sum<false>(in, parts, arrived, out);
}
extern "C" __global__ void last_with_fence(const int* in, int* parts, unsigned* arrived, int* out) {
  last_block_sum<true>(in, parts, arrived, out);
}

// One block hands a value to the other through a flag.
template <bool fence>
__device__ void message(int* data, volatile int* flag, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    *data = 42;
    if (fence) __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    if (fence) __threadfence();
    *out = *data;
  }
}

extern "C" __global__ void message_without_fence(int* data, volatile int* flag, int* out) {
  message<false>(data, flag, out);
}
extern "C" __global__ void message_with_fence(int* data, volatile int* flag, int* out) {
  message<true>(data, flag, out);
}

// One block hands two words to the other. Where each has its flag, the other waits for both.
template <bool flags, bool fence>
__device__ void two_words(volatile unsigned* words, unsigned* out) {
  if (threadIdx.x != 0) return;
  const unsigned flag = 0x100;
  if (blockIdx.x == 0) {
    words[1] = flag | 2;
    if (fence) __threadfence();
    words[0] = flag | 1;
  } else {
    unsigned first = 0;
    while (((first = words[0]) & flag) == 0) {
    }
    if (fence) __threadfence();
    unsigned second = words[1];
    while (flags && (second & flag) == 0) second = words[1];
    out[0] = first;
    out[1] = second;
  }
}

extern "C" __global__ void two_words_with_flags(volatile unsigned* words, unsigned* out) {
  two_words<true, false>(words, out);
}
extern "C" __global__ void two_words_with_fence(volatile unsigned* words, unsigned* out) {
  two_words<false, true>(words, out);
}
extern "C" __global__ void two_words_with_one_flag(volatile unsigned* words, unsigned* out) {
  two_words<false, false>(words, out);
}

// A counter that one thread reads plainly while others add to it.
extern "C" __global__ void read_during_atomics(int* counter, int* out) {
  if (blockIdx.x == 0) {
    out[threadIdx.x] = *counter;
  } else {
    atomicAdd(counter, 1);
  }
}

extern "C" __global__ void read_by_atomics(int* counter, int* out) {
  if (blockIdx.x == 0) {
    out[threadIdx.x] = atomicAdd(counter, 0);
  } else {
    atomicAdd(counter, 1);
  }
}

// Reads what the neighbour writes in the same launch.
extern "C" __global__ void read_neighbour(int* data) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  data[i] = data[(i + blockDim.x) % n] + 1;
}

extern "C" __global__ void read_own(int* data) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] = data[i] + 1;
}

extern "C" __global__ void all_write_one(int* out) {
  if (threadIdx.x == 0) *out = static_cast<int>(blockIdx.x);
}

extern "C" __global__ void one_writes_one(int* out) {
  if (threadIdx.x == 0 && blockIdx.x == 2) *out = 2;
}

// Neighbours of 8 and 16 bits lie in one word. `theirs`: a block changes its neighbour's.
template <class T, bool theirs>
__device__ void change_in_place(T* data) {
  const unsigned b = blockIdx.x;
  if (threadIdx.x == 0) data[theirs ? b ^ 1 : b] = static_cast<T>(data[b] + 1);
}

extern "C" __global__ void own_bytes(unsigned char* data) {
  change_in_place<unsigned char, false>(data);
}
extern "C" __global__ void own_halves(short* data) { change_in_place<short, false>(data); }
extern "C" __global__ void other_bytes(unsigned char* data) {
  change_in_place<unsigned char, true>(data);
}
extern "C" __global__ void other_halves(short* data) { change_in_place<short, true>(data); }

// A block writes halves, the next one reads them as words.
extern "C" __global__ void words_of_halves(short* data, int* out) {
  const unsigned t = threadIdx.x;
  if (blockIdx.x == 0) data[2 * t] = static_cast<short>(t);
  if (blockIdx.x == 1) out[t] = reinterpret_cast<int*>(data)[t];
}

// The programming guide's own loop for an atomic operation that the hardware lacks.
extern "C" __global__ void swap_in_a_loop(float* largest) {
  int* place = reinterpret_cast<int*>(largest);
  const float value = static_cast<float>((blockIdx.x * 37 + threadIdx.x * 11) % 1009);
  int old = *place, seen;
  do {
    seen = old;
    old = atomicCAS(place, seen, __float_as_int(fmaxf(value, __int_as_float(seen))));
  } while (seen != old);
}
extern "C" __global__ void add_in_a_loop(double* sum) {
  auto* place = reinterpret_cast<unsigned long long*>(sum);
  unsigned long long old = *place, seen;
  do {
    seen = old;
    old = atomicCAS(place, seen,
                    __double_as_longlong(1.0 + __longlong_as_double(static_cast<long long>(seen))));
  } while (seen != old);
}
// The read goes to a generic address, the swap to one of global memory: sums of other registers.
extern "C" __global__ void add_to_each(unsigned* sums) {
  unsigned* place = &sums[threadIdx.x];
  unsigned seen;
  asm volatile("ld.global.cg.b32 %0, [%1];" : "=r"(seen) : "l"(place));
  unsigned old = atomicCAS(place, seen, seen + 1);
  while (old != seen) {
    seen = old;
    old = atomicCAS(place, seen, seen + 1);
  }
}
// A read of its neighbour's place, which no swap of that place checks.
extern "C" __global__ void add_beside(unsigned* sums) {
  const unsigned seen = sums[threadIdx.x + 1];
  atomicCAS(&sums[threadIdx.x], seen, seen + blockIdx.x + 1);
}
