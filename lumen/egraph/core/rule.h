// Rules as the engine runs them: flat atoms and calls over numbered variables. lang/ makes them from text.
//
//   (rewrite (Add a (Num 0)) a)   becomes   atoms    Add(v0, v1) = v2   Num(0) = v1
//                                           actions  union v2 v0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lumen/egraph/core/value.h"

namespace lumen::egraph {

// A place in an atom, call or action: a variable of the rule, a value, or a global (whose value may change its
// representative between runs, so it is looked up when the rule runs).
struct Slot {
  enum class Kind : uint8_t { variable, value, global };
  Kind kind = Kind::variable;
  uint32_t index = 0;  // of the variable or global; the Value itself

  static Slot variable(uint32_t i) { return {Kind::variable, i}; }
  static Slot value(Value v) { return {Kind::value, v}; }
  static Slot global(uint32_t i) { return {Kind::global, i}; }
  bool is_variable() const { return kind == Kind::variable; }
  bool operator==(const Slot&) const = default;
};

// table(args...) = last slot.
struct Atom {
  TableId table = 0;
  std::vector<Slot> slots;  // as many as the table has columns: the arguments, then the result
  bool fact = false;        // the result can only be (): nothing to compare. The engine sets it.
};

// primitive(args...) = result. In a body the result is bound, or compared when it is bound already.
struct PrimitiveCall {
  PrimitiveId primitive = 0;
  std::vector<Slot> args;
  Slot result;
};

// What must hold: all atoms and calls. Every variable is bound by an atom or by the result of a call.
struct Query {
  uint32_t variables = 0;
  std::vector<SortId> sorts;  // of the variables
  std::vector<Atom> atoms;
  std::vector<PrimitiveCall> calls;
  std::vector<std::string> names;  // of the variables, for people; may be empty
  bool include_subsumed = false;   // `check` sees subsumed rows, rules do not
};

// One step of a head. Steps run in order and may use what earlier ones bound.
struct Action {
  enum class Kind : uint8_t {
    call,     // result = primitive(args); no result is an error
    make,     // result = table(args), made if missing: constructors and relations
    read,     // result = table(args), an error if missing: functions, only outside rules or with a flag
    set,      // table(args) = last of args, merged with what is there
    unite,    // args[0] and args[1], of `sort`
    erase,    // table(args)
    subsume,  // table(args)
    fail,     // stops with `message`
  };
  Kind kind = Kind::make;
  uint32_t target = 0;  // TableId, PrimitiveId, or the SortId for unite
  std::vector<Slot> args;
  Slot result;          // a fresh variable
  std::string message;  // fail
};

// `query` holds => `actions`. Variables of the actions are numbered on from the query's, up to `variables`.
struct Rule {
  std::string name;
  Query query;
  uint32_t variables = 0;
  std::vector<Action> actions;
  bool naive = false;  // match everything at every run, not only what is new
};

// An expression with parameters: variables 0..n-1 are given, `result` is its value. :merge of a function has two, the
// old and the new value.
struct Lambda {
  uint32_t variables = 0;
  std::vector<Action> actions;
  Slot result;
};

enum class Merge : uint8_t {
  unite,   // constructors: the two results become one class
  old,     // keep what is there
  fresh,   // take the new one
  lambda,  // computed
  error,   // :no-merge: different values are an error
};

struct TableDecl {
  std::string name;
  std::vector<SortId> params;
  SortId result = 0;  // kUnit for relations
  Merge merge = Merge::unite;
  Lambda merge_lambda;
  bool constructor = false;  // rows are terms: a missing one can be made, with a new class as result
  bool relation = false;     // rows are facts: `make` adds one; result kUnit
  bool extractable = true;
  uint64_t cost = 1;
  // Of the last `field_names.size()` parameters; rules may give those by name and in any order.
  std::vector<std::string> field_names;

  // Of a column of the table: the parameters, then the result.
  SortId column_sort(size_t column) const { return column < params.size() ? params[column] : result; }
};

}  // namespace lumen::egraph
