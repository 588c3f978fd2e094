// Name: an interned, immutable string (input names, op names of users). Equality compares handles.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lumen {

class Name {
 public:
  Name() : Name(std::string_view{}) {}
  Name(std::string_view text);                                     // NOLINT: text is a name
  Name(const char* text) : Name(std::string_view(text)) {}         // NOLINT
  Name(const std::string& text) : Name(std::string_view(text)) {}  // NOLINT
  const std::string& str() const { return *text_; }
  bool operator==(const Name& o) const { return text_ == o.text_; }
  uint64_t hash() const;

 private:
  const std::string* text_;
};

// The text in double quotes, with \" \\ \n \r \t and \xNN for other control characters: as the text format has it.
std::string quoted(std::string_view text);

}  // namespace lumen
