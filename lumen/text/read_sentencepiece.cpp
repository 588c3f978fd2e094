#include <fmt/format.h>

#include "lumen/text/bpe.h"
#include "lumen/text/pipeline.h"
#include "lumen/text/sentencepiece.h"
#include "lumen/text/unigram.h"

namespace lumen::text {

namespace {

using ModelPiece = SentencePieceModel::Piece;

// Text may become it.
bool is_text(const ModelPiece& piece) {
  return piece.type == PieceType::normal || piece.type == PieceType::user_defined || piece.type == PieceType::unused;
}

std::shared_ptr<const Model> make_bpe(const SentencePieceModel& file, std::shared_ptr<const Vocabulary> vocabulary,
                                      std::optional<int32_t> unknown) {
  std::vector<std::optional<float>> scores;
  for (const ModelPiece& piece : file.pieces)
    scores.push_back(is_text(piece) ? std::optional(piece.score) : std::nullopt);
  BpeOptions options;
  options.byte_fallback = file.byte_fallback;
  options.fuse_unknown = true;
  options.unknown = unknown;
  return Bpe::from_scores(std::move(vocabulary), scores, std::move(options));
}

std::shared_ptr<const Model> make_unigram(const SentencePieceModel& file, std::shared_ptr<const Vocabulary> vocabulary,
                                          std::optional<int32_t> unknown) {
  std::vector<UnigramPiece> pieces;
  for (const ModelPiece& piece : file.pieces) {
    const bool used = is_text(piece) && piece.type != PieceType::unused;  // BPE merges by way of them
    pieces.push_back({piece.score, used, piece.type == PieceType::user_defined});
  }
  return std::make_shared<Unigram>(std::move(vocabulary), std::move(pieces),
                                   UnigramOptions{unknown, file.byte_fallback, /*float_sums=*/true});
}

// Fills in what depends on the kind of single pieces.
Expected<std::optional<int32_t>> add_pieces(const SentencePieceModel& file, Vocabulary& vocabulary,
                                            Pipeline& pipeline) {
  std::optional<int32_t> unknown;
  for (const ModelPiece& piece : file.pieces) {
    const int32_t id = vocabulary.append(piece.text);
    if (piece.type == PieceType::unknown) {
      if (unknown) return error("SentencePiece model: two pieces are the unknown one");
      unknown = id;
      pipeline.surface.emplace(id, file.unknown_surface);
    } else if (piece.type == PieceType::control) {
      pipeline.added.push_back({id, piece.text, /*special=*/true});
      if (piece.text == file.bos_piece) pipeline.bos = id;
      if (piece.text == file.eos_piece) pipeline.eos = id;
    } else if (piece.type == PieceType::user_defined && file.type == SentencePieceModel::Type::bpe) {
      pipeline.normalized_tokens.add(piece.text, {id, piece.text});
    }
  }
  return unknown;
}

}  // namespace

Expected<Pipeline> read_sentencepiece(std::string_view bytes) {
  const SentencePieceModel file = LUMEN_TRY(parse_sentencepiece(bytes));
  const bool bpe = file.type == SentencePieceModel::Type::bpe;
  if (!bpe && file.type != SentencePieceModel::Type::unigram) {
    return error("SentencePiece model: of type WORD or CHAR; BPE and UNIGRAM are supported");
  }
  if (file.space_is_suffix) return error("SentencePiece model: treat_whitespace_as_suffix is not supported");
  if (static_cast<int64_t>(file.pieces.size()) > Vocabulary::kMaxId) {
    return error(fmt::format("SentencePiece model: {} pieces are too many", file.pieces.size()));
  }
  Pipeline pipeline;
  pipeline.takes_bytes = true;
  pipeline.normalize = LUMEN_TRY(sentencepiece_normalizer(file));
  const auto vocabulary = std::make_shared<Vocabulary>();
  const std::optional<int32_t> unknown = LUMEN_TRY(add_pieces(file, *vocabulary, pipeline));
  if (!unknown) return error("SentencePiece model: no piece is the unknown one");
  pipeline.vocabulary = vocabulary;
  pipeline.model = bpe ? make_bpe(file, vocabulary, unknown) : make_unigram(file, vocabulary, unknown);
  if (bpe) {
    pipeline.pre_tokenize =
        cut_at_marks(*vocabulary, [&](int32_t id) { return is_text(file.pieces[static_cast<size_t>(id)]); });
  }
  if (pipeline.bos) {
    pipeline.prefix = {*pipeline.bos};
  } else if (pipeline.eos) {
    pipeline.suffix = {*pipeline.eos};
  }
  if (file.add_dummy_prefix || file.remove_extra_spaces) {
    pipeline.decoder.push_back(decode_leading_space(file.remove_extra_spaces));
  }
  pipeline.decoder.push_back(decode_each([](std::string_view token) { return replace_all(token, kSpaceMark, " "); }));
  if (file.byte_fallback) pipeline.decoder.push_back(decode_bytes());
  return pipeline;
}

}  // namespace lumen::text
