// How some threads of a block wait for others, for the emulator (cuda_words.h includes this): gates in shared memory
// and numbered places to meet at.
#pragma once

namespace lumen_emulator {

// In the eight bytes that a gate has: how many are missing, how many it is for, and how often it has opened.
struct Gate {
  uint16_t missing, count;
  uint32_t openings;
};

inline Gate read_gate(const uint64_t* gate) {
  Gate held;
  memcpy(&held, gate, sizeof held);
  if (held.count == 0 || held.count > kMostThreads || held.missing == 0 || held.missing > held.count)
    fail("a gate that was not set", 0);
  return held;
}
inline void write_gate(uint64_t* gate, const Gate& held) {
  memcpy(gate, &held, sizeof held);
  ++progress;
}
inline void set_gate(uint64_t* gate, int count) {
  check_aligned(gate, 8, 0);
  write_gate(gate, {static_cast<uint16_t>(count), static_cast<uint16_t>(count), 0});
}
inline void arrive(uint64_t* gate) {
  Gate held = read_gate(gate);
  if (--held.missing == 0) held.missing = held.count, ++held.openings;
  write_gate(gate, held);
}
// The gate knows only whether it has opened an even number of times, as on a GPU.
inline void pass(uint64_t* gate, int parity) {
  while (static_cast<int>(read_gate(gate).openings % 2) == parity && message[0] == 0) yield();
  ++progress;
}

constexpr int kPlaces = 16;
struct Place {
  int arrived, threads;
  uint32_t openings;
  bool is_there[kMostThreads];
};
inline Place places[kPlaces];

inline void meet(int place, int threads, bool waits) {
  if (place < 1 || place >= kPlaces) return fail("a place that is not there", place);
  Place& here = places[place];
  if (threads % 32 != 0 || (here.arrived > 0 && here.threads != threads))
    fail("threads that disagree who meets", place);
  if (here.is_there[running]) return fail("a thread that lets others go twice", place);
  const uint32_t before = here.openings;
  here.threads = threads;
  here.is_there[running] = true;
  ++progress;
  if (++here.arrived == threads) {
    here.arrived = 0, ++here.openings;
    memset(here.is_there, 0, sizeof here.is_there);
  }
  while (waits && here.openings == before && message[0] == 0) yield();
  ++progress;
}

}  // namespace lumen_emulator
