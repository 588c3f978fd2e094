#include <fmt/format.h>

#include "lumen/text/bpe.h"
#include "lumen/text/gguf_cuts.h"
#include "lumen/text/pipeline.h"
#include "lumen/text/pre_tokenizer.h"
#include "lumen/text/sentencepiece.h"
#include "lumen/text/unicode.h"
#include "lumen/text/utf8.h"
#include "lumen/text/word_piece.h"

namespace lumen::text {

namespace {

Diag bad(std::string_view text) { return error(fmt::format("GGUF vocabulary: {}", text)); }

PieceType type_of(const GgufVocabulary& given, size_t id) {
  return given.types.empty() ? PieceType::normal : static_cast<PieceType>(given.types[id]);
}

Expected<void> check(const GgufVocabulary& given) {
  const size_t count = given.tokens.size();
  if (count == 0) return bad("no tokens");
  if (count > static_cast<size_t>(Vocabulary::kMaxId)) return bad(fmt::format("{} tokens are too many", count));
  if (!given.types.empty() && given.types.size() != count) {
    return bad(fmt::format("{} tokens but {} types", count, given.types.size()));
  }
  if (!given.scores.empty() && given.scores.size() != count) {
    return bad(fmt::format("{} tokens but {} scores", count, given.scores.size()));
  }
  for (const auto& [name, id] : {std::pair{"bos", given.bos}, {"eos", given.eos}, {"unk", given.unk}}) {
    if (id && (*id < 0 || static_cast<size_t>(*id) >= count)) {
      return bad(fmt::format("{} id {} of {} tokens", name, *id, count));
    }
  }
  for (const int32_t type : given.types) {
    if (type < 1 || type > 6) return bad(fmt::format("token type {} is not 1 to 6", type));
  }
  return {};
}

// The tokens, with those that are found in raw text; `spell` is how the model spells them.
template <class Spell>
void add_tokens(const GgufVocabulary& given, Vocabulary& vocabulary, Pipeline& pipeline, Spell spell) {
  for (size_t id = 0; id < given.tokens.size(); ++id) {
    const std::string text = replace_invalid(given.tokens[id]);
    const PieceType type = type_of(given, id);
    const bool added = type == PieceType::control || type == PieceType::user_defined;
    vocabulary.append(added ? text : spell(text));
    if (added) pipeline.added.push_back({static_cast<int32_t>(id), text, type == PieceType::control});
  }
}

void add_around(const GgufVocabulary& given, bool bos, bool eos, Pipeline& pipeline) {
  pipeline.bos = given.bos;
  pipeline.eos = given.eos;
  pipeline.chat_template = given.chat_template;
  if (given.add_bos.value_or(bos) && given.bos) pipeline.prefix = {*given.bos};
  if (given.add_eos.value_or(eos) && given.eos) pipeline.suffix = {*given.eos};
}

Expected<Pipeline> read_llama(const GgufVocabulary& given) {
  if (given.scores.empty()) return bad("model \"llama\" needs scores");
  Pipeline pipeline;
  pipeline.takes_bytes = true;
  const auto vocabulary = std::make_shared<Vocabulary>();
  add_tokens(given, *vocabulary, pipeline, [](const std::string& text) { return text; });
  std::vector<std::optional<float>> scores;
  std::optional<int32_t> unknown = given.unk;
  for (size_t id = 0; id < given.tokens.size(); ++id) {
    const PieceType type = type_of(given, id);
    const bool is_text = type == PieceType::normal || type == PieceType::unused || type == PieceType::user_defined;
    if (given.scores[id] != given.scores[id]) return bad(fmt::format("the score of token {} is NaN", id));
    scores.push_back(is_text ? std::optional(given.scores[id]) : std::nullopt);
    if (type == PieceType::unknown && !unknown) unknown = static_cast<int32_t>(id);
  }
  BpeOptions options;
  options.byte_fallback = true;
  options.fuse_unknown = true;
  options.unknown = unknown;
  if (unknown) pipeline.surface.emplace(*unknown, SentencePieceModel().unknown_surface);
  pipeline.vocabulary = vocabulary;
  pipeline.model = Bpe::from_scores(vocabulary, scores, std::move(options));
  pipeline.pre_tokenize =
      cut_at_marks(*vocabulary, [&](int32_t id) { return scores[static_cast<size_t>(id)].has_value(); });
  const bool space_first = given.add_space_prefix.value_or(true);
  pipeline.normalize = [space_first](const std::string& text) -> Expected<std::string> {
    return (space_first ? std::string(kSpaceMark) : "") + replace_all(replace_invalid_bytes(text), " ", kSpaceMark);
  };
  add_around(given, true, false, pipeline);
  if (space_first) pipeline.decoder.push_back(decode_leading_space(false));
  pipeline.decoder.push_back(decode_each([](std::string_view token) { return replace_all(token, kSpaceMark, " "); }));
  pipeline.decoder.push_back(decode_bytes());
  return pipeline;
}

Expected<Pipeline> read_gpt2(const GgufVocabulary& given) {
  Pipeline pipeline;
  const auto vocabulary = std::make_shared<Vocabulary>();
  add_tokens(given, *vocabulary, pipeline, [](const std::string& text) { return text; });
  std::vector<std::pair<std::string_view, std::string_view>> merges;
  for (const std::string& merge : given.merges) {
    const size_t space = merge.find(' ', 1);
    if (space == std::string::npos) return bad(fmt::format("merge \"{}\" is not two tokens", merge));
    merges.emplace_back(std::string_view(merge).substr(0, space), std::string_view(merge).substr(space + 1));
  }
  const GgufCut cut = LUMEN_TRY(gguf_cut(given.pre));
  std::vector<PreTokenizer> steps;
  for (const std::string_view regex : cut.regexes) {
    steps.push_back(split_by_regex(LUMEN_TRY(Regex::compile(regex)), Delimiters::isolated, false));
  }
  if (given.add_space_prefix.value_or(false)) steps.insert(steps.begin(), byte_level_cut(true, false));
  BpeOptions options;
  options.byte_level = true;
  options.ignore_merges = cut.ignore_merges;
  pipeline.vocabulary = vocabulary;
  pipeline.model = LUMEN_TRY(Bpe::from_merges(vocabulary, merges, std::move(options)));
  pipeline.pre_tokenize = in_sequence(std::move(steps));
  add_around(given, false, false, pipeline);
  pipeline.decoder = {decode_byte_level()};
  return pipeline;
}

// The file marks the tokens that start a word; WordPiece marks the others.
Expected<Pipeline> read_bert(const GgufVocabulary& given) {
  Pipeline pipeline;
  const auto vocabulary = std::make_shared<Vocabulary>();
  add_tokens(given, *vocabulary, pipeline, [](const std::string& text) {
    if (text.starts_with(kSpaceMark)) return text.substr(kSpaceMark.size());
    return text.starts_with('[') && text.ends_with(']') ? text : "##" + text;
  });
  WordPieceOptions options;
  const std::optional<int32_t> unknown = given.unk ? given.unk : vocabulary->find("[UNK]");
  if (!unknown) return bad("model \"bert\" has no unknown token");
  options.unknown = *unknown;
  pipeline.vocabulary = vocabulary;
  pipeline.model = std::make_shared<WordPiece>(vocabulary, std::move(options));
  pipeline.normalize = [](const std::string& text) -> Expected<std::string> { return normalize_bert(text, {}); };
  pipeline.pre_tokenize = in_sequence(
      {split_by_character(is_space, Delimiters::removed), split_by_character(is_punctuation, Delimiters::isolated)});
  GgufVocabulary around = given;
  if (!around.bos) around.bos = vocabulary->find("[CLS]");
  if (!around.eos) around.eos = vocabulary->find("[SEP]");
  add_around(around, true, true, pipeline);
  pipeline.decoder = {decode_word_piece("##", /*cleanup=*/true)};
  return pipeline;
}

}  // namespace

Expected<Pipeline> read_gguf_vocabulary(const GgufVocabulary& given) {
  LUMEN_TRY(check(given));
  if (given.model == "llama") return read_llama(given);
  if (given.model == "gpt2") return read_gpt2(given);
  if (given.model == "bert") return read_bert(given);
  return bad(fmt::format("model \"{}\" is not supported; these are: llama, gpt2, bert", given.model));
}

}  // namespace lumen::text
