#include "lumen/search/field_values.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "lumen/egraph/core/primitive.h"

namespace lumen {

using egraph::EGraph;
using egraph::Sort;
using egraph::SortId;
using egraph::Value;

namespace {

std::string printed(const FieldType& type, const void* field) {
  std::string text;
  type.print(field, text);
  return text;
}

// The sort of values that are kept as they are.
template <class T>
SortId add_plain_sort(EGraph& graph, std::string name) {
  return graph.add_host_sort<T>(
      std::move(name), [](const T& value) { return field_type<T>().hash(&value); },
      [](const T& value) { return printed(field_type<T>(), &value); });
}

template <class T>
Value write_plain(const Sort& sort, const void* field) {
  return sort.values<T>().intern(*static_cast<const T*>(field));
}
template <class T>
void read_plain(const Sort& sort, Value value, void* field) {
  *static_cast<T*>(field) = sort.values<T>().at(value);
}

// Of values that are kept in a struct W around them, because their own == is not the equality of fields.
template <class T, class W>
Value write_wrapped(const Sort& sort, const void* field) {
  return sort.values<W>().intern(W{*static_cast<const T*>(field)});
}
template <class T, class W>
void read_wrapped(const Sort& sort, Value value, void* field) {
  std::memcpy(field, &sort.values<W>().at(value), sizeof(T));
}

// The bytes that field k may fill: up to the next field, or the end of the struct.
size_t room(const OpDef& op, size_t k) {
  const size_t at = op.fields[k].offset;
  size_t end = op.size;
  for (const FieldInfo& field : op.fields) {
    if (field.offset > at) end = std::min(end, field.offset);
  }
  return std::min(end - at, sizeof(EnumValue::bytes));
}

// shift_direction is the sort ShiftDirection.
std::string sort_name(std::string_view type) {
  std::string name;
  bool starts_word = true;
  for (const char c : type) {
    if (c != '_') name += starts_word ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    starts_word = c == '_';
  }
  return name;
}

}  // namespace

FieldValues::FieldValues(EGraph& graph) {
  const auto plain = [&]<class T>(std::string name) {
    const SortId sort = add_plain_sort<T>(graph, std::move(name));
    kinds_.push_back({&field_type<T>(), sort, write_plain<T>, read_plain<T>});
  };
  plain.operator()<DType>("DType");
  plain.operator()<Expr>("Expr");
  plain.operator()<Shape>("Shape");
  plain.operator()<View>("View");
  plain.operator()<Scalar>("Scalar");
  plain.operator()<Name>("Name");
  kinds_.push_back({&field_type<int64_t>(), egraph::kI64,
                    [](const Sort& sort, const void* f) { return from_i64(sort, *static_cast<const int64_t*>(f)); },
                    [](const Sort& sort, Value v, void* f) { *static_cast<int64_t*>(f) = to_i64(sort, v); }});
  kinds_.push_back({&field_type<bool>(), egraph::kBool,
                    [](const Sort&, const void* f) { return Value{*static_cast<const bool*>(f)}; },
                    [](const Sort&, Value v, void* f) { *static_cast<bool*>(f) = v != 0; }});
  const SortId floats = graph.add_host_sort<FloatValue>(
      "Float", [](const FloatValue& v) { return field_type<double>().hash(&v.value); },
      [](const FloatValue& v) { return printed(field_type<double>(), &v.value); });
  kinds_.push_back(
      {&field_type<double>(), floats, write_wrapped<double, FloatValue>, read_wrapped<double, FloatValue>});
  const SortId bodies = graph.add_host_sort<BodyValue>(
      "Body", [](const BodyValue& v) { return field_type<Body>().hash(&v.body); },
      [](const BodyValue&) { return std::string("{...}"); });
  kinds_.push_back({&field_type<Body>(), bodies, write_wrapped<Body, BodyValue>, read_wrapped<Body, BodyValue>});
  type_sort_ = graph.add_host_sort<TensorType>(
      "Type", [](const TensorType& t) { return Hasher(t.shape.hash()).add(t.dtype).value(); },
      [](const TensorType& t) { return t.str(); });
}

const FieldValues::Kind* FieldValues::find(const FieldType* type) const {
  const auto at = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& kind) { return kind.type == type; });
  return at == kinds_.end() ? nullptr : &*at;
}

void FieldValues::add_enums(EGraph& graph, const OpDef& op) {
  for (const FieldInfo& field : op.fields) {
    if (find(field.type) != nullptr) continue;
    const SortId sort = graph.add_host_sort<EnumValue>(
        sort_name(field.type->name), [](const EnumValue& v) { return v.type->hash(v.bytes); },
        [](const EnumValue& v) { return printed(*v.type, v.bytes); });
    kinds_.push_back({field.type, sort, nullptr, nullptr});
  }
}

SortId FieldValues::sort_of(const OpDef& op, size_t k) const {
  const Kind* kind = find(op.fields[k].type);
  CHECK(kind != nullptr, "an op whose enums were not added");
  return kind->sort;
}

Value FieldValues::write(const Sorts& sorts, const OpDef& op, size_t k, const void* fields) const {
  const Kind& kind = *find(op.fields[k].type);
  const void* field = static_cast<const std::byte*>(fields) + op.fields[k].offset;
  if (kind.write != nullptr) return kind.write(sorts[kind.sort], field);
  EnumValue value{kind.type};
  std::memcpy(value.bytes, field, room(op, k));
  return sorts[kind.sort].values<EnumValue>().intern(value);
}

void FieldValues::read(const Sorts& sorts, const OpDef& op, size_t k, Value value, void* fields) const {
  const Kind& kind = *find(op.fields[k].type);
  void* field = static_cast<std::byte*>(fields) + op.fields[k].offset;
  if (kind.read != nullptr) return kind.read(sorts[kind.sort], value, field);
  std::memcpy(field, sorts[kind.sort].values<EnumValue>().at(value).bytes, room(op, k));
}

}  // namespace lumen
