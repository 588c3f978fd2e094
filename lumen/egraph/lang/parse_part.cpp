#include <fmt/format.h>

#include "lumen/base/nearest.h"
#include "lumen/egraph/lang/parser.h"

namespace lumen::egraph {

namespace {

// As in a message: long lists are cut.
std::string shown(const Sexp& sexp, const Source& source) {
  const std::string_view text = std::string_view(source.text).substr(sexp.begin, sexp.end - sexp.begin);
  if (sexp.kind == Sexp::Kind::atom) return fmt::format("`{}`", sexp.text);
  const size_t cut = std::min(text.find('\n'), size_t{40});
  if (text.size() <= cut) return fmt::format("`{}`", text);
  size_t end = cut;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return fmt::format("`{}...`", text.substr(0, end));
}

}  // namespace

Diag Parser::expected(const Sexp& sexp, std::string_view what) const {
  return error_at(span(sexp), fmt::format("expected {}, given {}", what, shown(sexp, source_)));
}

Diag Parser::unknown_option(const Sexp& key, std::string_view where, std::span<const std::string_view> known) const {
  Diag diag = error_at(span(key), fmt::format("`{}` has no option `{}`; its options: {}", where, key.text,
                                              known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
  if (const auto meant = nearest(key.text, known)) diag.notes.push_back(fmt::format("did you mean `{}`?", *meant));
  return diag;
}

Expected<Parser::Form> Parser::form(const Sexp& sexp, std::string_view what) const {
  if (!sexp.is_list() || sexp.size == 1 || !(&sexp)[1].is_atom()) return expected(sexp, what);
  Form result{&sexp, LUMEN_TRY(name((&sexp)[1], what)), {}};
  for (const Sexp* at = (&sexp)[1].next(); at != sexp.next(); at = at->next()) result.args.push_back(at);
  return result;
}

Expected<std::string_view> Parser::name(const Sexp& sexp, std::string_view what) const {
  if (!sexp.is_atom() || sexp.is_key()) return expected(sexp, what);
  return sexp.text;
}

Expected<std::string_view> Parser::variable_name(const Sexp& sexp, std::string_view what) const {
  const std::string_view text = LUMEN_TRY(name(sexp, what));
  LUMEN_TRY(check_not_reserved(text, sexp));
  return text;
}

Expected<void> Parser::check_not_reserved(std::string_view name, const Sexp& sexp) const {
  if (!name.starts_with('@')) return {};
  return error_at(span(sexp), fmt::format("the name `{}` is reserved, as all that start with `@`", name));
}

Expected<uint64_t> Parser::unsigned_integer(const Sexp& sexp, std::string_view what) const {
  if (sexp.kind != Sexp::Kind::integer || sexp.integer < 0) {
    return expected(sexp, fmt::format("{} (an integer that is not negative)", what));
  }
  return static_cast<uint64_t>(sexp.integer);
}

Expected<std::string_view> Parser::string(const Sexp& sexp, std::string_view what) const {
  if (sexp.kind != Sexp::Kind::string) return expected(sexp, fmt::format("{} (a string in quotes)", what));
  return sexp.text;
}

Expected<Items> Parser::list(const Sexp& sexp, std::string_view what) const {
  if (!sexp.is_list()) return expected(sexp, fmt::format("{} in brackets", what));
  return Items(sexp);
}

Expected<std::vector<Parser::Option>> Parser::options(Args args) const {
  std::vector<Option> result;
  for (size_t at = 0; at < args.size();) {
    if (!args[at]->is_key()) return expected(*args[at], "an option such as `:name`");
    size_t end = at + 1;
    while (end < args.size() && !args[end]->is_key()) ++end;
    result.push_back({args[at], args.subspan(at + 1, end - at - 1)});
    at = end;
  }
  return result;
}

Expected<const Sexp*> Parser::single_value(const Option& option) const {
  if (option.values.empty()) return error_at(span(*option.key), fmt::format("`{}` needs a value", option.key->text));
  if (option.values.size() > 1) {
    return expected(*option.values[1], fmt::format("one value after `{}` and then options", option.key->text));
  }
  return option.values[0];
}

Expected<void> Parser::no_value(const Option& option) const {
  if (option.values.empty()) return {};
  return expected(*option.values[0], fmt::format("no value after `{}`", option.key->text));
}

Expected<void> Parser::check_nesting(const Sexp& sexp) const {
  if (nesting_ <= kMaxNesting) return {};
  return error_at(span(sexp), fmt::format("commands or schedules nest deeper than {}", kMaxNesting));
}

}  // namespace lumen::egraph
