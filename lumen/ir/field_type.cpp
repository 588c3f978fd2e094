#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "lumen/base/nearest.h"
#include "lumen/ir/text_reader.h"

namespace lumen {

namespace {

template <class T>
const T& as(const void* field) {
  return *static_cast<const T*>(field);
}

// A FieldType of T from how it hashes, prints and parses; equality is T's own.
template <class T, class Hash, class Print, class Parse>
constexpr FieldType make(std::string_view name, Hash, Print, Parse) {
  return {name, [](const void* a, const void* b) { return as<T>(a) == as<T>(b); },
          [](const void* field) -> uint64_t { return Hash{}(as<T>(field)); },
          [](const void* field, std::string& out) { Print{}(as<T>(field), out); },
          [](TextReader& reader, void* out) -> Expected<void> {
            *static_cast<T*>(out) = LUMEN_TRY(Parse{}(reader));
            return {};
          }};
}

uint64_t bits(double value) { return std::bit_cast<uint64_t>(value); }

Expected<bool> parse_bool(TextReader& reader) {
  if (reader.accept_word("true")) return true;
  if (reader.accept_word("false")) return false;
  return reader.fail(fmt::format("expected true or false, got {}", reader.next_shown()));
}

Expected<double> parse_real(TextReader& reader) {
  const double value = LUMEN_TRY(reader.real());
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;  // one NaN, as Scalar::of
}

Expected<Shape> parse_shape(TextReader& reader) {
  const Shape shape = LUMEN_TRY(reader.shape());
  reader.set_extents(shape);
  return shape;
}

Expected<Name> parse_name(TextReader& reader) { return Name(LUMEN_TRY(reader.string("a name"))); }

bool same_body(const void* a, const void* b) {
  const Graph* x = as<Body>(a).graph;
  const Graph* y = as<Body>(b).graph;
  return x == y || (x != nullptr && y != nullptr && x->equals(*y));
}

uint64_t hash_body(const void* field) {
  const Graph* graph = as<Body>(field).graph;
  return graph == nullptr ? 0 : graph->hash();
}

}  // namespace

template <>
const FieldType& field_type<int64_t>() {
  static constexpr FieldType type = make<int64_t>(
      "int", [](int64_t v) { return static_cast<uint64_t>(v); },
      [](int64_t v, std::string& out) { out += std::to_string(v); }, [](TextReader& r) { return r.integer(); });
  return type;
}

template <>
const FieldType& field_type<double>() {
  static constexpr FieldType type = {
      "float", [](const void* a, const void* b) { return bits(as<double>(a)) == bits(as<double>(b)); },
      [](const void* field) { return bits(as<double>(field)); },
      [](const void* field, std::string& out) { out += shortest_digits(DType::f64, as<double>(field)); },
      [](TextReader& reader, void* out) -> Expected<void> {
        *static_cast<double*>(out) = LUMEN_TRY(parse_real(reader));
        return {};
      }};
  return type;
}

template <>
const FieldType& field_type<bool>() {
  static constexpr FieldType type = make<bool>(
      "bool", [](bool v) { return uint64_t{v}; }, [](bool v, std::string& out) { out += v ? "true" : "false"; },
      [](TextReader& r) { return parse_bool(r); });
  return type;
}

template <>
const FieldType& field_type<DType>() {
  static constexpr FieldType type = make<DType>(
      "dtype", [](DType v) { return hash_bytes(name(v)); }, [](DType v, std::string& out) { out += name(v); },
      [](TextReader& r) { return r.dtype(); });
  return type;
}

template <>
const FieldType& field_type<Expr>() {
  static constexpr FieldType type = make<Expr>(
      "expr", [](const Expr& v) { return v.hash(); }, [](const Expr& v, std::string& out) { out += v.str(); },
      [](TextReader& r) { return r.expr(); });
  return type;
}

template <>
const FieldType& field_type<Shape>() {
  static constexpr FieldType type = make<Shape>(
      "shape", [](const Shape& v) { return v.hash(); }, [](const Shape& v, std::string& out) { out += v.str(); },
      [](TextReader& r) { return parse_shape(r); });
  return type;
}

template <>
const FieldType& field_type<View>() {
  static constexpr FieldType type = make<View>(
      "view", [](const View& v) { return v.hash(); }, [](const View& v, std::string& out) { out += v.str(); },
      [](TextReader& r) { return r.view(); });
  return type;
}

template <>
const FieldType& field_type<Scalar>() {
  static constexpr FieldType type = make<Scalar>(
      "scalar", [](const Scalar& v) { return Hasher().add(name(v.dtype)).add(v.value.i).value(); },
      [](const Scalar& v, std::string& out) { out += v.str(); }, [](TextReader& r) { return r.scalar(); });
  return type;
}

template <>
const FieldType& field_type<Name>() {
  static constexpr FieldType type = make<Name>(
      "name", [](const Name& v) { return v.hash(); }, [](const Name& v, std::string& out) { out += quoted(v.str()); },
      [](TextReader& r) { return parse_name(r); });
  return type;
}

template <>
const FieldType& field_type<Body>() {
  static constexpr FieldType type = {
      "body", same_body, hash_body,
      [](const void* field, std::string& out) { print_body(*as<Body>(field).graph, out); },
      [](TextReader& reader, void* out) -> Expected<void> {
        *static_cast<Body*>(out) = LUMEN_TRY(reader.body());
        return {};
      }};
  return type;
}

Expected<size_t> detail::parse_enum(TextReader& reader, std::string_view type,
                                    std::span<const std::string_view> names) {
  const size_t start = reader.position();
  const std::string_view found = LUMEN_TRY(reader.word(fmt::format("a {}", type)));
  for (size_t k = 0; k < names.size(); ++k) {
    if (names[k] == found) return k;
  }
  const auto meant = nearest(found, names);
  return reader.fail(fmt::format("unknown {} `{}`{}", type, found.substr(0, 40),
                                 meant ? fmt::format("; did you mean `{}`?", *meant) : ""),
                     start);
}

}  // namespace lumen
