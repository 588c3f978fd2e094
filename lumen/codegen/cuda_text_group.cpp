#include <fmt/format.h>

#include "lumen/codegen/cuda_text.h"

namespace lumen::cuda_text {

namespace {

// What differs between a GPU and the emulator, whose part is in tests/codegen/cuda_words.h: that one reads shared
// memory by descriptors as the instruction set defines them, and notices operands that change too early.
const char* const kWords = R"C(
// Products of four warps, a group, that run on while its threads do (Hopper's wgmma): c += a * b, where a is 64 x 16 and
// b 16 x n. Each warp has 16 rows of c and of a fragment of a, as lumen_multiply has them for every 8 columns.
#if defined(LUMEN_EMULATED) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
// A matrix in shared memory, `at` bytes behind the beginning of a tile at a multiple of 1024: lines of 128 bytes, whose
// pieces of 16 bytes are exchanged by the lowest three bits of the line, and `further` bytes from a line to its next
// 128 bytes.
LUMEN_FN uint64_t lumen_describe(const void* tile, uint32_t at, uint32_t further) {
#ifdef LUMEN_EMULATED
  const uint32_t address = lumen_emulator::shared_address(tile);
#else
  const uint32_t address = (uint32_t)__cvta_generic_to_shared(tile);
#endif
  const uint32_t low = ((address & 0x3ffff) >> 4 | further >> 4 << 16) + (at >> 4);
  return (uint64_t)(1024 >> 4 | 1 << 30) << 32 | low;
}
// What the thread has written to shared memory, or copied there, is seen by products, after a barrier.
LUMEN_FN void lumen_show_products(void) {
#ifdef LUMEN_EMULATED
  lumen_emulator::show_products();
#else
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
// Before the first of several products, when the registers they use are written.
LUMEN_FN void lumen_begin_products(void) {
#ifdef LUMEN_EMULATED
  lumen_emulator::begin_products();
#else
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
LUMEN_FN void lumen_commit_products(void) {
#ifdef LUMEN_EMULATED
  lumen_emulator::commit_products();
#else
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
// Until all but the last `behind` commits are done: until then nobody touches what they use.
template <int behind>
LUMEN_FN void lumen_wait_for_products(void) {
#ifdef LUMEN_EMULATED
  lumen_emulator::finish_products(behind);
#else
  asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(behind) : "memory");
#endif
}
// Registers are what they are here: no statement that uses them is moved to the other side.
template <int count>
LUMEN_FN void lumen_pin(float* c) {
#ifndef LUMEN_EMULATED
  LUMEN_UNROLL for (int k = 0; k < count; ++k) asm volatile("" : "+f"(c[k]) :: "memory");
#endif
}
template <int count>
LUMEN_FN void lumen_pin(uint32_t* a) {
#ifndef LUMEN_EMULATED
  LUMEN_UNROLL for (int k = 0; k < count; ++k) asm volatile("" : "+r"(a[k]) :: "memory");
#endif
}

// A gate in shared memory opens when `count` threads have arrived, and waits for as many again. Who passes it has seen
// it open as often as `parity` says, which is 0 for the first time, 1 for the second, and so on; before the first time
// parity 1 is let through. What was written before an arrival is seen behind the gate.
LUMEN_FN void lumen_set_gate(uint64_t* gate, int count) {
#ifdef LUMEN_EMULATED
  lumen_emulator::set_gate(gate, count);
#else
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
               :: "r"((uint32_t)__cvta_generic_to_shared(gate)), "r"(count) : "memory");
#endif
}
LUMEN_FN void lumen_arrive(uint64_t* gate) {
#ifdef LUMEN_EMULATED
  lumen_emulator::arrive(gate);
#else
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];"
               :: "r"((uint32_t)__cvta_generic_to_shared(gate)) : "memory");
#endif
}
LUMEN_FN void lumen_pass(uint64_t* gate, int parity) {
#ifdef LUMEN_EMULATED
  lumen_emulator::pass(gate, parity);
#else
  const uint32_t address = (uint32_t)__cvta_generic_to_shared(gate);
  uint32_t open = 0;
  while (open == 0) {
    asm volatile("{\n.reg .pred open;\nmbarrier.try_wait.parity.shared::cta.b64 open, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, open;\n}"
                 : "=r"(open) : "r"(address), "r"(parity) : "memory");
  }
#endif
}
// Some warps of a block meet at one of its 15 numbered places, `threads` in all: those that wait there, and those that
// only let the others go on. Place 0 is __syncthreads().
LUMEN_FN void lumen_meet(int place, int threads) {
#ifdef LUMEN_EMULATED
  lumen_emulator::meet(place, threads, true);
#else
  asm volatile("bar.sync %0, %1;" :: "r"(place), "r"(threads) : "memory");
#endif
}
LUMEN_FN void lumen_let_go(int place, int threads) {
#ifdef LUMEN_EMULATED
  lumen_emulator::meet(place, threads, false);
#else
  asm volatile("bar.arrive %0, %1;" :: "r"(place), "r"(threads) : "memory");
#endif
}
// Registers of each thread of a group from here on: some groups give away what others wait for.
template <int count>
LUMEN_FN void lumen_fewer_registers(void) {
#ifndef LUMEN_EMULATED
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(count));
#endif
}
template <int count>
LUMEN_FN void lumen_more_registers(void) {
#ifndef LUMEN_EMULATED
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(count));
#endif
}
#endif
#ifdef LUMEN_EMULATED
template <int n, int turned_a, int turned_b>
void lumen_group_multiply_bf16(float* c, uint64_t a, uint64_t b, int adds) {
  lumen_emulator::multiply<turned_a, turned_b>(c, n, a, b, adds, [](uint16_t x) { return lumen_load_bf16(x); });
}
template <int n, int turned_a, int turned_b>
void lumen_group_multiply_f16(float* c, uint64_t a, uint64_t b, int adds) {
  lumen_emulator::multiply<turned_a, turned_b>(c, n, a, b, adds, [](uint16_t x) { return lumen_load_f16(x); });
}
template <int n, int turned_b>
void lumen_group_multiply_bf16(float* c, const uint32_t* a, uint64_t b) {
  lumen_emulator::multiply<turned_b>(c, n, a, b, [](uint16_t x) { return lumen_load_bf16(x); });
}
template <int n, int turned_b>
void lumen_group_multiply_f16(float* c, const uint32_t* a, uint64_t b) {
  lumen_emulator::multiply<turned_b>(c, n, a, b, [](uint16_t x) { return lumen_load_f16(x); });
}
#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)
// Of n columns: the left side in shared memory, where c is overwritten unless `adds`; then in registers.
)C";

constexpr int kColumns[] = {64, 128, 256};

// "prefix0suffix, prefix1suffix, …"
std::string list(int count, const char* prefix, const char* suffix) {
  std::string text;
  for (int k = 0; k < count; ++k) text += fmt::format("{}{}{}{}", k == 0 ? "" : ", ", prefix, k, suffix);
  return text;
}

// One function for each dtype and side, with a branch for each number of columns, of which one is left.
std::string word(const char* dtype, bool in_registers) {
  std::string text = fmt::format(
      "template <int n, {}int turned_b>\n"
      "LUMEN_FN void lumen_group_multiply_{}(float* c, {}, uint64_t b{}) {{\n",
      in_registers ? "" : "int turned_a, ", dtype, in_registers ? "const uint32_t* a" : "uint64_t a",
      in_registers ? "" : ", int adds");
  for (const int n : kColumns) {
    const int sums = n / 2;
    const std::string left = in_registers ? fmt::format("{{%{}, %{}, %{}, %{}}}", sums, sums + 1, sums + 2, sums + 3)
                                          : fmt::format("%{}", sums);
    const int next = sums + (in_registers ? 4 : 1);  // operand: the descriptor of b
    text += fmt::format(
        "  if constexpr (n == {n}) {{\n    asm volatile(\"{{\\n.reg .pred adds;\\nsetp.ne.b32 adds, {adds}, 0;\\n"
        "wgmma.mma_async.sync.aligned.m64n{n}k16.f32.{d}.{d} {{{c}}}, {left}, %{b}, adds, 1, 1, {turned};\\n}}\"\n"
        "        : {sums}\n        : {a}, \"l\"(b), {last});\n  }}\n",
        fmt::arg("n", n), fmt::arg("adds", in_registers ? "1" : fmt::format("%{}", next + 1)), fmt::arg("d", dtype),
        fmt::arg("c", list(sums, "%", "")), fmt::arg("left", left), fmt::arg("b", next),
        fmt::arg("turned", in_registers ? fmt::format("%{}", next + 1) : fmt::format("%{}, %{}", next + 2, next + 3)),
        fmt::arg("sums", list(sums, "\"+f\"(c[", "])")),
        fmt::arg("a", in_registers ? list(4, "\"r\"(a[", "])") : "\"l\"(a)"),
        fmt::arg("last", in_registers ? "\"n\"(turned_b)" : "\"r\"(adds), \"n\"(turned_a), \"n\"(turned_b)"));
  }
  return text + "}\n";
}

}  // namespace

std::string group_words() {
  std::string text = kWords;
  for (const char* const dtype : {"bf16", "f16"}) text += word(dtype, false) + word(dtype, true);
  return text + "#endif\n";
}

}  // namespace lumen::cuda_text
