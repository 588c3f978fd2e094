#include <array>
#include <nlohmann/json.hpp>

#include "lumen/text/json_fields.h"
#include "lumen/text/json_parts.h"
#include "lumen/text/utf8.h"

namespace lumen::text {

namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 9> kDecoders = {
    "BPEDecoder", "ByteFallback", "ByteLevel", "Fuse", "Metaspace", "Replace", "Sequence", "Strip", "WordPiece"};

Expected<MakeDecodeStep> read_strip(const JsonObject& object) {
  const std::string content = LUMEN_TRY(object.string("content"));
  const int64_t start = LUMEN_TRY(object.integer("start", 0));
  const int64_t stop = LUMEN_TRY(object.integer("stop", 0));
  if (content.empty() || utf8_size(content, 0) != content.size()) return object.bad("\"content\" is not one character");
  if (start < 0 || stop < 0) return object.bad("\"start\" or \"stop\" is negative");
  return decode_strip(content, static_cast<size_t>(start), static_cast<size_t>(stop));
}

Expected<MakeDecodeStep> read_replace_step(const JsonObject& object) {
  const JsonPattern pattern = LUMEN_TRY(read_pattern(*LUMEN_TRY(object.require("pattern")), object.where()));
  const std::string content = LUMEN_TRY(object.string("content"));
  if (pattern.regex) return object.bad("a Regex pattern is not supported in a decoder; a String is");
  return decode_each([=](std::string_view token) { return replace_all(token, pattern.text, content); });
}

Expected<MakeDecodeStep> read_metaspace_step(const JsonObject& object) {
  const std::string replacement = LUMEN_TRY(object.string("replacement"));
  const bool legacy = LUMEN_TRY(object.boolean("add_prefix_space", true));
  const std::string scheme = LUMEN_TRY(object.string("prepend_scheme", legacy ? "always" : "never"));
  return decode_metaspace(replacement, scheme != "never");
}

Expected<std::vector<MakeDecodeStep>> read_steps(const JsonObject& object, int depth) {
  const Json& decoders = *LUMEN_TRY(object.require("decoders"));
  if (!decoders.is_array()) return object.bad("\"decoders\" is not a list");
  std::vector<MakeDecodeStep> steps;
  for (const Json& decoder : decoders) {
    for (MakeDecodeStep& step : LUMEN_TRY(read_decoder(decoder, depth + 1))) steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace

Expected<std::vector<MakeDecodeStep>> read_decoder(const Json& json, int depth) {
  const JsonObject object = LUMEN_TRY(JsonObject::typed(json, "decoder"));
  if (depth > kMaxJsonDepth) return object.bad("nested too deeply");
  const std::string& type = object.type();
  const auto one = [](MakeDecodeStep step) { return std::vector<MakeDecodeStep>{std::move(step)}; };
  if (type == "Sequence") return read_steps(object, depth);
  if (type == "ByteLevel") return one(decode_byte_level());
  if (type == "ByteFallback") return one(decode_byte_fallback());
  if (type == "Fuse") return one(decode_fuse());
  if (type == "Strip") return one(LUMEN_TRY(read_strip(object)));
  if (type == "Replace") return one(LUMEN_TRY(read_replace_step(object)));
  if (type == "Metaspace") return one(LUMEN_TRY(read_metaspace_step(object)));
  if (type == "BPEDecoder") return one(decode_bpe(LUMEN_TRY(object.string("suffix", "</w>"))));
  if (type == "WordPiece") {
    return one(decode_word_piece(LUMEN_TRY(object.string("prefix", "##")), LUMEN_TRY(object.boolean("cleanup", true))));
  }
  return object.unsupported(kDecoders);
}

}  // namespace lumen::text
