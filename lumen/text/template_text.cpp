// Values as Python writes them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lumen/text/template_value.h"
#include "lumen/text/unicode.h"
#include "lumen/text/utf8.h"

namespace lumen::text {

namespace {

using Kind = Value::Kind;

constexpr int kMaxTextDepth = 100;

Diag too_deep() { return error("a value is nested too deeply, or holds itself"); }

// Python's choice of quotes and escapes.
void append_quoted(std::string& out, std::string_view text) {
  const bool double_quotes = text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  const char quote = double_quotes ? '"' : '\'';
  out += quote;
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = utf8_at(text, at);
    const std::string_view same = text.substr(at, c.size);
    at += c.size;
    if (c.code == static_cast<char32_t>(quote) || c.code == '\\') {
      (out += '\\') += same;
    } else if (c.code == '\n' || c.code == '\r' || c.code == '\t') {
      out += c.code == '\n' ? "\\n" : c.code == '\r' ? "\\r" : "\\t";
    } else if (c.code != ' ' && (is_other(c.code) || is_space(c.code))) {
      const auto code = static_cast<uint32_t>(c.code);
      out += code < 0x100     ? fmt::format("\\x{:02x}", code)
             : code < 0x10000 ? fmt::format("\\u{:04x}", code)
                              : fmt::format("\\U{:08x}", code);
    } else {
      out += same;
    }
  }
  out += quote;
}

Expected<void> append_repr(std::string& out, const Value& value, int depth);

Expected<void> append_entries(std::string& out, const DictValue& dict, int depth) {
  out += '{';
  for (size_t k = 0; k < dict.entries.size(); ++k) {
    if (k > 0) out += ", ";
    LUMEN_TRY(append_repr(out, dict.entries[k].first, depth + 1));
    out += ": ";
    LUMEN_TRY(append_repr(out, dict.entries[k].second, depth + 1));
  }
  out += '}';
  return {};
}

Expected<void> append_repr(std::string& out, const Value& value, int depth) {
  if (depth > kMaxTextDepth) return too_deep();
  switch (value.kind()) {
    case Kind::undefined:
      out += "Undefined";
      break;
    case Kind::none:
      out += "None";
      break;
    case Kind::boolean:
      out += value.as_bool() ? "True" : "False";
      break;
    case Kind::integer:
      out += fmt::to_string(value.as_integer());
      break;
    case Kind::number:
      out += number_text(value.as_number());
      break;
    case Kind::string:
      append_quoted(out, value.as_string());
      break;
    case Kind::dict:
      return append_entries(out, value.as_dict(), depth);
    case Kind::space: {
      out += "<Namespace ";
      LUMEN_TRY(append_entries(out, value.as_dict(), depth));
      out += '>';
      break;
    }
    case Kind::list: {
      const ListValue& list = value.as_list();
      out += list.tuple ? '(' : '[';
      for (size_t k = 0; k < list.items.size(); ++k) {
        if (k > 0) out += ", ";
        LUMEN_TRY(append_repr(out, list.items[k], depth + 1));
      }
      if (list.tuple && list.items.size() == 1) out += ',';
      out += list.tuple ? ')' : ']';
      break;
    }
    default:
      out += fmt::format("<{}>", type_name(value));
      break;
  }
  return {};
}

class JsonWriter {
 public:
  explicit JsonWriter(const JsonStyle& style) : style_(style) {}
  std::string out;

  Expected<void> write(const Value& value, int depth) {
    if (depth > kMaxTextDepth) return too_deep();
    switch (value.kind()) {
      case Kind::none:
        out += "null";
        break;
      case Kind::boolean:
        out += value.as_bool() ? "true" : "false";
        break;
      case Kind::integer:
        out += fmt::to_string(value.as_integer());
        break;
      case Kind::number:
        write_number(value.as_number());
        break;
      case Kind::string:
        write_string(value.as_string());
        break;
      case Kind::list:
        return write_list(value.as_list(), depth);
      case Kind::dict:
        return write_dict(value.as_dict(), depth);
      default:
        return error(fmt::format("Object of type {} is not JSON serializable", type_name(value)));
    }
    return {};
  }

 private:
  void write_number(double value) {
    out += std::isnan(value) ? "NaN" : std::isinf(value) ? (value > 0 ? "Infinity" : "-Infinity") : number_text(value);
  }

  void write_string(std::string_view text) {
    out += '"';
    for (size_t at = 0; at < text.size();) {
      const Utf8Char c = utf8_at(text, at);
      write_character(c.code, text.substr(at, c.size));
      at += c.size;
    }
    out += '"';
  }

  void write_character(char32_t code, std::string_view same) {
    constexpr std::string_view kEscaped = "\"\\\n\r\t\b\f";
    constexpr std::string_view kLetters = "\"\\nrtbf";
    const size_t known = code < 0x80 ? kEscaped.find(static_cast<char>(code)) : std::string_view::npos;
    if (known != std::string_view::npos) {
      (out += '\\') += kLetters[known];
    } else if (code >= 0x10000 && style_.ascii) {
      const auto rest = static_cast<uint32_t>(code - 0x10000);
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
    } else if (code < 0x20 || (style_.ascii && code > 0x7E)) {
      out += fmt::format("\\u{:04x}", static_cast<uint32_t>(code));
    } else {
      out += same;
    }
  }

  void separate(bool first, int depth) {
    if (!first) out += style_.item_separator;
    if (style_.indent < 0) return;
    out += '\n';
    out.append(static_cast<size_t>(style_.indent) * static_cast<size_t>(depth), ' ');
  }

  Expected<void> write_list(const ListValue& list, int depth) {
    out += '[';
    for (size_t k = 0; k < list.items.size(); ++k) {
      separate(k == 0, depth + 1);
      LUMEN_TRY(write(list.items[k], depth + 1));
    }
    if (!list.items.empty()) separate(true, depth);
    out += ']';
    return {};
  }

  Expected<void> write_dict(const DictValue& dict, int depth) {
    std::vector<std::pair<std::string, const Value*>> entries;
    for (const auto& [key, value] : dict.entries) {
      JsonWriter writer(style_);
      if (!key.is(Kind::string)) LUMEN_TRY(writer.write(key, depth + 1));
      entries.emplace_back(key.is(Kind::string) ? key.as_string() : writer.out, &value);
    }
    if (style_.sort_keys) {
      std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    }
    out += '{';
    for (size_t k = 0; k < entries.size(); ++k) {
      separate(k == 0, depth + 1);
      write_string(entries[k].first);
      out += style_.key_separator;
      LUMEN_TRY(write(*entries[k].second, depth + 1));
    }
    if (!entries.empty()) separate(true, depth);
    out += '}';
    return {};
  }

  const JsonStyle& style_;
};

}  // namespace

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

Expected<std::string> to_repr(const Value& value) {
  std::string text;
  LUMEN_TRY(append_repr(text, value, 0));
  return text;
}

Expected<std::string> to_text(const Value& value) {
  if (value.is(Kind::string)) return value.as_string();
  if (value.is(Kind::undefined)) return std::string();
  return to_repr(value);
}

Expected<std::string> to_json(const Value& value, const JsonStyle& style) {
  JsonWriter writer(style);
  LUMEN_TRY(writer.write(value, 0));
  return std::move(writer.out);
}

}  // namespace lumen::text
