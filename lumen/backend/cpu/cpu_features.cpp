#include "lumen/backend/cpu/cpu_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "lumen/base/cpu_share.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace lumen::cpu {
namespace {

#if defined(__x86_64__)

struct Registers {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

// All zero where the processor has no such leaf.
Registers cpuid(unsigned leaf, unsigned subleaf = 0) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

bool bit(unsigned word, int position) { return ((word >> position) & 1U) != 0; }

// XCR0: the register states that the operating system saves.
uint64_t saved_states() {
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

// Linux hands out the 8 KiB of tile state only to a process that asked.
bool ask_for_tiles() {
#if defined(__linux__)
  constexpr long kRequestPermission = 0x1023;
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

std::string text_of(std::initializer_list<unsigned> words) {
  std::string text;
  for (const unsigned word : words) {
    std::array<char, sizeof word> bytes{};
    std::memcpy(bytes.data(), &word, sizeof word);
    text.append(bytes.data(), bytes.size());
  }
  text.erase(std::find(text.begin(), text.end(), '\0'), text.end());
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

void probe_name(CpuFeatures& f) {
  const Registers vendor = cpuid(0);
  f.vendor = text_of({vendor.ebx, vendor.edx, vendor.ecx});
  const unsigned signature = cpuid(1).eax;
  const int base_family = static_cast<int>((signature >> 8) & 0xf);
  f.family = base_family + (base_family == 0xf ? static_cast<int>((signature >> 20) & 0xff) : 0);
  f.model_number = static_cast<int>((signature >> 4) & 0xf);
  if (base_family == 0x6 || base_family == 0xf) f.model_number += static_cast<int>((signature >> 16) & 0xf) << 4;
  f.stepping = static_cast<int>(signature & 0xf);
  const Registers a = cpuid(0x80000002), b = cpuid(0x80000003), c = cpuid(0x80000004);
  f.model = text_of({a.eax, a.ebx, a.ecx, a.edx, b.eax, b.ebx, b.ecx, b.edx, c.eax, c.ebx, c.ecx, c.edx});
}

void probe_instructions(CpuFeatures& f) {
  constexpr uint64_t kAvxStates = 0x6;
  constexpr uint64_t kAvx512States = 0xe6;
  constexpr uint64_t kTileStates = 0x60000;
  const Registers basic = cpuid(1);
  if (!bit(basic.ecx, 27)) return;  // no xgetbv: nothing wide is saved
  const uint64_t saved = saved_states();
  const auto saves = [&](uint64_t states) { return (saved & states) == states; };
  const Registers more = cpuid(7, 0);
  const bool fma = bit(basic.ecx, 12), f16c = bit(basic.ecx, 29);
  f.avx2 = saves(kAvxStates) && fma && f16c && bit(more.ebx, 5);
  f.avx512 = f.avx2 && saves(kAvx512States) && bit(more.ebx, 16) && bit(more.ebx, 17) && bit(more.ebx, 30) &&
             bit(more.ebx, 31);
  f.avx512_bf16 = f.avx512 && bit(cpuid(7, 1).eax, 5);
  f.avx512_fp16 = f.avx512 && bit(more.edx, 23);
  f.avx512_vnni = f.avx512 && bit(more.ecx, 11);
  f.amx_tile = f.avx512 && saves(kTileStates) && bit(more.edx, 24) && ask_for_tiles();
  f.amx_bf16 = f.amx_tile && bit(more.edx, 22);
  f.amx_int8 = f.amx_tile && bit(more.edx, 25);
}

#elif defined(__aarch64__) && defined(__linux__)

std::string implementer_name(unsigned code) {
  switch (code) {
    case 0x41:
      return "ARM";
    case 0x48:
      return "HiSilicon";
    case 0x4e:
      return "NVIDIA";
    case 0x51:
      return "Qualcomm";
    case 0x61:
      return "Apple";
    case 0xc0:
      return "Ampere";
    default:
      return fmt::format("implementer{:02x}", code);
  }
}

// The register that names the processor cannot be read by everyone; where it cannot, Linux has no HWCAP_CPUID.
void probe_name(CpuFeatures& f) {
  if ((getauxval(AT_HWCAP) & HWCAP_CPUID) == 0) return;
  uint64_t name = 0;
  asm("mrs %0, MIDR_EL1" : "=r"(name));
  const auto field = [&](int first, int bits) { return static_cast<int>((name >> first) & ((1U << bits) - 1)); };
  f.vendor = implementer_name(static_cast<unsigned>(field(24, 8)));
  f.family = 8;
  f.model_number = field(4, 12);
  f.stepping = field(20, 4) * 16 + field(0, 4);
  f.model = fmt::format("{} part {:03x} r{}p{}", f.vendor, f.model_number, field(20, 4), field(0, 4));
}
void probe_instructions(CpuFeatures& f) { f.dotprod = (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0; }

#else

void probe_name(CpuFeatures&) {}
void probe_instructions(CpuFeatures&) {}

#endif

Level highest_level(const CpuFeatures& f) {
  if (f.amx_bf16 && f.amx_int8) return Level::amx;
  if (f.avx512) return Level::avx512;
  return f.avx2 ? Level::avx2 : Level::generic;
}

CpuFeatures probe() {
  CpuFeatures f;
  probe_name(f);
  probe_instructions(f);
  f.level = highest_level(f);
  f.cores = usable_cores();
  f.l1d_bytes = cache_bytes(1);
  f.l2_bytes = cache_bytes(2);
  f.l3_bytes = cache_bytes(3);
  return f;
}

}  // namespace

std::string_view level_name(Level level) {
  constexpr std::string_view kNames[] = {"generic", "avx2", "avx512", "amx"};
  return kNames[static_cast<size_t>(level)];
}

Expected<CpuFeatures> CpuFeatures::as_if(Level wanted) const {
  if (wanted > level) {
    return error(fmt::format("[cpu] this processor has level {}, not {}", level_name(level), level_name(wanted)));
  }
  CpuFeatures less = *this;
  less.level = wanted;
  if (wanted < Level::amx) less.amx_tile = less.amx_bf16 = less.amx_int8 = false;
  if (wanted < Level::avx512) less.avx512 = less.avx512_bf16 = less.avx512_fp16 = less.avx512_vnni = false;
  if (wanted < Level::avx2) less.avx2 = less.dotprod = false;
  return less;
}

std::string CpuFeatures::fingerprint() const {
  std::string text = fmt::format("{}-{}.{}.{}-{}", vendor.empty() ? "unknown" : vendor, family, model_number, stepping,
                                 level_name(level));
  if (avx512_bf16) text += "+bf16";
  if (avx512_fp16) text += "+fp16";
  if (avx512_vnni) text += "+vnni";
  if (dotprod) text += "+dotprod";
  return text + fmt::format("-l1d{}k-l2.{}k-l3.{}k", l1d_bytes / 1024, l2_bytes / 1024, l3_bytes / 1024);
}

const CpuFeatures& cpu() {
  static const CpuFeatures kProbed = probe();
  return kProbed;
}

}  // namespace lumen::cpu
