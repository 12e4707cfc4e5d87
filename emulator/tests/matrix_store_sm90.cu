// Stores fragments of an accumulator of 16 x 16 halves as a matrix, and its transpose.
extern "C" __global__ void store_fragments(const unsigned* fragments, uint4* matrix,
                                           uint4* transpose) {
  __shared__ __align__(16) unsigned short tiles[2][16][16];
  const int lane = threadIdx.x;
  unsigned x[4];
  for (int i = 0; i < 4; ++i) x[i] = fragments[lane * 4 + i];
  // Quarters: upper left, lower left, upper right, lower right.
  const int row = lane % 8 + lane / 8 % 2 * 8, column = lane / 16 * 8;
  const auto plain = static_cast<unsigned>(__cvta_generic_to_shared(&tiles[0][row][column]));
  const auto turned = static_cast<unsigned>(
      __cvta_generic_to_shared(&tiles[1][lane % 8 + column][lane / 8 % 2 * 8]));
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(plain),
               "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])
               : "memory");
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(turned),
      "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])
      : "memory");
  __syncwarp();
  matrix[lane] = reinterpret_cast<const uint4*>(tiles[0])[lane];
  transpose[lane] = reinterpret_cast<const uint4*>(tiles[1])[lane];
}
