#include "lumen/codegen/cuda_text.h"

namespace lumen::cuda_text {

// A key with the place it is from: no two are equal, so that any sort of them is stable.
const char* const kSort = R"C(
typedef uint64_t LumenPlaced32;
struct __align__(16) LumenPlaced64 {
  uint64_t key;
  uint64_t place;
};
LUMEN_FN LumenPlaced32 lumen_placed(uint32_t key, uint32_t place) { return (uint64_t)key << 32 | place; }
LUMEN_FN LumenPlaced64 lumen_placed(uint64_t key, uint32_t place) { return LumenPlaced64{key, place}; }
LUMEN_FN void lumen_place_last(LumenPlaced32& x, uint32_t place) { x = lumen_placed(~(uint32_t)0, place); }
LUMEN_FN void lumen_place_last(LumenPlaced64& x, uint32_t place) { x = lumen_placed(~(uint64_t)0, place); }
LUMEN_FN uint32_t lumen_place(LumenPlaced32 x) { return (uint32_t)x; }
LUMEN_FN uint32_t lumen_place(LumenPlaced64 x) { return (uint32_t)x.place; }
LUMEN_FN bool lumen_is_before(LumenPlaced32 a, LumenPlaced32 b) { return a < b; }
LUMEN_FN bool lumen_is_before(LumenPlaced64 a, LumenPlaced64 b) {
  return a.key < b.key || (a.key == b.key && a.place < b.place);
}

// Both are for all threads of a block, and give what all of them may read.
//
// Every element counts those before it, and goes there: behind the others, where there is as much room again.
template <class Placed>
LUMEN_FN const Placed* lumen_sort_by_counting(const Placed* x, int count) {
  Placed* const sorted = (Placed*)x + count;
  __syncthreads();
  for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x) {
    const Placed mine = x[i];
    int before = 0;
    LUMEN_UNROLL_BY(8) for (int j = 0; j < count; ++j) before += lumen_is_before(x[j], mine) ? 1 : 0;
    sorted[before] = mine;
  }
  __syncthreads();
  return sorted;
}

// Bitonic, in place, with room for the next power of two. What is at most 32 apart is within 64 elements that belong to
// one warp in every step, so that only its lanes wait for each other.
template <class Placed>
LUMEN_FN const Placed* lumen_sort_by_merging(Placed* x, int count) {
  int size = 64;
  while (size < count) size *= 2;
  for (int i = count + (int)threadIdx.x; i < size; i += (int)blockDim.x) lumen_place_last(x[i], (uint32_t)i);
  __syncthreads();
  for (int run = 2; run <= size; run *= 2) {
    for (int apart = run / 2; apart > 0; apart /= 2) {
      for (int pair = (int)threadIdx.x; pair < size / 2; pair += (int)blockDim.x) {
        const int low = 2 * pair - (pair & (apart - 1)), high = low + apart;
        const Placed a = x[low], b = x[high];
        if (lumen_is_before(b, a) == ((low & run) == 0)) x[low] = b, x[high] = a;
      }
      const int next = apart > 1 ? apart / 2 : run;
      if (apart > 32 || next > 32) {
        __syncthreads();
      } else {
        __syncwarp();
      }
    }
  }
  __syncthreads();
  return x;
}
)C";

}  // namespace lumen::cuda_text
