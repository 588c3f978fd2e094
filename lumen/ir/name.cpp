#include "lumen/ir/name.h"

#include <fmt/format.h>

#include "lumen/base/hash.h"
#include "lumen/base/intern.h"

namespace lumen {

namespace {

struct NameNode {
  std::string text;
  uint64_t hash;
  bool operator==(const NameNode&) const = default;
};

}  // namespace

Name::Name(std::string_view text) {
  static auto& interner = *new Interner<NameNode>;  // never destroyed: handles in statics stay valid
  text_ = &interner.intern({std::string(text), hash_bytes(text)})->text;
}

uint64_t Name::hash() const { return hash_bytes(*text_); }

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace lumen
