#include "models/model_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "lumen/base/file.h"
#include "lumen/base/log.h"
#include "lumen/import/gguf_names.h"
#include "lumen/import/gguf_vocabulary.h"
#include "lumen/import/model_config.h"
#include "lumen/ir/random_tensor.h"
#include "nn/scope.h"

namespace lumen::models {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::string_view kExperts = ".experts.";
constexpr double kRandomScale = 0.02;
constexpr size_t kMostNamed = 8;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

Expected<std::string> read_text(const fs::path& path) {
  const MappedFile file = LUMEN_TRY(MappedFile::open(path.string()));
  return std::string(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
}

// Divisors of the frequencies, which GGUF stores in place of what they come from.
Expected<void> add_divisors(const Weights& weights, Json& config) {
  const auto found = weights.entries().find("rope_freqs.weight");
  if (found == weights.entries().end()) return {};
  const Weight& weight = found->second;
  if (!weight.type || *weight.type != StorageType(f32)) return error("rope_freqs.weight is not f32");
  std::vector<float> divisors(weight.bytes.size() / sizeof(float));
  std::memcpy(divisors.data(), weight.bytes.data(), divisors.size() * sizeof(float));
  config["rope_scaling"] = {
      {"rope_type", "longrope"}, {"short_factor", divisors}, {"long_factor", divisors}, {"attention_factor", 1.0}};
  config["original_max_position_embeddings"] = config["max_position_embeddings"];
  return {};
}

// A folder may have the fast tokenizer, or SentencePiece's own file.
Expected<std::optional<Tokenizer>> read_tokenizer(const fs::path& folder) {
  std::optional<Tokenizer> tokenizer;
  if (is_there(folder / "tokenizer.json")) {
    tokenizer = LUMEN_TRY(Tokenizer::from_json(LUMEN_TRY(read_text(folder / "tokenizer.json"))));
  } else if (is_there(folder / "tokenizer.model")) {
    const MappedFile file = LUMEN_TRY(MappedFile::open((folder / "tokenizer.model").string()));
    tokenizer = LUMEN_TRY(Tokenizer::from_sentencepiece(file.bytes()));
  }
  if (tokenizer && is_there(folder / "tokenizer_config.json")) {
    tokenizer = LUMEN_TRY(tokenizer->with_config(LUMEN_TRY(read_text(folder / "tokenizer_config.json"))));
  }
  return tokenizer;
}

std::string type_text(const StorageType& type, const std::vector<int64_t>& dims) {
  return fmt::format("{}[{}]", name(type), fmt::join(dims, ","));
}

std::string list_text(const std::vector<std::string>& all) {
  const size_t shown = std::min(kMostNamed, all.size());
  std::string text = fmt::format("{}", fmt::join(all.begin(), all.begin() + std::ptrdiff_t(shown), ", "));
  if (all.size() > shown) text += fmt::format(" and {} more", all.size() - shown);
  return text;
}

// Whether tensors are together a parameter of these dims; of blocks, the last counts bytes.
bool fits(const std::vector<const Weight*>& parts, std::vector<int64_t> dims) {
  if (parts.size() > 1 && (dims.empty() || dims[0] != static_cast<int64_t>(parts.size()))) return false;
  if (parts.size() > 1) dims.erase(dims.begin());
  return std::ranges::all_of(parts, [&](const Weight* part) {
    if (!part->type || part->type != parts[0]->type) return false;
    std::vector<int64_t> stored = part->dims;
    const BlockType* blocks = std::get_if<BlockType>(&*part->type);
    if (blocks != nullptr && !stored.empty())
      stored.back() = stored.back() / info(*blocks).elements * info(*blocks).bytes;
    return stored == dims;
  });
}

}  // namespace

Expected<ModelFiles> ModelFiles::open(const std::string& path, bool random_weights) {
  ModelFiles files;
  std::error_code ignored;
  const bool folder = fs::is_directory(path, ignored);
  if (!is_there(path)) return error(fmt::format("{}: No such file or directory", path));
  if (random_weights) {
    const fs::path config = folder ? fs::path(path) / "config.json" : fs::path(path);
    files.config_ = LUMEN_TRY(read_text(config));
    files.tokenizer_ = LUMEN_TRY(read_tokenizer(config.parent_path()));
    return files;
  }
  files.weights_ = LUMEN_TRY(Weights::open(path));
  if (files.weights_->gguf() != nullptr) {
    LUMEN_TRY(files.open_gguf());
  } else {
    LUMEN_TRY(files.open_folder(folder ? path : fs::path(path).parent_path().string()));
  }
  return files;
}

Expected<void> ModelFiles::open_gguf() {
  const Gguf& gguf = *weights_->gguf();
  const ModelConfig config = LUMEN_TRY(model_config_of(*weights_));
  family_ = config.family;
  Json json = Json::parse(config_json(config));
  LUMEN_TRY(add_divisors(*weights_, json));
  config_ = json.dump();
  if (gguf.has("tokenizer.ggml.model")) {
    tokenizer_ = LUMEN_TRY(Tokenizer::from_gguf(LUMEN_TRY(vocabulary_of(gguf))));
  }
  return {};
}

Expected<void> ModelFiles::open_folder(const std::string& folder) {
  const fs::path config = fs::path(folder) / "config.json";
  if (!is_there(config)) return error(fmt::format("{}: there is no config.json beside the weights", folder));
  config_ = LUMEN_TRY(read_text(config));
  tokenizer_ = LUMEN_TRY(read_tokenizer(folder));
  return {};
}

// Some files leave out the first part of names: `transformer.wte.weight` is `wte.weight`.
const Weight* ModelFiles::find_one(std::string_view name) const {
  std::string wanted(name);
  if (family_) wanted = ggml_name(*family_, name).value_or("");
  const Weights::Entries& entries = weights_->entries();
  auto found = entries.find(wanted);
  const size_t dot = wanted.find('.');
  if (found == entries.end() && dot != std::string::npos) found = entries.find(wanted.substr(dot + 1));
  return found == entries.end() ? nullptr : &found->second;
}

std::vector<const Weight*> ModelFiles::find(const std::string& name) const {
  if (const Weight* whole = find_one(name)) return {whole};
  const size_t at = name.find(kExperts);
  std::vector<const Weight*> parts;
  while (at != std::string::npos) {
    const size_t rest = at + kExperts.size();
    const Weight* part = find_one(fmt::format("{}{}.{}", name.substr(0, rest), parts.size(), name.substr(rest)));
    if (part == nullptr) break;
    parts.push_back(part);
  }
  return parts;
}

std::optional<StorageType> ModelFiles::storage_of(const std::string& name) const {
  const std::vector<const Weight*> parts = find(name);
  return parts.empty() ? std::nullopt : parts[0]->type;
}

Expected<Model> ModelFiles::build(ModelOptions options) const {
  if (!weights_) return build_model(config_, options);
  options.storage = [this](std::string_view name) { return storage_of(std::string(name)); };
  options.paired_rows = family_ && head_rows(*family_, "blk.0.attn_q.weight") != HeadRows::same;
  options.whole_norms = family_.has_value();
  Model model = LUMEN_TRY(build_model(config_, options));
  model.options.storage = {};  // it would have to outlive this
  return model;
}

Expected<void> ModelFiles::bind_random(Session& session) {
  const bool copied = !session.on_host();  // then parameters of one size may share what is copied
  std::map<std::pair<DType, int64_t>, const Buffer*> known;
  int64_t seed = 0;
  for (const nn::Parameter& each : nn::parameters(session.graph())) {
    const int64_t bytes = LUMEN_TRY(each.type.bytes({}));
    const Buffer*& buffer = known[{each.type.dtype, bytes}];
    if (buffer == nullptr || !copied) {
      Buffer& made = made_.emplace_back(bytes);
      fill_random(each.type.dtype, {made.data(), static_cast<size_t>(bytes)}, ++seed, kRandomScale);
      buffer = &made;
    }
    session.bind(each.name, buffer->data(), LUMEN_TRY(each.type.shape.evaluate({})));
    bytes_ += bytes;
  }
  return {};
}

// Where the elements lie, or a copy of them: of several tensors, or of one at an address that is not aligned.
const void* ModelFiles::in_one_piece(const std::vector<const Weight*>& parts, DType dtype) {
  const auto width = static_cast<uintptr_t>(std::max(info(dtype).bits / 8, 1));
  const std::byte* const first = parts[0]->bytes.data();
  if (parts.size() == 1 && reinterpret_cast<uintptr_t>(first) % width == 0) return first;
  size_t bytes = 0;
  for (const Weight* part : parts) bytes += part->bytes.size();
  Buffer& buffer = made_.emplace_back(static_cast<int64_t>(bytes));
  std::byte* to = buffer.data();
  for (const Weight* part : parts) to = std::copy(part->bytes.begin(), part->bytes.end(), to);
  return buffer.data();
}

Expected<void> ModelFiles::bind(Session& session) {
  if (!weights_) return bind_random(session);
  std::vector<std::string> missing, misfits;
  std::set<const Weight*> used;
  for (const nn::Parameter& each : nn::parameters(session.graph())) {
    const std::vector<const Weight*> parts = find(each.name);
    if (parts.empty()) {
      missing.push_back(fmt::format("{} {}", each.name, each.type.str()));
      continue;
    }
    used.insert(parts.begin(), parts.end());
    const std::vector<int64_t> dims = LUMEN_TRY(each.type.shape.evaluate({}));
    if (!fits(parts, dims)) {
      misfits.push_back(fmt::format("{} is {}, the file has {}", each.name, each.type.str(),
                                    parts[0]->type ? type_text(*parts[0]->type, parts[0]->dims) : parts[0]->type_name));
      continue;
    }
    bytes_ += LUMEN_TRY(each.type.bytes({}));
    session.bind(each.name, in_one_piece(parts, each.type.dtype), dims);
  }
  std::vector<std::string> unexpected;
  for (const auto& [name, weight] : weights_->entries()) {
    if (!used.contains(&weight)) unexpected.push_back(name);
  }
  if (missing.empty() && misfits.empty()) {
    if (!unexpected.empty())
      LUMEN_LOG(1, fmt::format("weights that the model has no use for: {}", list_text(unexpected)));
    return {};
  }
  Diag diag = error(fmt::format("{}: the weights do not fit the model: {} missing, {} of another shape, {} unexpected",
                                weights_->path(), missing.size(), misfits.size(), unexpected.size()));
  if (!missing.empty()) diag.notes.push_back("missing: " + list_text(missing));
  if (!misfits.empty()) diag.notes.push_back("another shape: " + list_text(misfits));
  if (!unexpected.empty()) diag.notes.push_back("unexpected: " + list_text(unexpected));
  return diag;
}

}  // namespace lumen::models
