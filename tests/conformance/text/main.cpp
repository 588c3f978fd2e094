// What tests/text/oracle.py asks of the tokenizers and chat templates, over files of many cases:
//
//   conformance_text encode TOKENIZER STRINGS IDS [--plain]       --plain: nothing added, no special token found
//   conformance_text decode TOKENIZER IDS STRINGS [--special]     --special: special tokens are shown
//   conformance_text render CASES RESULTS
//
// TOKENIZER is tokenizer.json, a SentencePiece model (*.model) or a GGUF vocabulary as JSON (*.gguf.json). Every string
// or list of ids in a file follows its length, all in 32 bits. CASES and RESULTS hold one JSON object on each line.
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lumen/base/file.h"
#include "lumen/text/chat_template.h"
#include "lumen/text/tokenizer.h"

namespace lumen {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

Expected<std::string> read(const std::string& path) {
  const MappedFile file = LUMEN_TRY(MappedFile::open(path));
  return std::string(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
}

std::optional<int32_t> optional_id(const Json& json, const char* key) {
  return json.contains(key) ? std::optional(json[key].get<int32_t>()) : std::nullopt;
}

std::optional<bool> optional_bool(const Json& json, const char* key) {
  return json.contains(key) ? std::optional(json[key].get<bool>()) : std::nullopt;
}

GgufVocabulary vocabulary_of(const Json& json) {
  GgufVocabulary vocabulary;
  vocabulary.model = json.at("model");
  vocabulary.pre = json.value("pre", "");
  vocabulary.tokens = json.at("tokens").get<std::vector<std::string>>();
  vocabulary.scores = json.value("scores", std::vector<float>());
  vocabulary.types = json.value("types", std::vector<int32_t>());
  vocabulary.merges = json.value("merges", std::vector<std::string>());
  vocabulary.bos = optional_id(json, "bos");
  vocabulary.eos = optional_id(json, "eos");
  vocabulary.unk = optional_id(json, "unk");
  vocabulary.add_bos = optional_bool(json, "add_bos");
  vocabulary.add_eos = optional_bool(json, "add_eos");
  vocabulary.add_space_prefix = optional_bool(json, "add_space_prefix");
  return vocabulary;
}

Expected<Tokenizer> load(const std::string& path) {
  const std::string text = LUMEN_TRY(read(path));
  if (path.ends_with(".model")) return Tokenizer::from_sentencepiece(std::as_bytes(std::span(text)));
  if (path.ends_with(".gguf.json")) return Tokenizer::from_gguf(vocabulary_of(Json::parse(text)));
  return Tokenizer::from_json(text);
}

// Cuts a file into its records; a length counts units of `unit` bytes.
std::vector<std::string_view> records(std::string_view file, size_t unit) {
  std::vector<std::string_view> result;
  for (size_t at = 0; at + 4 <= file.size();) {
    uint32_t count = 0;
    std::memcpy(&count, file.data() + at, 4);
    result.push_back(file.substr(at + 4, count * unit));
    at += 4 + count * unit;
  }
  return result;
}

void append_record(std::string& file, const void* data, size_t count, size_t unit) {
  const auto size = static_cast<uint32_t>(count);
  file.append(reinterpret_cast<const char*>(&size), 4);
  file.append(static_cast<const char*>(data), count * unit);
}

Expected<void> write(const std::string& path, const std::string& text) {
  const std::span<const std::byte> part = std::as_bytes(std::span(text));
  return write_file(path, {{part}});
}

Expected<int> encode(const std::vector<std::string>& arguments) {
  const Tokenizer tokenizer = LUMEN_TRY(load(arguments[1]));
  const bool plain = arguments.size() > 4;
  const std::string file = LUMEN_TRY(read(arguments[2]));
  std::string out;
  for (const std::string_view text : records(file, 1)) {
    const std::vector<int32_t> ids = LUMEN_TRY(tokenizer.encode(text, {!plain, !plain}));
    append_record(out, ids.data(), ids.size(), 4);
  }
  LUMEN_TRY(write(arguments[3], out));
  return 0;
}

Expected<int> decode(const std::vector<std::string>& arguments) {
  const Tokenizer tokenizer = LUMEN_TRY(load(arguments[1]));
  const DecodeOptions options{arguments.size() <= 4};
  const std::string file = LUMEN_TRY(read(arguments[2]));
  std::string out;
  Detokenizer detokenizer(tokenizer, options);
  for (const std::string_view record : records(file, 4)) {
    std::vector<int32_t> ids(record.size() / 4);
    std::memcpy(ids.data(), record.data(), record.size());
    const std::string text = tokenizer.decode(ids, options);
    std::string streamed;
    for (const int32_t id : ids) streamed += detokenizer.push(id);
    streamed += detokenizer.finish();
    if (streamed != text) return error(fmt::format("streamed \"{}\" is not \"{}\"", streamed, text));
    append_record(out, text.data(), text.size(), 1);
  }
  LUMEN_TRY(write(arguments[3], out));
  return 0;
}

Expected<int> render(const std::vector<std::string>& arguments) {
  std::ifstream cases(arguments[1]);
  std::string line, out;
  while (std::getline(cases, line)) {
    const OrderedJson given = OrderedJson::parse(line);
    Json result;
    const Expected<ChatTemplate> parsed = ChatTemplate::parse(given["template"].get<std::string>());
    const Expected<std::string> text =
        parsed.ok() ? parsed->render(given["variables"]) : Expected<std::string>(parsed.diag());
    if (text.ok()) {
      result["text"] = *text;
    } else {
      result["error"] = text.diag().str();
    }
    out += result.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
  }
  LUMEN_TRY(write(arguments[2], out));
  return 0;
}

int run(const std::vector<std::string>& arguments) {
  Expected<int> status = error("usage: conformance_text encode|decode|render ... (see its source)");
  if (arguments.size() >= 4 && arguments[0] == "encode") status = encode(arguments);
  if (arguments.size() >= 4 && arguments[0] == "decode") status = decode(arguments);
  if (arguments.size() == 3 && arguments[0] == "render") status = render(arguments);
  if (status.ok()) return *status;
  fmt::print(stderr, "conformance_text: {}\n", status.diag().str());
  return 1;
}

}  // namespace
}  // namespace lumen

int main(int argc, char** argv) { return lumen::run({argv + 1, argv + argc}); }
