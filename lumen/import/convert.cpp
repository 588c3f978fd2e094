#include "lumen/import/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>

#include "lumen/base/file.h"
#include "lumen/import/convert_plan.h"
#include "lumen/import/safetensors.h"

namespace lumen {

namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "config.json";

// Which way names and rows are translated.
enum class Direction : uint8_t { none, to_gguf, from_gguf };

Expected<ModelConfig> config_beside(const Weights& in) {
  const std::string path = (fs::path(in.files()[0]).parent_path() / kConfig).string();
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    return error(fmt::format("{}: {} is missing, which says what the weights are for; raw conversion needs none",
                             in.path(), path));
  }
  const MappedFile file = LUMEN_TRY(MappedFile::open(path));
  return parse_model_config({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}, path);
}

class Conversion {
 public:
  Conversion(const Weights& in, bool to_gguf, const ConvertOptions& options)
      : in_(in), to_gguf_(to_gguf), options_(options) {}

  Expected<void> plan() {
    keep_ = LUMEN_TRY(compile_expressions(options_.keep));
    const bool from_gguf = in_.gguf() != nullptr;
    if (!options_.raw && from_gguf != to_gguf_) {
      direction_ = to_gguf_ ? Direction::to_gguf : Direction::from_gguf;
      config_ = from_gguf ? LUMEN_TRY(model_config_of(in_)) : LUMEN_TRY(config_beside(in_));
    }
    if (config_ && has_experts(config_->family)) {
      return error(fmt::format("{}: models with experts are not converted", in_.path()));
    }
    for (const auto& [name, weight] : in_.entries()) LUMEN_TRY(add(name, weight));
    if (direction_ == Direction::to_gguf && config_->rope_stretch) add_rope_divisors();
    return {};
  }
  GgufMetadata metadata() const {
    GgufMetadata result = in_.gguf() != nullptr ? in_.gguf()->metadata() : GgufMetadata();
    if (direction_ == Direction::to_gguf) result = metadata_of(*config_);
    for (const char* key : {"general.alignment", "split.no", "split.count", "split.tensors.count"}) result.erase(key);
    describe_types(tensors_, result);
    return result;
  }
  const std::optional<ModelConfig>& config() const { return config_; }
  const std::vector<TensorToWrite>& tensors() const { return tensors_; }

 private:
  Diag bad(const std::string& name, std::string_view text) const {
    return error(fmt::format("{}: tensor \"{}\": {}", in_.path(), name, text));
  }

  // A tied output matrix and tables that follow from the configuration are not stored twice.
  bool is_left_out(const std::string& name) const {
    if (direction_ != Direction::to_gguf) return false;
    return name.ends_with("rotary_emb.inv_freq") || (config_->tied && name == "lm_head.weight");
  }

  Expected<TensorPlan> translate(const std::string& name, const Weight& weight) const {
    TensorPlan plan{name, DType::f32, {}, 0};
    if (direction_ == Direction::none) return plan;
    const bool there = direction_ == Direction::to_gguf;
    const std::optional<std::string> other =
        there ? ggml_name(config_->family, name) : hugging_face_name(config_->family, name);
    if (!other) return bad(name, fmt::format("not a weight of {} that can be converted", lumen::name(config_->family)));
    plan.name = *other;
    const std::string& ggml = there ? *other : name;
    if (is_shifted(config_->family, ggml)) plan.shift = there ? 1.0f : -1.0f;
    const HeadRows order = head_rows(config_->family, ggml);
    if (order == HeadRows::same) return plan;
    const int64_t heads = order == HeadRows::query ? config_->heads : config_->key_value_heads;
    const int64_t rows = weight.dims.empty() ? 0 : weight.dims[0];
    if (rows == 0 || rows % (2 * heads) != 0)
      return bad(name, fmt::format("{} rows are no pairs in {} heads", rows, heads));
    plan.rows = there ? paired_rows(rows, heads) : halved_rows(rows, heads);
    return plan;
  }

  Expected<void> add(const std::string& name, const Weight& weight) {
    if (is_left_out(name)) return {};
    LUMEN_TRY(in_.find(name));  // refuses types without a meaning
    TensorPlan plan = LUMEN_TRY(translate(name, weight));
    plan.type = target_type(*weight.type, weight.dims, plan.name, to_gguf_, options_, keep_);
    if (!to_gguf_ && std::holds_alternative<BlockType>(plan.type)) {
      return bad(name, fmt::format(".safetensors cannot hold {}; f32, f16 and bf16 it can", lumen::name(plan.type)));
    }
    const std::string new_name = plan.name;
    const StorageType type = plan.type;
    tensors_.push_back({new_name, type, weight.dims, [this, name, &weight, plan = std::move(plan)] {
                          Expected<std::vector<std::byte>> bytes = converted_bytes(weight, plan);
                          return bytes.ok() ? std::move(bytes)
                                            : Expected<std::vector<std::byte>>(bad(name, bytes.diag().message));
                        }});
    return {};
  }

  void add_rope_divisors() {
    const std::vector<float> values = rope_divisors(*config_, *config_->rope_stretch);
    tensors_.push_back({"rope_freqs.weight", DType::f32, {static_cast<int64_t>(values.size())}, [values] {
                          std::vector<std::byte> bytes(values.size() * sizeof(float));
                          std::memcpy(bytes.data(), values.data(), bytes.size());
                          return bytes;
                        }});
  }

  const Weights& in_;
  bool to_gguf_;
  const ConvertOptions& options_;
  Direction direction_ = Direction::none;
  std::optional<ModelConfig> config_;
  std::vector<std::regex> keep_;
  std::vector<TensorToWrite> tensors_;
};

Expected<void> write_folder(const std::string& out, const Conversion& conversion, const WroteBytes& wrote) {
  std::error_code problem;
  fs::create_directories(out, problem);
  if (problem) return error(fmt::format("{}: cannot make the folder: {}", out, problem.message()));
  LUMEN_TRY(write_safetensors((fs::path(out) / "model.safetensors").string(), conversion.tensors(), {{"format", "pt"}},
                              wrote));
  if (!conversion.config()) return {};
  const std::string text = config_json(*conversion.config());
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(text))};
  return write_file((fs::path(out) / kConfig).string(), parts);
}

}  // namespace

Expected<ConvertReport> convert_weights(const Weights& in, const std::string& out, const ConvertOptions& options) {
  Conversion conversion(in, out.ends_with(".gguf"), options);
  LUMEN_TRY(conversion.plan());
  size_t total = 0, done = 0;
  for (const TensorToWrite& each : conversion.tensors()) {
    total += static_cast<size_t>(stored_bytes(each.type, each.dims).value_or(0));
  }
  const auto wrote = [&](size_t bytes) {
    done += bytes;
    if (options.progress) options.progress(done, total);
  };
  if (out.ends_with(".gguf")) {
    LUMEN_TRY(write_gguf(out, conversion.metadata(), conversion.tensors(), wrote));
  } else if (out.ends_with(".safetensors")) {
    LUMEN_TRY(write_safetensors(out, conversion.tensors(), {{"format", "pt"}}, wrote));
  } else {
    LUMEN_TRY(write_folder(out, conversion, wrote));
  }
  return ConvertReport{conversion.tensors().size(), total};
}

}  // namespace lumen
