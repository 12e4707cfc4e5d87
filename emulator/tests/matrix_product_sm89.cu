// c += a b of 64 x 64 x 64, a by rows and b by columns, in 8-bit floats. Each of 4 warps computes
// 16 rows.
extern "C" __global__ void mma_e4m3(const unsigned* a, const unsigned* b, float* c) {
  constexpr int n = 64, words = n / 4;
  const int lane = threadIdx.x % 32, row = 16 * (threadIdx.x / 32) + lane / 4, word = lane % 4;
  for (int column = 0; column < n; column += 8) {
    float* at = c + row * n + column + word * 2;
    float sums[] = {at[0], at[1], at[8 * n], at[8 * n + 1]};
    for (int l = 0; l < words; l += 8) {
      const unsigned* x = a + row * words + l + word;
      const unsigned* y = b + (column + lane / 4) * words + l + word;
      asm volatile(
          "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
          "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
          : "r"(x[0]), "r"(x[8 * words]), "r"(x[4]), "r"(x[8 * words + 4]), "r"(y[0]), "r"(y[4]));
    }
    at[0] = sums[0], at[1] = sums[1], at[8 * n] = sums[2], at[8 * n + 1] = sums[3];
  }
}
