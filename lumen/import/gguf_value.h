// One metadata value of a GGUF file: a number, a bool, a string, or an array of one of these.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lumen/import/ggml_type.h"

namespace lumen {

struct GgufValue {
  // Integers and bools; a u64 by its bits.
  using Integers = std::vector<int64_t>;
  using Floats = std::vector<double>;
  using Strings = std::vector<std::string>;

  GgufType type = GgufType::u32;  // of the value, or of the elements; never `array`
  bool is_array = false;
  std::variant<Integers, Floats, Strings> values;  // the alternative that fits the type; one value when no array

  static GgufValue of(GgufType type, int64_t value) { return {type, false, Integers{value}}; }
  static GgufValue of_u32(int64_t value) { return of(GgufType::u32, value); }
  static GgufValue of_bool(bool value) { return of(GgufType::bool_, value ? 1 : 0); }
  static GgufValue of_f32(double value) { return {GgufType::f32, false, Floats{value}}; }
  static GgufValue of_string(std::string value) { return {GgufType::string, false, Strings{std::move(value)}}; }
  static GgufValue of_array(GgufType type, std::variant<Integers, Floats, Strings> values) {
    return {type, true, std::move(values)};
  }

  size_t size() const;
  // "u32", "[string]"
  std::string type_text() const;
  bool operator==(const GgufValue&) const = default;
};

using GgufMetadata = std::map<std::string, GgufValue, std::less<>>;

}  // namespace lumen
