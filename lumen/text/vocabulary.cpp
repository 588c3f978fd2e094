#include "lumen/text/vocabulary.h"

#include <fmt/format.h>

namespace lumen::text {

Expected<void> Vocabulary::add(int64_t id, std::string_view text) {
  if (id < 0 || id >= kMaxId) return error(fmt::format("token \"{}\": id {} is out of range", text, id));
  if (has(id)) return error(fmt::format("tokens \"{}\" and \"{}\" have the same id {}", this->text(id), text, id));
  if (id >= size()) texts_.resize(static_cast<size_t>(id) + 1);
  // An empty text is a text too, with an address.
  const std::string_view kept = text.empty() ? std::string_view("", 0) : arena_.copy(text);
  texts_[static_cast<size_t>(id)] = kept;
  ids_.emplace(kept, static_cast<int32_t>(id));
  return {};
}

int32_t Vocabulary::append(std::string_view text) {
  const int32_t id = size();
  add(id, text).value();
  return id;
}

}  // namespace lumen::text
