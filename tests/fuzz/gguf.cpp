// Any bytes as a GGUF file: an error, or a file whose every tensor, value and vocabulary can be read.
#include "lumen/import/gguf.h"

#include "lumen/base/check.h"
#include "lumen/import/gguf_vocabulary.h"
#include "lumen/import/model_config.h"
#include "lumen/import/values.h"

namespace {

void read_metadata(const lumen::Gguf& file) {
  for (const auto& [key, value] : file.metadata()) {
    const bool found = file.number(key).ok() || file.boolean(key).ok() || file.string(key).ok() ||
                       file.strings(key).ok() || file.numbers(key).ok();
    CHECK(found || value.type == lumen::GgufType::bool_);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  const auto file = lumen::Gguf::parse(bytes, "fuzz");
  if (!file.ok()) return 0;
  read_metadata(*file);
  for (const auto& [name, entry] : file->entries()) {
    const auto type = lumen::storage_type(entry.type);
    CHECK(entry.bytes.empty() || (entry.bytes.data() >= bytes.data() && entry.bytes.size() <= size));
    if (!type) continue;
    std::vector<float> values(static_cast<size_t>(lumen::count_elements(entry.dims).value()));
    lumen::read_values(*type, entry.bytes, values);
  }
  const auto vocabulary = lumen::vocabulary_of(*file);
  CHECK(!vocabulary.ok() || !vocabulary->tokens.empty());
  const auto config = lumen::model_config_of(*file);
  CHECK(!config.ok() || config->heads % config->key_value_heads == 0);
  return 0;
}
