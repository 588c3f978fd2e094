// What kernels are printed by, so that times of others are told apart.
#pragma once

#include <string_view>

namespace lumen {

// 12 hexadecimal digits that change with the sources of codegen/ and kernel/; cmake/codegen_version.cmake makes it.
std::string_view codegen_version();

}  // namespace lumen
