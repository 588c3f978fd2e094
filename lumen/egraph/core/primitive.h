// Primitives: functions over values that the engine computes instead of storing. A primitive may be partial: no
// result means that the rule does not fire, the check fails, the top-level action is an error.
//
// typed_primitive.h makes one from a C++ function; host.h does so for the types of a host.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lumen/base/expected.h"
#include "lumen/egraph/core/sort.h"
#include "lumen/egraph/core/value.h"

namespace lumen::egraph {

// In a parameter or result of a signature: any sort, the same everywhere in that signature.
inline constexpr SortId kAnySort = 0xfffffffe;

// What a primitive sees of the engine. Only those that work on tables need more than the sorts and the first two flags.
class PrimitiveContext {
 public:
  explicit PrimitiveContext(const std::vector<Sort>& sorts) : sorts_(&sorts) {}
  virtual ~PrimitiveContext() = default;
  const Sort& sort(SortId id) const { return (*sorts_)[id]; }
  const std::vector<Sort>& sorts() const { return *sorts_; }

  // While several threads match, pools must not grow: a primitive whose result is not in its pool yet then gives no
  // result and says so in needs_serial; the engine calls it again, alone.
  bool frozen = false;
  bool needs_serial = false;

  // The value of a function or constructor at `args`; a missing constructor term is made where the place allows it
  // (actions), otherwise no value.
  virtual std::optional<Value> call_table(TableId, std::span<const Value>) { return std::nullopt; }
  virtual std::optional<Value> call_primitive(PrimitiveId, std::span<const Value>) { return std::nullopt; }
  // These change the e-graph and give false where that is not allowed: everywhere but in actions.
  virtual bool unite(SortId, Value, Value) { return false; }
  virtual bool set(TableId, std::span<const Value> /*args*/, Value) { return false; }
  virtual bool erase(TableId, std::span<const Value> /*args*/) { return false; }
  // Rows of the tables of these names, unknown ones counting 0; of all tables and globals for no name.
  virtual int64_t count_rows(std::span<const std::string> /*tables*/) { return 0; }

 private:
  const std::vector<Sort>* sorts_;
};

using PrimitiveFn = std::function<std::optional<Value>(PrimitiveContext&, std::span<const Value>)>;

// What a primitive on two i64 does when both are inline; the engine then does it itself, without a call.
enum class Quick : uint8_t {
  none,
  less,
  greater,
  less_equal,
  greater_equal,
  add,
  subtract,
  multiply,
  divide,
  remainder
};
inline bool compares(Quick quick) { return quick >= Quick::less && quick <= Quick::greater_equal; }

struct Primitive {
  std::string name;
  std::vector<SortId> params;
  bool variadic = false;  // the last parameter may come any number of times, also not at all
  SortId result = kUnit;
  PrimitiveFn apply;
  // Never called from several threads at once, nor with a frozen context.
  bool serial = true;
  Quick quick = Quick::none;
  // Calls or counts tables (unstable-app and what is built on it): not allowed where reading tables is not.
  bool reads_tables = false;
};

// The sequence of a `function` container, unpacked.
struct FunctionValue {
  bool is_primitive = false;
  uint32_t callee = 0;  // TableId or PrimitiveId
  std::vector<SortId> sorts;
  std::vector<Value> args;

  static FunctionValue unpack(std::span<const Value> sequence);
  std::vector<Value> pack() const;
  // The callee at the arguments so far and `more`.
  std::optional<Value> apply(PrimitiveContext& context, std::span<const Value> more) const;
};

// i64 values: 0 .. 2^31-1 are the Value itself, the others are interned (sort kI64 has a ValuePool<int64_t>) and come
// after them. So they order in sets: numbers that fit by size, then the others by first use.
inline constexpr Value kInterned = 0x80000000;
inline bool i64_is_inline(int64_t x) { return x >= 0 && x < int64_t{kInterned}; }
Value from_i64(const Sort& i64_sort, int64_t x);
// Without interning: no value for a number that is not there yet.
std::optional<Value> find_i64(const Sort& i64_sort, int64_t x);
inline int64_t to_i64(const Sort& i64_sort, Value v) {
  return (v & kInterned) == 0 ? int64_t{v} : i64_sort.values<int64_t>().at(v & ~kInterned);
}

// The result of a quick primitive, if any; `known` is false when apply must be asked.
[[gnu::always_inline]] inline std::optional<Value> run_quick(Quick quick, Value a, Value b, bool& known) {
  const auto holds = [](bool fact) { return fact ? std::optional<Value>(0) : std::nullopt; };
  const auto number = [&](uint64_t x) {
    known = x < kInterned;  // a negative difference wraps and is not
    return known ? std::optional(static_cast<Value>(x)) : std::nullopt;
  };
  known = quick != Quick::none && ((a | b) & kInterned) == 0;
  if (!known) return std::nullopt;
  switch (quick) {
    case Quick::less:
      return holds(a < b);
    case Quick::greater:
      return holds(a > b);
    case Quick::less_equal:
      return holds(a <= b);
    case Quick::greater_equal:
      return holds(a >= b);
    case Quick::add:
      return number(uint64_t{a} + b);
    case Quick::subtract:
      return number(uint64_t{a} - b);
    case Quick::multiply:
      return number(uint64_t{a} * b);
    case Quick::divide:
    case Quick::remainder:
      known = b != 0;
      if (!known) return std::nullopt;
      return quick == Quick::divide ? a / b : a % b;
    case Quick::none:
      break;
  }
  return std::nullopt;
}

// The built-in sorts of an empty e-graph, and the primitives on them. Pools: kI64 int64_t, kF64 double, kString
// std::string; a bool is the Value 0 or 1, the Unit is the Value 0.
std::vector<Sort> builtin_sorts();
void add_builtin_primitives(std::vector<Primitive>& primitives);

// Makes a container sort (its pool included). Presorts: Vec Set MultiSet (one argument), Map Pair (two), UnstableFn
// (the inputs, then the output). A diag names a wrong presort or wrong arguments.
Expected<Sort> make_container_sort(std::string name, std::string_view presort, std::span<const SortId> arguments,
                                   const std::vector<Sort>& sorts);
// The primitives that come with the container `sort`, the one of `sorts` declared last; also those that join it with
// earlier ones (mapping a function over a Vec). Not unstable-fn, whose first argument is a name: see FunctionValue.
void add_container_primitives(SortId sort, const std::vector<Sort>& sorts, std::vector<Primitive>& primitives);
// Names of container primitives, which nothing else may take even before there is a container.
bool is_reserved_primitive(std::string_view name);

// A container value as a term: (head e0 e1 ...); `nested`, a map: (head (head (map-empty) k0 v0) k1 v1), or
// (map-empty); `function`: (head "name of the callee" e0 e1 ...).
struct ContainerTerm {
  struct Element {
    SortId sort;
    Value value;
  };
  std::string_view head;
  std::vector<Element> elements;
  bool nested = false;
  std::optional<FunctionValue> function;
};
ContainerTerm container_term(const Sort& sort, Value value);

// A base value as the language writes it: 1, -2.5, "a", true, (), (rational 1 2), (from-string "7"), ... Text stands in
// its quotes as it is, without escapes, as in the output of the reference engine.
std::string print_base_value(const Sort& sort, SortId id, Value value);
// 1.0, 0.0000001, 100000.0, 1e19 in full: digits that read back as the same number, never an exponent.
std::string print_f64(double x);

}  // namespace lumen::egraph
