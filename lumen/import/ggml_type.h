// The types of GGUF: those of tensors and those of metadata, with the numbers that stand for them in a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lumen/import/storage_type.h"

namespace lumen {

// The type of a tensor, as the file has it: any number, so that a file with a tensor of an unknown type opens.
enum class GgmlType : uint32_t {};

// "Q8_0"; "IQ2_XXS" for one that exists but has no meaning here; "type 77" for a number that stands for nothing known.
std::string name(GgmlType type);
// Nothing for a type that has no meaning here.
std::optional<StorageType> storage_type(GgmlType type);
// Nothing for a dtype that GGUF does not have.
std::optional<GgmlType> ggml_type(const StorageType& type);

// The type of a metadata value, or of an array's elements.
enum class GgufType : uint32_t { u8, i8, u16, i16, u32, i32, f32, bool_, string, array, u64, i64, f64 };
constexpr uint32_t kGgufTypes = 13;
std::string_view name(GgufType type);  // "u8", "string"
int64_t width(GgufType type);          // bytes of a number or bool; of a string or an array: at least so many

}  // namespace lumen
