#include "calculator.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace lumen::egraph {
namespace {

void skip_space(std::string_view& text) {
  while (!text.empty() && text[0] == ' ') text.remove_prefix(1);
}

std::string_view take_word(std::string_view& text) {
  size_t end = text.find_first_of(" ()");
  if (text.starts_with('"')) end = text.find('"', 1) + 1;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(word.size());
  return word;
}

}  // namespace

Calculator::Calculator() : PrimitiveContext(sorts_), sorts_(builtin_sorts()) { add_builtin_primitives(primitives_); }

SortId Calculator::add_sort(std::string name, std::string_view presort, std::vector<SortId> arguments) {
  sorts_.push_back(make_container_sort(std::move(name), presort, arguments, sorts_).value());
  const SortId id = static_cast<SortId>(sorts_.size() - 1);
  add_container_primitives(id, sorts_, primitives_);
  return id;
}

SortId Calculator::add_eq_sort(std::string name) {
  sorts_.emplace_back().name = std::move(name);
  return static_cast<SortId>(sorts_.size() - 1);
}

TableId Calculator::add_table(std::string name, std::vector<SortId> params, SortId result) {
  tables_.push_back({std::move(name), std::move(params), result, {}});
  return static_cast<TableId>(tables_.size() - 1);
}

std::string Calculator::operator()(std::string_view expression) {
  try {
    return print(evaluate(expression));
  } catch (Failure failure) {
    return failure == Failure::partial ? "fails" : "?";
  }
}

Calculator::Typed Calculator::evaluate(std::string_view& text) {
  skip_space(text);
  std::optional<SortId> wanted;
  if (text.starts_with('@')) {
    wanted = sort_named(take_word(text).substr(1));
    skip_space(text);
  }
  if (!text.starts_with('(')) return literal(take_word(text));
  text.remove_prefix(1);
  skip_space(text);
  if (text.starts_with(')')) {
    text.remove_prefix(1);
    return {kUnit, 0};
  }
  const std::string_view head = take_word(text);
  std::vector<Typed> args;
  for (skip_space(text); !text.starts_with(')'); skip_space(text)) args.push_back(evaluate(text));
  text.remove_prefix(1);
  return call(head, args, wanted);
}

Calculator::Typed Calculator::literal(std::string_view word) {
  if (word == "true" || word == "false") return {kBool, Value{word == "true"}};
  if (word.starts_with('"')) {
    return {kString, sorts_[kString].values<std::string>().intern(std::string(word.substr(1, word.size() - 2)))};
  }
  int64_t integer = 0;
  if (std::from_chars(word.data(), word.data() + word.size(), integer).ptr == word.data() + word.size()) {
    return {kI64, from_i64(sorts_[kI64], integer)};
  }
  return {kF64, sorts_[kF64].values<double>().intern(std::strtod(std::string(word).c_str(), nullptr))};
}

Calculator::Typed Calculator::call(std::string_view head, const std::vector<Typed>& args,
                                   std::optional<SortId> wanted) {
  if (head == "unstable-fn") return function(args, wanted);
  if (const SortId sort = sort_named(head); sort != kNone) return {sort, args[0].value};
  std::vector<Value> values;
  for (const Typed& arg : args) values.push_back(arg.value);
  for (const Primitive& primitive : primitives_) {
    if (primitive.name != head || (wanted && primitive.result != *wanted)) continue;
    if (primitive.variadic ? args.size() + 1 < primitive.params.size() : args.size() != primitive.params.size())
      continue;
    SortId any = kAnySort;
    const bool fits = std::ranges::all_of(args, [&](const Typed& arg) {
      const SortId param =
          primitive.params[std::min<size_t>(static_cast<size_t>(&arg - args.data()), primitive.params.size() - 1)];
      if (param != kAnySort) return param == arg.sort;
      if (any == kAnySort) any = arg.sort;
      return any == arg.sort;
    });
    if (!fits) continue;
    const std::optional<Value> result = primitive.apply(*this, values);
    if (!result) throw Failure::partial;
    return {primitive.result == kAnySort ? any : primitive.result, *result};
  }
  throw Failure::no_fit;
}

Calculator::Typed Calculator::function(const std::vector<Typed>& args, std::optional<SortId> wanted) {
  if (!wanted) throw Failure::no_fit;
  const std::string& name = sorts_[kString].values<std::string>().at(args[0].value);
  std::vector<SortId> signature;
  FunctionValue result;
  for (size_t i = 1; i < args.size(); ++i) {
    result.sorts.push_back(args[i].sort);
    result.args.push_back(args[i].value);
    signature.push_back(args[i].sort);
  }
  const std::vector<SortId>& rest = sorts_[*wanted].elements;
  signature.insert(signature.end(), rest.begin(), rest.end());
  const auto fits = [&](const auto& callee) {
    std::vector<SortId> own = callee.params;
    own.push_back(callee.result);
    return callee.name == name && own == signature;
  };
  const auto table = std::ranges::find_if(tables_, fits);
  const auto primitive = std::ranges::find_if(primitives_, fits);
  if (table == tables_.end() && primitive == primitives_.end()) throw Failure::no_fit;
  result.is_primitive = table == tables_.end();
  result.callee =
      static_cast<uint32_t>(result.is_primitive ? primitive - primitives_.begin() : table - tables_.begin());
  return {*wanted, sorts_[*wanted].sequences().intern(result.pack())};
}

std::string Calculator::print(Typed typed) const {
  const Sort& sort = sorts_[typed.sort];
  if (sort.kind == SortKind::base) return print_base_value(sort, typed.sort, typed.value);
  if (sort.kind == SortKind::eq) return "(" + sort.name + " " + std::to_string(typed.value) + ")";
  const ContainerTerm term = container_term(sort, typed.value);
  if (term.nested) {
    std::string text = "(map-empty)";
    for (size_t i = 0; i < term.elements.size(); i += 2) {
      text = "(" + std::string(term.head) + " " + text;
      for (size_t k = i; k < i + 2; ++k) text += " " + print({term.elements[k].sort, term.elements[k].value});
      text += ")";
    }
    return text;
  }
  std::string text = "(" + std::string(term.head);
  if (term.function) {
    const uint32_t callee = term.function->callee;
    text += " \"" + (term.function->is_primitive ? primitives_[callee].name : tables_[callee].name) + "\"";
  }
  for (const auto& [element, value] : term.elements) text += " " + print({element, value});
  return text + ")";
}

SortId Calculator::sort_named(std::string_view name) const {
  const auto sort = std::ranges::find(sorts_, name, [](const Sort& s) { return std::string_view(s.name); });
  return sort == sorts_.end() ? kNone : static_cast<SortId>(sort - sorts_.begin());
}

std::optional<Value> Calculator::call_table(TableId table, std::span<const Value> args) {
  const auto row = tables_[table].rows.find({args.begin(), args.end()});
  return row == tables_[table].rows.end() ? std::nullopt : std::optional(row->second);
}

std::optional<Value> Calculator::call_primitive(PrimitiveId primitive, std::span<const Value> args) {
  return primitives_[primitive].apply(*this, args);
}

bool Calculator::unite(SortId, Value a, Value b) {
  united.emplace_back(a, b);
  return true;
}

bool Calculator::set(TableId table, std::span<const Value> args, Value value) {
  tables_[table].rows[{args.begin(), args.end()}] = value;
  return true;
}

bool Calculator::erase(TableId table, std::span<const Value> args) {
  tables_[table].rows.erase({args.begin(), args.end()});
  return true;
}

int64_t Calculator::count_rows(std::span<const std::string> names) {
  int64_t rows = 0;
  for (const Table& table : tables_) {
    if (names.empty() || std::ranges::find(names, table.name) != names.end()) {
      rows += static_cast<int64_t>(table.rows.size());
    }
  }
  return rows;
}

}  // namespace lumen::egraph
