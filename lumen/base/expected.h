// Expected<T>: a value, or a Diag that says what was wrong.
//
// Everything a user or a candidate program can cause is returned as Expected; CHECK (check.h) is for our own
// bugs. The frontend, whose operators cannot thread a return value, throws the same Diag inside an Error.
//
//   Expected<int> parse(std::string_view s) {
//     if (s.empty()) return error("an integer is missing");
//     ...
//   }
//   int n = LUMEN_TRY(parse(text));          // hands the Diag up on failure
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace lumen {

// A place in a text the user gave (1-based; line 0 means "no place").
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
};

// What went wrong. `message` is one sentence naming what was given; `notes` add context, one line each.
struct Diag {
  std::string message;
  Location where;
  std::vector<std::string> notes;

  // "file:line:col: message" and the notes, one per line; no trailing newline.
  std::string str() const;
  Diag&& note(std::string text) && {
    notes.push_back(std::move(text));
    return std::move(*this);
  }
};

inline Diag error(std::string message) { return Diag{std::move(message), {}, {}}; }

// What the frontend and the Session throw.
class Error : public std::runtime_error {
 public:
  explicit Error(Diag diag) : std::runtime_error(diag.str()), diag_(std::make_shared<Diag>(std::move(diag))) {}
  const Diag& diag() const { return *diag_; }

 private:
  std::shared_ptr<const Diag> diag_;  // shared: an exception must copy without throwing
};

template <class T = void>
class [[nodiscard]] Expected {
 public:
  using Value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

  Expected() requires std::is_void_v<T> : state_(std::in_place_index<0>) {}
  Expected(Value value)  // NOLINT: a value is an Expected
      requires(!std::is_void_v<T>)
      : state_(std::in_place_index<0>, std::move(value)) {}
  Expected(Diag diag)  // NOLINT: so is a Diag
      : state_(std::in_place_index<1>, std::make_unique<Diag>(std::move(diag))) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // The value; throws Error when there is none, so a forgotten check cannot go unseen.
  Value& value() & {
    raise_unless_ok();
    return std::get<0>(state_);
  }
  const Value& value() const& {
    raise_unless_ok();
    return std::get<0>(state_);
  }
  Value&& value() && {
    raise_unless_ok();
    return std::move(std::get<0>(state_));
  }
  Value& operator*() & { return value(); }
  const Value& operator*() const& { return value(); }
  Value&& operator*() && { return std::move(*this).value(); }
  Value* operator->() { return &value(); }
  const Value* operator->() const { return &value(); }

  // Only when !ok().
  const Diag& diag() const { return *std::get<1>(state_); }
  Diag take_diag() && { return std::move(*std::get<1>(state_)); }

 private:
  void raise_unless_ok() const {
    if (!ok()) throw Error(diag());
  }
  std::variant<Value, std::unique_ptr<Diag>> state_;
};

}  // namespace lumen

// The value of an Expected expression, or an early return with its Diag. The counter keeps nested ones apart. Not in a
// braced list after an element that owns memory: compilers do not destroy that element on the early return.
#define LUMEN_TRY(...) LUMEN_TRY_COUNTED(__COUNTER__, __VA_ARGS__)
#define LUMEN_TRY_COUNTED(id, ...) LUMEN_TRY_NAMED(id, __VA_ARGS__)
#define LUMEN_TRY_NAMED(id, ...)                                            \
  ({                                                                        \
    auto&& lumen_try_##id = (__VA_ARGS__);                                  \
    if (!lumen_try_##id.ok()) return std::move(lumen_try_##id).take_diag(); \
    std::move(lumen_try_##id).value();                                      \
  })
