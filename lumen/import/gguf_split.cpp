#include "lumen/import/gguf_split.h"

#include <fmt/format.h>

namespace lumen {

namespace {

constexpr int64_t kMostParts = 65535;

std::string part_ending(int64_t number, int64_t count) {
  return fmt::format("-{:05}-of-{:05}.gguf", number + 1, count);
}

// Which part of how many a file says it is; 0 of 1 when it says nothing.
Expected<std::pair<int64_t, int64_t>> part_of(const Gguf& file) {
  if (!file.has("split.count")) return std::pair<int64_t, int64_t>(0, 1);
  const int64_t count = LUMEN_TRY(file.integer("split.count"));
  const int64_t number = LUMEN_TRY(file.integer("split.no"));
  if (count >= 1 && count <= kMostParts && number >= 0 && number < count) return std::pair(number, count);
  return error(fmt::format("{}: metadata \"split.no\" is {} and \"split.count\" {}: there is no such part", file.path(),
                           number, count));
}

}  // namespace

Expected<std::vector<std::string>> gguf_parts(const Gguf& file) {
  const auto [number, count] = LUMEN_TRY(part_of(file));
  if (count == 1) return std::vector{file.path()};
  const std::string ending = part_ending(number, count);
  if (!file.path().ends_with(ending)) {
    return error(
        fmt::format("{}: it is part {} of {}, so its name must end in \"{}\"", file.path(), number + 1, count, ending));
  }
  const std::string name = file.path().substr(0, file.path().size() - ending.size());
  std::vector<std::string> paths;
  for (int64_t k = 0; k < count; ++k) paths.push_back(name + part_ending(k, count));
  return paths;
}

Expected<void> check_gguf_part(const Gguf& file, size_t number, size_t count) {
  const auto [own, of] = LUMEN_TRY(part_of(file));
  if (own == static_cast<int64_t>(number) && of == static_cast<int64_t>(count)) return {};
  return error(
      fmt::format("{}: part {} of {} is wanted, this is part {} of {}", file.path(), number + 1, count, own + 1, of));
}

}  // namespace lumen
