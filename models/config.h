// Config: a model's config.json, read key by key. What is missing or of another type is an error that names the key.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/base/expected.h"

namespace lumen::models {

class Config {
 public:
  // The text of a JSON object.
  static Expected<Config> parse(std::string_view text);

  // Present, and not null.
  bool has(std::string_view key) const;

  // Integers and numbers are finite; an integer may be written as 2.0. With `fallback`, a key that is not there gives
  // it.
  Expected<int64_t> integer(std::string_view key) const;
  Expected<int64_t> integer(std::string_view key, int64_t fallback) const;
  // From 1 to 2^20, as the dims of tensors are.
  Expected<int64_t> size(std::string_view key) const;
  Expected<int64_t> size(std::string_view key, int64_t fallback) const;
  // From 1 to 2^26, as numbers of tokens are.
  Expected<int64_t> token_count(std::string_view key) const;
  // From 1 to 1024.
  Expected<int64_t> layer_count(std::string_view key) const;
  Expected<double> number(std::string_view key) const;
  Expected<double> number(std::string_view key, double fallback) const;
  Expected<bool> boolean(std::string_view key, bool fallback) const;
  Expected<std::string> string(std::string_view key) const;
  Expected<std::string> string(std::string_view key, std::string_view fallback) const;
  Expected<std::vector<double>> numbers(std::string_view key) const;
  Expected<std::vector<std::string>> strings(std::string_view key) const;
  // An object within; its errors name the whole path.
  Expected<Config> object(std::string_view key) const;
  // The same where there is one.
  Expected<std::optional<double>> optional_number(std::string_view key) const;
  Expected<std::optional<int64_t>> optional_token_count(std::string_view key) const;

  // `config.json: "hidden_size" text`
  Diag problem(std::string_view key, std::string_view text) const;

 private:
  Config(std::shared_ptr<const nlohmann::json> root, const nlohmann::json* here, std::string path)
      : root_(std::move(root)), here_(here), path_(std::move(path)) {}
  const nlohmann::json* find(std::string_view key) const;  // null when not there
  Expected<const nlohmann::json*> need(std::string_view key) const;
  Expected<int64_t> up_to(int64_t most, std::string_view key) const;
  Diag wrong_type(std::string_view key, std::string_view wanted, const nlohmann::json& got) const;

  std::shared_ptr<const nlohmann::json> root_;
  const nlohmann::json* here_;
  std::string path_;  // "" or "rope_parameters."
};

}  // namespace lumen::models
