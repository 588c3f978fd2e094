#include "lumen/text/sentencepiece.h"

#include <fmt/format.h>

#include <memory>

#include "lumen/text/added_tokens.h"
#include "lumen/text/protobuf.h"
#include "lumen/text/utf8.h"

namespace lumen::text {

namespace {

constexpr std::string_view kWhat = "SentencePiece model";

Expected<SentencePieceModel::Piece> parse_piece(std::string_view bytes) {
  SentencePieceModel::Piece piece;
  ProtoReader reader(bytes, kWhat);
  ProtoField field;
  while (LUMEN_TRY(reader.next(field))) {
    if (field.number == 1) piece.text = field.bytes;
    if (field.number == 2) piece.score = field.as_float();
    if (field.number != 3) continue;
    if (field.integer < 1 || field.integer > 6) {
      return error(fmt::format("{}: piece \"{}\" has type {}", kWhat, piece.text, field.integer));
    }
    piece.type = static_cast<PieceType>(field.integer);
  }
  if (!utf8_valid(piece.text)) return error(fmt::format("{}: a piece is not valid UTF-8", kWhat));
  if (piece.score != piece.score) return error(fmt::format("{}: the score of \"{}\" is NaN", kWhat, piece.text));
  return piece;
}

Expected<void> parse_trainer(std::string_view bytes, SentencePieceModel& model) {
  ProtoReader reader(bytes, kWhat);
  ProtoField field;
  while (LUMEN_TRY(reader.next(field))) {
    switch (field.number) {
      case 3:
        if (field.integer < 1 || field.integer > 4) return error(fmt::format("{}: type {}", kWhat, field.integer));
        model.type = static_cast<SentencePieceModel::Type>(field.integer);
        break;
      case 24:
        model.space_is_suffix = field.integer != 0;
        break;
      case 35:
        model.byte_fallback = field.integer != 0;
        break;
      case 44:
        model.unknown_surface = replace_invalid(field.bytes);
        break;
      case 46:
        model.bos_piece = field.bytes;
        break;
      case 47:
        model.eos_piece = field.bytes;
        break;
      default:
        break;
    }
  }
  return {};
}

Expected<void> parse_normalizer(std::string_view bytes, SentencePieceModel& model) {
  ProtoReader reader(bytes, kWhat);
  ProtoField field;
  while (LUMEN_TRY(reader.next(field))) {
    switch (field.number) {
      case 2:
        model.charsmap = field.bytes;
        break;
      case 3:
        model.add_dummy_prefix = field.integer != 0;
        break;
      case 4:
        model.remove_extra_spaces = field.integer != 0;
        break;
      case 5:
        model.escape_spaces = field.integer != 0;
        break;
      default:
        break;
    }
  }
  return {};
}

// What the normaliser knows of a model.
struct Rules {
  std::optional<Charsmap> charsmap;
  TokenFinder user_defined;
  bool add_dummy_prefix, remove_extra_spaces;
  std::string_view space;

  struct Step {
    std::string_view text;
    size_t size;  // of the input
  };
  // What becomes of the start of `input`, which is not empty.
  Step next(std::string_view input) const {
    if (const auto size = user_defined.size_at(input, 0)) return {input.substr(0, *size), *size};
    if (charsmap) {
      if (const auto match = charsmap->longest(input)) return {match->replacement, match->size};
    }
    const Utf8Char c = utf8_at(input, 0);
    if (!c.valid) return {kReplacement, 1};
    return {input.substr(0, c.size), c.size};
  }
};

std::string normalize_by(const Rules& rules, std::string_view input) {
  std::string result;
  while (rules.remove_extra_spaces && !input.empty()) {
    const Rules::Step step = rules.next(input);
    if (step.text != " ") break;
    input.remove_prefix(step.size);
  }
  if (input.empty()) return result;
  if (rules.add_dummy_prefix) result = rules.space;
  bool after_space = rules.remove_extra_spaces;
  while (!input.empty()) {
    const Rules::Step step = rules.next(input);
    input.remove_prefix(step.size);
    std::string_view text = step.text;
    while (after_space && text.starts_with(' ')) text.remove_prefix(1);
    if (!text.empty()) {
      result += replace_all(text, " ", rules.space);
      after_space = text.ends_with(' ');
    }
    if (!rules.remove_extra_spaces) after_space = false;
  }
  while (rules.remove_extra_spaces && result.ends_with(rules.space)) result.resize(result.size() - rules.space.size());
  return result;
}

}  // namespace

Expected<SentencePieceModel> parse_sentencepiece(std::string_view bytes) {
  SentencePieceModel model;
  ProtoReader reader(bytes, kWhat);
  ProtoField field;
  while (LUMEN_TRY(reader.next(field))) {
    if (field.number == 1) model.pieces.push_back(LUMEN_TRY(parse_piece(field.bytes)));
    if (field.number == 2) LUMEN_TRY(parse_trainer(field.bytes, model));
    if (field.number == 3) LUMEN_TRY(parse_normalizer(field.bytes, model));
  }
  if (model.pieces.empty()) return error(fmt::format("{}: no pieces in {} bytes", kWhat, bytes.size()));
  return model;
}

Expected<Normalizer> sentencepiece_normalizer(const SentencePieceModel& model) {
  const auto rules = std::make_shared<Rules>();
  if (!model.charsmap.empty()) rules->charsmap = LUMEN_TRY(Charsmap::parse(model.charsmap));
  for (const SentencePieceModel::Piece& piece : model.pieces) {
    if (piece.type == PieceType::user_defined) rules->user_defined.add(piece.text, {});
  }
  rules->add_dummy_prefix = model.add_dummy_prefix;
  rules->remove_extra_spaces = model.remove_extra_spaces;
  rules->space = model.escape_spaces ? kSpaceMark : std::string_view(" ");
  return Normalizer([rules](const std::string& text) -> Expected<std::string> {
    return replace_invalid(normalize_by(*rules, text));
  });
}

PreTokenizer cut_at_marks(const Vocabulary& vocabulary, const std::function<bool(int32_t id)>& is_text) {
  const std::optional<int32_t> mark = vocabulary.find(kSpaceMark);
  if (!mark || !is_text(*mark)) return {};
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    std::string_view text = vocabulary.text(id);
    while (text.starts_with(kSpaceMark)) text.remove_prefix(kSpaceMark.size());
    if (is_text(id) && text.find(kSpaceMark) != std::string_view::npos) return {};
  }
  return [](Pieces& pieces) {
    return pieces.cut([](Piece piece, std::vector<Piece>& cut) -> Expected<void> {
      size_t begin = 0;
      for (size_t at = piece.text.find(kSpaceMark); at != std::string_view::npos;
           at = piece.text.find(kSpaceMark, at + kSpaceMark.size())) {
        const std::string_view before = piece.text.substr(begin, at - begin);
        if (before.empty() || before.ends_with(kSpaceMark)) continue;
        cut.push_back({before, piece.at_start && begin == 0});
        begin = at;
      }
      cut.push_back({piece.text.substr(begin), piece.at_start && begin == 0});
      return {};
    });
  };
}

}  // namespace lumen::text
