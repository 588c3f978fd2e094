#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "lumen/base/file.h"
#include "lumen/import/gguf_vocabulary.h"
#include "tools/commands.h"
#include "tools/files.h"

namespace lumen::tools {

namespace {

Expected<Tokenizer> load_tokenizer(const std::string& path) {
  if (path.ends_with(".gguf")) return Tokenizer::from_gguf(LUMEN_TRY(vocabulary_of(LUMEN_TRY(Gguf::open(path)))));
  const MappedFile file = LUMEN_TRY(MappedFile::open(path));
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && text[first] == '{';
  Expected<Tokenizer> tokenizer = json ? Tokenizer::from_json(text) : Tokenizer::from_sentencepiece(file.bytes());
  if (!tokenizer.ok()) return error(fmt::format("{}: {}", path, tokenizer.diag().message));
  return tokenizer;
}

Expected<std::vector<int32_t>> parse_ids(std::string_view text, const Tokenizer& tokenizer) {
  constexpr std::string_view kBetween = " \t\r\n,[]";
  std::vector<int32_t> ids;
  for (size_t at = text.find_first_not_of(kBetween); at != std::string_view::npos;
       at = text.find_first_not_of(kBetween, at)) {
    const size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    int32_t id = -1;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), id);
    if (parsed.ec != std::errc() || parsed.ptr != word.data() + word.size() || id < 0 || id >= tokenizer.size()) {
      return error(fmt::format("\"{}\" is not an id; this tokenizer has 0 to {}", word, tokenizer.size() - 1));
    }
    ids.push_back(id);
    at = end;
  }
  return ids;
}

}  // namespace

Expected<int> tokenize_text(const TokenizeOptions& options) {
  const Tokenizer tokenizer = LUMEN_TRY(load_tokenizer(options.tokenizer));
  const std::string text = options.text == "-" ? LUMEN_TRY(read_text("-")) : options.text;
  if (options.decode) {
    const std::vector<int32_t> ids = LUMEN_TRY(parse_ids(text, tokenizer));
    if (options.count) {
      fmt::print("{}\n", ids.size());
    } else {
      fmt::print("{}\n", tokenizer.decode(ids, {/*skip_special=*/!options.no_special}));
    }
    return 0;
  }
  const std::vector<int32_t> ids = LUMEN_TRY(tokenizer.encode(text, {!options.no_special, !options.no_special}));
  if (options.count) {
    fmt::print("{}\n", ids.size());
  } else {
    fmt::print("{}\n", fmt::join(ids, " "));
  }
  return 0;
}

}  // namespace lumen::tools
