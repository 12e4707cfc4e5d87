// Correct kernels in the ways that people write them: none of them may be reported.

__device__ int warp_sum(int value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xFFFFFFFFu, value, step);
  return value;
}

extern "C" __global__ void block_reduce_shuffles(const int* in, int* out) {
  __shared__ int parts[32];
  const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32;
  int value = warp_sum(in[blockIdx.x * blockDim.x + t]);
  if (lane == 0) parts[warp] = value;
  __syncthreads();
  if (warp == 0) {
    value = lane < blockDim.x / 32 ? parts[lane] : 0;
    value = warp_sum(value);
    if (lane == 0) out[blockIdx.x] = value;
  }
}

extern "C" __global__ void tree_reduce(const int* in, int* out) {
  extern __shared__ int tree[];
  const unsigned t = threadIdx.x;
  tree[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) tree[t] += tree[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = tree[0];
}

constexpr int tile = 32, rows_per_pass = 8;

// blockDim = (32, 8); one column of padding against bank conflicts.
extern "C" __global__ void transpose(const float* in, float* out, int width, int height) {
  __shared__ float place[tile][tile + 1];
  const int x = static_cast<int>(blockIdx.x) * tile + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y) * tile + static_cast<int>(threadIdx.y);
  for (int i = 0; i < tile; i += rows_per_pass) {
    if (x < width && y + i < height) place[threadIdx.y + i][threadIdx.x] = in[(y + i) * width + x];
  }
  __syncthreads();
  const int to_x = static_cast<int>(blockIdx.y) * tile + static_cast<int>(threadIdx.x);
  const int to_y = static_cast<int>(blockIdx.x) * tile + static_cast<int>(threadIdx.y);
  for (int i = 0; i < tile; i += rows_per_pass) {
    if (to_x < height && to_y + i < width) {
      out[(to_y + i) * height + to_x] = place[threadIdx.x][threadIdx.y + i];
    }
  }
}

// Hillis and Steele, in place between two barriers.
extern "C" __global__ void block_scan(const int* in, int* out) {
  __shared__ int place[256];
  const unsigned t = threadIdx.x;
  place[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned step = 1; step < blockDim.x; step *= 2) {
    const int other = t >= step ? place[t - step] : 0;
    __syncthreads();
    place[t] += other;
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + t] = place[t];
}

// Compaction: one atomic for the lanes of a warp that keep their value.
extern "C" __global__ void warp_aggregated(const int* in, int* out, int* count, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const bool keep = i < n && in[i] > 0;
  const unsigned keepers = __ballot_sync(0xFFFFFFFFu, keep);
  if (!keep) return;
  const unsigned lane = threadIdx.x % 32;
  const int leader = __ffs(static_cast<int>(keepers)) - 1;
  int base = 0;
  if (static_cast<int>(lane) == leader) base = atomicAdd(count, __popc(keepers));
  base = __shfl_sync(keepers, base, leader);
  out[base + __popc(keepers & ((1u << lane) - 1))] = in[i];
}

// Does so with the mask that happens to be active.
extern "C" __global__ void warp_aggregated_by_activemask(const int* in, int* count) {
  if (in[blockIdx.x * blockDim.x + threadIdx.x] <= 0) return;
  const unsigned active = __activemask();
  const int leader = __ffs(static_cast<int>(active)) - 1;
  if (static_cast<int>(threadIdx.x % 32) == leader) atomicAdd(count, __popc(active));
}

constexpr unsigned not_ready = 0, has_sum = 1, has_prefix = 2;

// Merrill and Garland's scan across blocks; a ticket orders them. Value and flag lie apart, with
// fences between them.
template <class Value>
__device__ void scan_by_look_back(const int* in, int* out, unsigned* ticket,
                                  volatile unsigned* flags, Value* sums, Value* prefixes) {
  __shared__ unsigned rank;
  __shared__ int before;
  if (threadIdx.x == 0) rank = atomicAdd(ticket, 1u);
  __syncthreads();
  const unsigned block = rank;
  const int value = in[block * 32 + threadIdx.x];
  int scanned = value;
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(0xFFFFFFFFu, scanned, step);
    if (static_cast<int>(threadIdx.x) >= step) scanned += other;
  }
  if (threadIdx.x == 31) {
    if (block == 0) {
      prefixes[0] = scanned;
      __threadfence();
      flags[0] = has_prefix;
      before = 0;
    } else {
      sums[block] = scanned;
      __threadfence();
      flags[block] = has_sum;
      int sum = 0;
      for (unsigned at = block - 1;; --at) {
        unsigned flag = not_ready;
        while ((flag = flags[at]) == not_ready) {
        }
        __threadfence();
        if (flag == has_prefix) {
          sum += prefixes[at];
          break;
        }
        sum += sums[at];
      }
      prefixes[block] = sum + scanned;
      __threadfence();
      flags[block] = has_prefix;
      before = sum;
    }
  }
  __syncthreads();
  out[block * 32 + threadIdx.x] = before + scanned;
}

extern "C" __global__ void look_back(const int* in, int* out, unsigned* ticket,
                                     volatile unsigned* flags, volatile int* sums,
                                     volatile int* prefixes) {
  scan_by_look_back(in, out, ticket, flags, sums, prefixes);
}

extern "C" __global__ void look_back_at_plain_values(const int* in, int* out, unsigned* ticket,
                                                     volatile unsigned* flags, int* sums,
                                                     int* prefixes) {
  scan_by_look_back(in, out, ticket, flags, sums, prefixes);
}

// Flag and value in one word, so that no fence is needed: CUB's way.
extern "C" __global__ void look_back_packed(const int* in, int* out, unsigned* ticket,
                                            volatile unsigned long long* words) {
  __shared__ unsigned rank;
  __shared__ int before;
  if (threadIdx.x == 0) rank = atomicAdd(ticket, 1u);
  __syncthreads();
  const unsigned block = rank;
  int scanned = in[block * 32 + threadIdx.x];
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(0xFFFFFFFFu, scanned, step);
    if (static_cast<int>(threadIdx.x) >= step) scanned += other;
  }
  const auto packed = [](unsigned flag, int value) {
    return static_cast<unsigned long long>(flag) << 32 | static_cast<unsigned>(value);
  };
  if (threadIdx.x == 31) {
    int sum = 0;
    if (block != 0) {
      words[block] = packed(has_sum, scanned);
      for (unsigned at = block - 1;; --at) {
        unsigned long long word = 0;
        while ((word = words[at]) == 0) __nanosleep(20);
        sum += static_cast<int>(static_cast<unsigned>(word));
        if (word >> 32 == has_prefix) break;
      }
    }
    words[block] = packed(has_prefix, sum + scanned);
    before = sum;
  }
  __syncthreads();
  out[block * 32 + threadIdx.x] = before + scanned;
}

// CUDA's sample threadFenceReduction: all threads of the last block read all parts.
extern "C" __global__ void last_block_reduce(const int* in, volatile int* parts, unsigned* arrived,
                                             int* out) {
  __shared__ bool is_last;
  __shared__ int sums[8];
  const unsigned t = threadIdx.x;
  const int value = warp_sum(in[blockIdx.x * blockDim.x + t]);
  if (t % 32 == 0) sums[t / 32] = value;
  __syncthreads();
  if (t == 0) {
    int sum = 0;
    for (unsigned i = 0; i < blockDim.x / 32; ++i) sum += sums[i];
    parts[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  int sum = 0;
  for (unsigned i = t; i < gridDim.x; i += blockDim.x) sum += parts[i];
  sum = warp_sum(sum);
  if (t % 32 == 0) sums[t / 32] = sum;
  __syncthreads();
  if (t == 0) {
    sum = 0;
    for (unsigned i = 0; i < blockDim.x / 32; ++i) sum += sums[i];
    *out = sum;
  }
}

// One barrier a step: a step reads the buffer that the step before wrote.
extern "C" __global__ void double_buffering(const int* in, int* out, int steps) {
  __shared__ int buffers[2][128];
  const unsigned t = threadIdx.x, n = blockDim.x;
  buffers[0][t] = in[t];
  __syncthreads();
  for (int step = 0; step < steps; ++step) {
    const int* from = buffers[step % 2];
    buffers[1 - step % 2][t] = from[t] + from[(t + 1) % n];
    __syncthreads();
  }
  out[t] = buffers[steps % 2][t];
}

// A producer and a consumer warp with named barriers.
extern "C" __global__ void named_barriers(int* out) {
  __shared__ int place[32];
  if (threadIdx.x < 32) {
    for (int round = 0; round < 4; ++round) {
      place[threadIdx.x] = round * 100 + static_cast<int>(threadIdx.x);
      asm volatile("bar.arrive 1, 64;" ::: "memory");
      asm volatile("bar.sync 2, 64;" ::: "memory");
    }
  } else {
    int sum = 0;
    for (int round = 0; round < 4; ++round) {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      sum += place[threadIdx.x ^ 63];
      asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
    out[threadIdx.x - 32] = sum;
  }
}

// Threads that write the bytes and halves of the same words, which is no race.
extern "C" __global__ void neighbouring_bytes(unsigned char* bytes, unsigned short* halves) {
  __shared__ unsigned char place[256];
  const unsigned t = threadIdx.x;
  place[t] = static_cast<unsigned char>(t);
  __syncthreads();
  bytes[blockIdx.x * blockDim.x + t] = place[t ^ 1];
  halves[blockIdx.x * blockDim.x + t] = static_cast<unsigned short>(t);
}

// Early return of some threads before a barrier of the others' warps.
extern "C" __global__ void early_return(const int* in, int* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const unsigned mask = __ballot_sync(__activemask(), true);
  out[i] = in[i] + (mask != 0 ? 1 : 0);
}
