// Products of groups of four warps for the emulator (cuda_words.h includes this): descriptors and fragments as the
// instruction set defines them, whatever wrote the tiles. Sums are there when they have been waited for and not before,
// and operands that others write meanwhile are reported.
#pragma once

namespace lumen_emulator {

constexpr int kMostSums = 4;       // of a thread, that are under way
constexpr int kMostWatched = 128;  // operands of a group
struct Products {
  struct {
    float* at;
    int count, commit;
    float held[128];
  } sums[kMostSums];
  struct {
    const uint32_t* registers;  // or, if that is null, a tile
    uint64_t tile;
    bool turned;
    int lanes, commit;
    uint64_t seen;
  } watched[kMostWatched];
  int sum_count, watched_count, commits;
  bool begun;
  bool unshown;  // the thread's copies have come, and no product would see them
};
inline Products products[kMostThreads];

inline uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(reinterpret_cast<const char*>(p) - dynamic_shared);
}

// Element (lane, k) of a tile. Lines are 128 bytes, eight of them 1024; along k, or along the lanes if it is turned.
inline uint16_t described(uint64_t tile, bool turned, int lane, int k) {
  const auto field = [&](int first) { return static_cast<int64_t>(tile >> first & 0x3fff) << 4; };
  const int64_t offset = turned ? lane / 64 * field(16) + k / 8 * field(32) + k % 8 * 128 + lane % 64 * 2
                                : lane / 8 * field(32) + lane % 8 * 128 + k * 2;
  int64_t address = field(0) + offset;
  address ^= address >> 7 << 4 & 0x70;
  if (tile >> 62 != 1 || (tile >> 49 & 7) != 0 || address + 2 > kMostShared) {
    fail("a descriptor of something else", 0);
    return 0;
  }
  uint16_t bits;
  memcpy(&bits, dynamic_shared + address, 2);
  return bits;
}

inline uint64_t look_at(const uint32_t* registers, uint64_t tile, bool turned, int lanes) {
  uint64_t seen = 14695981039346656037ull;
  for (int j = 0; registers != nullptr && j < 4; ++j) seen = (seen ^ registers[j]) * 1099511628211ull;
  for (int lane = 0; registers == nullptr && lane < lanes; ++lane) {
    for (int k = 0; k < 16; ++k) seen = (seen ^ described(tile, turned, lane, k)) * 1099511628211ull;
  }
  return seen;
}
inline void watch(const uint32_t* registers, uint64_t tile, bool turned, int lanes) {
  Products& mine = products[running];
  if (registers == nullptr && running % 128 != 0) return;
  if (mine.watched_count == kMostWatched) return fail("more products than are watched", 0);
  mine.watched[mine.watched_count++] = {registers, tile,         turned,
                                        lanes,     mine.commits, look_at(registers, tile, turned, lanes)};
}

inline void show_products() { products[running].unshown = false; }
inline void begin_products() { products[running].begun = true; }
inline void commit_products() { ++products[running].commits; }
inline void finish_products(int behind) {
  exchange(0xffffffffu, 0, 0);  // the lanes of a warp wait for each other
  Products& mine = products[running];
  mine.begun = false;
  int kept = 0;
  for (int k = 0; k < mine.sum_count; ++k) {
    if (mine.sums[k].commit >= mine.commits - behind) {
      mine.sums[kept++] = mine.sums[k];
    } else {
      memcpy(mine.sums[k].at, mine.sums[k].held, sizeof(float) * static_cast<size_t>(mine.sums[k].count));
    }
  }
  mine.sum_count = kept;
  kept = 0;
  for (int k = 0; k < mine.watched_count; ++k) {
    const auto& each = mine.watched[k];
    if (look_at(each.registers, each.tile, each.turned, each.lanes) != each.seen) {
      fail("an operand that was written while it is multiplied", 0);
    }
    if (each.commit >= mine.commits - behind) mine.watched[kept++] = each;
  }
  mine.watched_count = kept;
}

// Where the sums of `c` are until they are waited for.
inline float* sums_of(float* c, int count, bool adds) {
  Products& mine = products[running];
  if (!mine.begun) fail("a product that was not begun", 0);
  for (unsigned t = 0; t < blockDim.x; ++t) {
    if (products[t].unshown) fail("a product of what another thread does not show", 0);
  }
  int k = 0;
  while (k < mine.sum_count && mine.sums[k].at != c) ++k;
  if (k == kMostSums) return fail("more sums than are held", 0), c;
  if (k == mine.sum_count) {
    ++mine.sum_count;
    memcpy(mine.sums[k].held, c, sizeof(float) * static_cast<size_t>(count));
    memset(c, 0xff, sizeof(float) * static_cast<size_t>(count));
  }
  if (!adds) memset(mine.sums[k].held, 0, sizeof mine.sums[k].held);
  mine.sums[k].at = c, mine.sums[k].count = count, mine.sums[k].commit = mine.commits;
  return mine.sums[k].held;
}

// Of rows g and g + 8 of the warp's 16, where the lane is 4 * g + t: columns 2 * t and 2 * t + 1 of every 8.
template <class Load>
void add_products(float* sums, int n, const uint16_t (&left)[2][16], uint64_t b, bool turned, Load load) {
  float rows[2][16];
  for (int j = 0; j < 32; ++j) rows[j / 16][j % 16] = load(left[j / 16][j % 16]);
  for (int j = 0; j < n / 4; ++j) {
    const int column = j / 2 * 8 + running % 4 * 2 + j % 2;
    float sum[2] = {};
    for (int k = 0; k < 16; ++k) {
      const float y = load(described(b, turned, column, k));
      sum[0] += rows[0][k] * y, sum[1] += rows[1][k] * y;
    }
    sums[j / 2 * 4 + j % 2] += sum[0], sums[j / 2 * 4 + 2 + j % 2] += sum[1];
  }
}

struct Left {
  uint32_t registers[4];
  uint64_t a, b;
};
inline Given<Left> meet(const Left& mine) {
  const Given<Left> all = exchange(0xffffffffu, mine, 0);
  if (all[0].a != mine.a || all[0].b != mine.b) fail("a product of different tiles", 0);
  return all;
}

template <int turned_a, int turned_b, class Load>
void multiply(float* c, int n, uint64_t a, uint64_t b, int adds, Load load) {
  meet({{}, a, b});
  uint16_t left[2][16];
  for (int h = 0; h < 2; ++h) {
    const int row = running / 32 % 4 * 16 + h * 8 + running % 32 / 4;
    for (int k = 0; k < 16; ++k) left[h][k] = described(a, turned_a != 0, row, k);
  }
  watch(nullptr, a, turned_a != 0, 64);
  watch(nullptr, b, turned_b != 0, n);
  add_products(sums_of(c, n / 2, adds != 0), n, left, b, turned_b != 0, load);
}

// Register r of a lane has rows g (and g + 8 if it is odd), pairs 2 * t (and 8 further from the third on).
template <int turned_b, class Load>
void multiply(float* c, int n, const uint32_t* a, uint64_t b, Load load) {
  const Given<Left> all = meet({{a[0], a[1], a[2], a[3]}, 0, b});
  uint16_t left[2][16];
  for (int h = 0; h < 2; ++h) {
    for (int k = 0; k < 16; ++k) {
      const uint32_t pair = all[static_cast<unsigned>(running % 32 / 4 * 4 + k % 8 / 2)].registers[h + k / 8 * 2];
      left[h][k] = static_cast<uint16_t>(pair >> k % 2 * 16);
    }
  }
  watch(a, 0, false, 0);
  watch(nullptr, b, turned_b != 0, n);
  add_products(sums_of(c, n / 2, true), n, left, b, turned_b != 0, load);
}

}  // namespace lumen_emulator
