// Tells the processor that a loop only waits, so that it leaves room to others on its core.
#pragma once

namespace lumen {

inline void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // some ten cycles; `yield` is none
#endif
}

}  // namespace lumen
