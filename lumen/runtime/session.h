// Session: a graph with values. Set inputs and dims, execute, get outputs.
//
//   Session session = compile(graph);
//   session.set("a", {1, 2, 3});
//   session.execute();
//   std::vector<float> c = session.get<float>("c");
//
// Inputs keep their values from one execute to the next. A dim that set_dim does not give is taken from the tensors
// given with their shapes. State starts as zeros; an output that updates a state input becomes its value for the next
// execute. Everything throws lumen::Error. After an execute that failed while it ran, outputs have no values but those
// that update state, which is as it was, unless it is updated in place: then it may be so in part.
//
// start() and finish() are the halves of an execute for those who have a GPU work while they do: two may be under way.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "lumen/backend/buffer.h"
#include "lumen/backend/executable.h"
#include "lumen/base/trace.h"
#include "lumen/ir/graph.h"
#include "lumen/runtime/mail.h"

namespace lumen {

template <class T>
concept Number = std::is_arithmetic_v<T> && sizeof(T) <= 8;

class Session {
 public:
  // On the reference.
  explicit Session(std::shared_ptr<const Graph> graph);
  // On what computes the graph.
  Session(std::shared_ptr<const Graph> graph, std::unique_ptr<Executable> executable);

  const Graph& graph() const { return *graph_; }

  void set_dim(std::string_view name, int64_t value);

  // Values in row-major order, as many as the input has elements once its dims are known. Floats are rounded to the
  // input's dtype, but a finite one must stay finite; in every other case each value must be one of the dtype.
  template <Number T>
  void set(std::string_view name, std::span<const T> values);
  template <Number T>
  void set(std::string_view name, const std::vector<T>& values);
  void set(std::string_view name, std::initializer_list<double> values) {
    set(name, std::span<const double>(values.begin(), values.size()));
  }
  // Of exactly the input's dtype and shape.
  void set(std::string_view name, HostTensor value);
  // The elements as they are stored (dtype.h).
  void set_bytes(std::string_view name, std::span<const std::byte> bytes);
  // The same without a copy: `data` is read at every execute, aligned for its elements, until the input is given anew.
  // Not for state that an output updates. A weight must stay as it is: a GPU reads it once.
  void bind(std::string_view name, const void* data, std::vector<int64_t> dims);
  // The value of an output after the execute before, for each that follows: it stays where it is. The first one needs a
  // value of exactly the input's dtype and shape.
  void feed(std::string_view name, std::string_view output);

  void execute();
  // Begins an execute. One more may begin before it is finished: it comes after it and takes fed inputs and state from
  // it. From then on outputs have no values until finish(). Dims stay as they are while one is under way.
  void start();
  // Waits for the execute that began first; its outputs are those seen until a second one begins after it. After an
  // error state holds anything.
  void finish();
  // Waits for what is under way; nothing of it is seen.
  void forget();
  int under_way() const { return under_way_; }
  // Seconds that the kernels of an execute take, as the mean of `runs` in a row: on a GPU by its own clock and with
  // nothing in its cache. State is updated as often.
  double time(int64_t runs);
  // Whether tensors are in the host's memory, where inputs can be bound for nothing.
  bool on_host() const { return executable_->memory()->is_host(); }

  // While on, execute() notes when each kernel ran.
  void set_profiling(bool on) { executable_->set_profiling(on); }
  // Every execute() until the next call adds its kernels, with what each thread did of them. Null: none.
  void set_trace(Trace* trace);
  std::span<const CallTime> profile() const { return executable_->profile(); }

  // Of an output, after execute. T must hold every value of its dtype.
  template <Number T>
  std::vector<T> get(std::string_view name) const;
  HostTensor tensor(std::string_view name) const;
  // As they are stored; until the next execute.
  std::span<const std::byte> bytes(std::string_view name) const;
  const std::vector<int64_t>& dims(std::string_view name) const { return seen(output_number(name)).dims; }

 private:
  enum class Form : uint8_t {
    missing,
    shaped,    // given with its dims
    flat,      // elements without dims
    bytes,     // bytes without dims
    computed,  // state that an output left
  };
  struct Given {
    Form form = Form::missing;
    std::vector<int64_t> dims;       // shaped and computed
    int64_t count = 0;               // flat: elements; bytes: bytes
    std::shared_ptr<Buffer> buffer;  // null when bound or fed, or missing before the first execute
    const void* bound = nullptr;
    bool is_there = false;           // `buffer` is in the executable's memory, when that is not the host's
    std::optional<size_t> fed = {};  // the output that it is, after the first execute

    // Null when it is fed.
    const void* data() const { return buffer != nullptr ? buffer->data() : bound; }
  };
  struct Result {
    std::vector<int64_t> dims;
    std::shared_ptr<Buffer> buffer;
    std::shared_ptr<Buffer> here;  // for a copy on the host, once asked for, when `buffer` is not there
    bool is_here = false;
    bool is_lost = false;  // the next run has its memory
  };

  size_t input_number(std::string_view name) const;
  size_t output_number(std::string_view name) const;  // of one that has a value
  Result& seen(size_t output) const { return outputs_[*seen_][output]; }
  const Node& input_node(size_t number) const { return (*graph_)[graph_->inputs()[number]]; }
  TensorType output_type(size_t number) const { return (*graph_)[graph_->outputs()[number].value].type; }
  void give(size_t number, Given given);
  void set_lanes(std::string_view name, DType from, std::vector<Lane> lanes);
  void set_shaped(size_t number, DType dtype, Given given);
  void check_count(size_t number, int64_t count, const std::vector<int64_t>& dims) const;
  void check_bytes(size_t number, int64_t bytes, const std::vector<int64_t>& dims) const;
  // Sizes and buffers for what is given now.
  void prepare();
  std::vector<int64_t> resolve_dims() const;
  void check_input(size_t number, const std::vector<int64_t>& dims) const;
  // For memory that is not the host's: inputs that are not there yet, and those that may have changed.
  void send_inputs();
  std::shared_ptr<Buffer> make_buffer(int64_t bytes) const;
  // Bytes of a buffer for so many: of a type with dims more of them, where other sizes in the same place gain by it.
  int64_t room_for(const TensorType& type, int64_t bytes) const;
  int64_t output_bytes(size_t number, const std::vector<int64_t>& dims) const;
  void give_places(bool again);
  bool is_fed(size_t output) const;  // to an input
  void check_idle(const char* what) const;
  // After its run began: what it writes is what the next one reads.
  void take_state();
  // After its run ended: what it wrote is what is seen.
  void take_outputs();
  [[noreturn]] void refuse_get(std::string_view name, std::string_view type) const;

  std::shared_ptr<const Graph> graph_;
  std::unique_ptr<Executable> executable_;
  std::vector<Given> inputs_;                   // as graph_->inputs()
  std::vector<std::optional<size_t>> updates_;  // by output: the state input that it updates
  std::vector<std::optional<int64_t>> dims_;    // as graph_->dims()
  // Runs write to the two in turn; as graph_->outputs(), without dims and buffers before the first one.
  mutable std::array<std::vector<Result>, 2> outputs_;
  size_t turn_ = 0;             // to which the next run writes
  std::optional<size_t> seen_;  // which of them is seen
  int under_way_ = 0;           // runs
  Trace* trace_ = nullptr;

  // What the next run uses; valid while nothing is given.
  bool prepared_ = false;
  std::optional<std::vector<int64_t>> dim_values_;  // that the executable is prepared for
  std::vector<std::vector<int64_t>> output_dims_;
  std::vector<bool> in_place_;  // by output
  std::vector<const void*> input_data_;
  std::vector<std::shared_ptr<Buffer>> sent_;  // by input: its place in memory that is not the host's, unless by mail
  Mail mail_;
  std::vector<void*> output_data_;
};

namespace detail {

// The dtype whose lanes hold any T.
template <Number T>
constexpr DType wide_dtype() {
  if constexpr (std::is_same_v<T, bool>) return DType::bool_;
  if constexpr (std::is_floating_point_v<T>) return DType::f64;
  return std::is_signed_v<T> ? DType::i64 : DType::u64;
}

// Whether T has every value of the dtype.
template <Number T>
bool can_hold(DType dtype) {
  const DTypeInfo& about = info(dtype);
  if (is_bool(dtype)) return true;
  if constexpr (std::is_same_v<T, bool>) return false;
  const int digits = is_unsigned(dtype) ? about.bits : about.bits - 1;
  if constexpr (std::is_floating_point_v<T>) {
    if (is_float(dtype)) return dtype != DType::f64 || sizeof(T) == 8;
    return digits <= std::numeric_limits<T>::digits;
  }
  return !is_float(dtype) && (is_unsigned(dtype) || std::is_signed_v<T>)&&digits <= std::numeric_limits<T>::digits;
}

template <Number T>
std::string type_name() {
  if constexpr (std::is_same_v<T, bool>) return "bool";
  if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 8 ? "double" : "float";
  return (std::is_signed_v<T> ? "int" : "uint") + std::to_string(8 * sizeof(T)) + "_t";
}

}  // namespace detail

template <Number T>
void Session::set(std::string_view name, std::span<const T> values) {
  std::vector<Lane> lanes(values.size());
  for (size_t k = 0; k < values.size(); ++k) {
    if constexpr (std::is_floating_point_v<T>) {
      lanes[k].f = static_cast<double>(values[k]);
    } else {
      lanes[k].i = static_cast<int64_t>(values[k]);
    }
  }
  set_lanes(name, detail::wide_dtype<T>(), std::move(lanes));
}

template <Number T>
void Session::set(std::string_view name, const std::vector<T>& values) {
  if constexpr (std::is_same_v<T, bool>) {
    const std::vector<uint8_t> bytes(values.begin(), values.end());
    set(name, std::span<const uint8_t>(bytes));
  } else {
    set(name, std::span<const T>(values));
  }
}

template <Number T>
std::vector<T> Session::get(std::string_view name) const {
  const HostTensor from = tensor(name);
  if (!detail::can_hold<T>(from.dtype)) refuse_get(name, detail::type_name<T>());
  std::vector<T> values(from.lanes.size());
  for (size_t k = 0; k < values.size(); ++k) {
    values[k] = is_float(from.dtype) ? static_cast<T>(from.lanes[k].f) : static_cast<T>(from.lanes[k].i);
  }
  return values;
}

}  // namespace lumen
