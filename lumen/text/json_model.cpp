#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "lumen/text/bpe.h"
#include "lumen/text/json_fields.h"
#include "lumen/text/json_parts.h"
#include "lumen/text/unigram.h"
#include "lumen/text/word_piece.h"

namespace lumen::text {

namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 4> kModels = {"BPE", "Unigram", "WordLevel", "WordPiece"};

Expected<std::shared_ptr<const Vocabulary>> read_vocabulary(const JsonObject& object) {
  const Json& vocab = *LUMEN_TRY(object.require("vocab"));
  if (!vocab.is_object()) return object.bad("\"vocab\" is not an object");
  auto vocabulary = std::make_shared<Vocabulary>();
  for (const auto& [text, id] : vocab.items()) {
    if (!id.is_number_integer()) return object.bad(fmt::format("token \"{}\" has no integer id", text));
    LUMEN_TRY(vocabulary->add(id.get<int64_t>(), text));
  }
  return std::shared_ptr<const Vocabulary>(std::move(vocabulary));
}

// The id of the token that "unk_token" names; none where it names none.
Expected<std::optional<int32_t>> read_unknown(const JsonObject& object, const Vocabulary& vocabulary) {
  if (object.find("unk_token") == nullptr) return std::optional<int32_t>();
  const std::string name = LUMEN_TRY(object.string("unk_token"));
  return vocabulary.find(name);
}

// "left right", or [left, right]; the views are into `json`.
Expected<std::vector<std::pair<std::string_view, std::string_view>>> read_merges(const JsonObject& object) {
  const Json& merges = *LUMEN_TRY(object.require("merges"));
  if (!merges.is_array()) return object.bad("\"merges\" is not a list");
  std::vector<std::pair<std::string_view, std::string_view>> pairs;
  pairs.reserve(merges.size());
  for (const Json& merge : merges) {
    if (merge.is_string()) {
      const std::string_view text = merge.get_ref<const std::string&>();
      const size_t space = text.find(' ');
      if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos) {
        return object.bad(fmt::format("merge \"{}\" is not two tokens", text));
      }
      pairs.emplace_back(text.substr(0, space), text.substr(space + 1));
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      pairs.emplace_back(merge[0].get_ref<const std::string&>(), merge[1].get_ref<const std::string&>());
    } else {
      return object.bad(fmt::format("merge {} is not two tokens", pairs.size()));
    }
  }
  return pairs;
}

Expected<ModelPart> read_bpe(const JsonObject& object, bool byte_level) {
  const auto vocabulary = LUMEN_TRY(read_vocabulary(object));
  const Json* dropout = object.find("dropout");
  if (dropout != nullptr && *dropout != 0.0) return object.bad("\"dropout\" would make it random");
  BpeOptions options;
  options.byte_level = byte_level;
  options.byte_fallback = LUMEN_TRY(object.boolean("byte_fallback", false));
  options.fuse_unknown = LUMEN_TRY(object.boolean("fuse_unk", false));
  options.ignore_merges = LUMEN_TRY(object.boolean("ignore_merges", false));
  options.unknown = LUMEN_TRY(read_unknown(object, *vocabulary));
  options.continuing_prefix = LUMEN_TRY(object.string("continuing_subword_prefix", ""));
  options.end_suffix = LUMEN_TRY(object.string("end_of_word_suffix", ""));
  auto bpe = Bpe::from_merges(vocabulary, LUMEN_TRY(read_merges(object)), std::move(options));
  if (!bpe.ok()) return object.bad(bpe.diag().message);
  return ModelPart{vocabulary, std::move(bpe).value()};
}

Expected<ModelPart> read_unigram(const JsonObject& object) {
  const Json& vocab = *LUMEN_TRY(object.require("vocab"));
  if (!vocab.is_array()) return object.bad("\"vocab\" is not a list");
  auto vocabulary = std::make_shared<Vocabulary>();
  std::vector<UnigramPiece> pieces;
  for (const Json& entry : vocab) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number()) {
      return object.bad(fmt::format("entry {} of \"vocab\" is not a token and a score", pieces.size()));
    }
    LUMEN_TRY(vocabulary->add(static_cast<int64_t>(pieces.size()), entry[0].get_ref<const std::string&>()));
    pieces.push_back({entry[1].get<double>()});
  }
  UnigramOptions options;
  options.byte_fallback = LUMEN_TRY(object.boolean("byte_fallback", false));
  const int64_t unknown = LUMEN_TRY(object.integer("unk_id", -1));
  if (unknown >= vocabulary->size()) return object.bad(fmt::format("unk_id {} is no token", unknown));
  if (unknown >= 0) options.unknown = static_cast<int32_t>(unknown);
  return ModelPart{vocabulary, std::make_shared<Unigram>(vocabulary, std::move(pieces), options)};
}

Expected<ModelPart> read_word_piece(const JsonObject& object, bool whole_words) {
  const auto vocabulary = LUMEN_TRY(read_vocabulary(object));
  WordPieceOptions options;
  const std::string unknown = LUMEN_TRY(object.string("unk_token", "[UNK]"));
  const std::optional<int32_t> id = vocabulary->find(unknown);
  if (!id) return object.bad(fmt::format("unk_token \"{}\" is not in the vocabulary", unknown));
  options.unknown = *id;
  options.whole_words = whole_words;
  options.continuing_prefix = LUMEN_TRY(object.string("continuing_subword_prefix", "##"));
  const int64_t longest = LUMEN_TRY(object.integer("max_input_chars_per_word", 100));
  if (longest < 0) return object.bad("\"max_input_chars_per_word\" is negative");
  options.max_characters = static_cast<size_t>(longest);
  return ModelPart{vocabulary, std::make_shared<WordPiece>(vocabulary, std::move(options))};
}

// Files of before the models were named.
std::string guess_type(const Json& model) {
  if (model.contains("merges")) return "BPE";
  if (model.contains("vocab") && model["vocab"].is_array()) return "Unigram";
  return model.contains("continuing_subword_prefix") ? "WordPiece" : "WordLevel";
}

}  // namespace

Expected<ModelPart> read_model(const Json& json, bool byte_level) {
  JsonObject object = LUMEN_TRY(JsonObject::of(json, "model"));
  const bool named = object.find("type") != nullptr;
  if (named) object = LUMEN_TRY(JsonObject::typed(json, "model"));
  const std::string type = named ? object.type() : guess_type(json);
  if (type == "BPE") return read_bpe(object, byte_level);
  if (type == "Unigram") return read_unigram(object);
  if (type == "WordPiece") return read_word_piece(object, false);
  if (type == "WordLevel") return read_word_piece(object, true);
  return object.unsupported(kModels);
}

}  // namespace lumen::text
