#include "lumen/runtime/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "lumen/backend/bucket.h"
#include "lumen/backend/reference/executable.h"
#include "lumen/base/nearest.h"
#include "lumen/runtime/convert.h"
#include "lumen/runtime/trace_calls.h"

namespace lumen {

namespace {

// `no input "wieght"; did you mean "weight"?`
Error unknown(std::string_view kind, std::string_view name, const std::vector<std::string_view>& known) {
  std::string text = fmt::format("no {} \"{}\"", kind, name);
  if (const std::optional<std::string> guess = nearest(name, known))
    text += fmt::format("; did you mean \"{}\"?", *guess);
  return Error(error(text));
}

void check_dim(Expr dim, int64_t value) {
  const auto [lo, hi] = dim.dim_bounds();
  if (value >= lo && value <= hi) return;
  throw Error(error(fmt::format("dim \"{}\" = {} is outside {}..{}", dim.dim_name(), value, lo, hi)));
}

int64_t numel_of(const std::vector<int64_t>& dims) {
  int64_t numel = 1;
  for (const int64_t dim : dims) numel *= dim;
  return numel;
}

std::string type_of(DType dtype, const std::vector<int64_t>& dims) {
  return fmt::format("{}[{}]", name(dtype), fmt::join(dims, ","));
}

}  // namespace

Session::Session(std::shared_ptr<const Graph> graph)
    : Session(graph, reference_executable(graph)) {}  // NOLINT: both share it

Session::Session(std::shared_ptr<const Graph> graph, std::unique_ptr<Executable> executable)
    : graph_(std::move(graph)), executable_(std::move(executable)) {
  CHECK(graph_ != nullptr && executable_ != nullptr);
  inputs_.resize(graph_->inputs().size());
  dims_.resize(graph_->dims().size());
  for (std::vector<Result>& results : outputs_) results.resize(graph_->outputs().size());
  for (const Output& output : graph_->outputs()) {
    updates_.emplace_back();
    if (!output.alias) continue;
    updates_.back() =
        static_cast<size_t>(std::ranges::find(graph_->inputs(), *output.alias) - graph_->inputs().begin());
  }
}

size_t Session::input_number(std::string_view name) const {
  std::vector<std::string_view> names;
  for (size_t k = 0; k < inputs_.size(); ++k) {
    names.emplace_back(input_node(k).as<Input>().name.str());
    if (names.back() == name) return k;
  }
  throw unknown("input", name, names);
}

void Session::set_dim(std::string_view name, int64_t value) {
  std::vector<std::string_view> names;
  for (size_t k = 0; k < dims_.size(); ++k) {
    const Expr dim = graph_->dims()[k];
    names.push_back(dim.dim_name());
    if (names.back() != name) continue;
    check_dim(dim, value);
    prepared_ = prepared_ && dims_[k] == value;
    dims_[k] = value;
    return;
  }
  throw unknown("dim", name, names);
}

void Session::check_count(size_t number, int64_t count, const std::vector<int64_t>& dims) const {
  const int64_t wanted = numel_of(dims);
  if (count == wanted) return;
  const Node& node = input_node(number);
  throw Error(error(fmt::format("input \"{}\" is {} and needs {} values, got {}", node.as<Input>().name.str(),
                                type_of(node.type.dtype, dims), wanted, count)));
}

void Session::check_bytes(size_t number, int64_t bytes, const std::vector<int64_t>& dims) const {
  const Node& node = input_node(number);
  const int64_t wanted = storage_bytes(node.type.dtype, numel_of(dims));
  if (bytes == wanted) return;
  throw Error(error(fmt::format("input \"{}\" is {} and needs {} bytes, got {}", node.as<Input>().name.str(),
                                type_of(node.type.dtype, dims), wanted, bytes)));
}

void Session::give(size_t number, Given given) {
  inputs_[number] = std::move(given);
  prepared_ = false;
}

void Session::set_lanes(std::string_view name, DType from, std::vector<Lane> lanes) {
  const size_t number = input_number(name);
  const TensorType& type = input_node(number).type;
  if (const std::optional<size_t> bad = convert(from, type.dtype, lanes)) {
    throw Error(error(fmt::format("input \"{}\": {} at position {} is no value of {}", name,
                                  Scalar{from, lanes[*bad]}.str(), *bad, lumen::name(type.dtype))));
  }
  const auto count = static_cast<int64_t>(lanes.size());
  if (type.shape.is_static()) check_count(number, count, type.shape.evaluate({}).value());
  auto buffer = std::make_shared<Buffer>(storage_bytes(type.dtype, count));
  pack(type.dtype, lanes, {buffer->data(), static_cast<size_t>(buffer->bytes())});
  give(number, {Form::flat, {}, count, std::move(buffer)});
}

void Session::set_shaped(size_t number, DType dtype, Given given) {
  const TensorType& type = input_node(number).type;
  bool fits = dtype == type.dtype && given.dims.size() == static_cast<size_t>(type.shape.rank());
  for (size_t k = 0; fits && k < given.dims.size(); ++k) {
    const Expr dim = type.shape[static_cast<int64_t>(k)];
    if (dim.kind() == ExprKind::dim) check_dim(dim, given.dims[k]);
    fits = given.dims[k] == dim.constant().value_or(given.dims[k]);
  }
  if (!fits) {
    throw Error(error(fmt::format("input \"{}\" is {}, got {}", input_node(number).as<Input>().name.str(), type.str(),
                                  type_of(dtype, given.dims))));
  }
  check_count(number, given.count, given.dims);
  give(number, std::move(given));
}

void Session::set(std::string_view name, HostTensor value) {
  auto buffer = std::make_shared<Buffer>(storage_bytes(value.dtype, value.numel()));
  pack(value.dtype, value.lanes, {buffer->data(), static_cast<size_t>(buffer->bytes())});
  const int64_t count = value.numel();
  set_shaped(input_number(name), value.dtype, {Form::shaped, std::move(value.dims), count, std::move(buffer)});
}

void Session::bind(std::string_view name, const void* data, std::vector<int64_t> dims) {
  const size_t number = input_number(name);
  for (const Output& output : graph_->outputs()) {
    if (output.alias != graph_->inputs()[number]) continue;
    throw Error(error(
        fmt::format("input \"{}\" is state that output \"{}\" updates: it cannot be bound", name, output.name.str())));
  }
  const int64_t count = numel_of(dims);
  set_shaped(number, input_node(number).type.dtype, {Form::shaped, std::move(dims), count, nullptr, data});
}

void Session::set_bytes(std::string_view name, std::span<const std::byte> bytes) {
  const size_t number = input_number(name);
  const Shape shape = input_node(number).type.shape;
  const auto count = static_cast<int64_t>(bytes.size());
  if (shape.is_static()) check_bytes(number, count, shape.evaluate({}).value());
  auto buffer = std::make_shared<Buffer>(count);
  std::copy(bytes.begin(), bytes.end(), buffer->data());
  give(number, {Form::bytes, {}, count, std::move(buffer)});
}

void Session::feed(std::string_view name, std::string_view output) {
  const size_t number = input_number(name), from = output_number(output);
  const std::vector<int64_t>& dims = seen(from).dims;
  Given given{Form::shaped, dims, numel_of(dims), nullptr};
  given.fed = from;
  set_shaped(number, output_type(from).dtype, std::move(given));
}

std::vector<int64_t> Session::resolve_dims() const {
  std::vector<std::optional<int64_t>> values = dims_;
  std::vector<std::string> sources(values.size());
  for (size_t k = 0; k < values.size(); ++k) sources[k] = "set_dim";
  for (size_t number = 0; number < inputs_.size(); ++number) {
    if (inputs_[number].form != Form::shaped) continue;
    const Node& node = input_node(number);
    for (int64_t axis = 0; axis < node.type.shape.rank(); ++axis) {
      const auto found = std::find(graph_->dims().begin(), graph_->dims().end(), node.type.shape[axis]);
      if (found == graph_->dims().end()) continue;
      const auto k = static_cast<size_t>(found - graph_->dims().begin());
      const int64_t value = inputs_[number].dims[static_cast<size_t>(axis)];
      const std::string source = fmt::format("input \"{}\"", node.as<Input>().name.str());
      if (values[k] && *values[k] != value) {
        throw Error(error(fmt::format("dim \"{}\" is {} by {} but {} by {}", found->dim_name(), *values[k], sources[k],
                                      value, source)));
      }
      if (!values[k]) sources[k] = source;
      values[k] = value;
    }
  }
  std::vector<std::string> missing;
  for (size_t number = 0; number < inputs_.size(); ++number) {
    const Input& input = input_node(number).as<Input>();
    if (inputs_[number].form == Form::missing && input.kind != InputKind::state) {
      missing.push_back(fmt::format("input \"{}\"", input.name.str()));
    }
  }
  std::vector<int64_t> result;
  for (size_t k = 0; k < values.size(); ++k) {
    result.push_back(values[k].value_or(0));
    if (!values[k]) missing.push_back(fmt::format("dim \"{}\"", graph_->dims()[k].dim_name()));
  }
  if (!missing.empty()) throw Error(error(fmt::format("not set: {}", fmt::join(missing, ", "))));
  return result;
}

void Session::check_input(size_t number, const std::vector<int64_t>& dims) const {
  const Given& given = inputs_[number];
  if (given.form == Form::bytes) return check_bytes(number, given.count, dims);
  if (given.form == Form::flat) return check_count(number, given.count, dims);
  if (given.form == Form::missing || given.dims == dims) return;
  const Node& node = input_node(number);
  throw Error(error(fmt::format("input \"{}\" is {}, got {}", node.as<Input>().name.str(),
                                type_of(node.type.dtype, dims), type_of(node.type.dtype, given.dims))));
}

void Session::prepare() {
  std::vector<int64_t> values = resolve_dims();
  DimValues named;
  for (size_t k = 0; k < values.size(); ++k) named.set(graph_->dims()[k].dim_name(), values[k]);
  std::vector<std::vector<int64_t>> dims;
  for (size_t k = 0; k < inputs_.size(); ++k) {
    dims.push_back(input_node(k).type.shape.evaluate(named).value());
    check_input(k, dims.back());
  }
  if (values != dim_values_) {
    check_idle("other dims");
    dim_values_.reset();  // nothing is prepared, should this fail
    executable_->prepare(values).value();
    dim_values_ = std::move(values);
    in_place_.clear();
    output_dims_.clear();
    for (size_t k = 0; k < updates_.size(); ++k) {
      output_dims_.push_back(output_type(k).shape.evaluate(named).value());
      in_place_.push_back(updates_[k] && executable_->in_place(k));
    }
  }
  input_data_.clear();
  for (size_t k = 0; k < inputs_.size(); ++k) {
    Given& given = inputs_[k];
    if (given.form == Form::missing) {
      const int64_t bytes = storage_bytes(input_node(k).type.dtype, numel_of(dims[k]));
      given = {Form::computed, dims[k], 0, make_buffer(bytes), nullptr, true};
    }
    input_data_.push_back(given.data());
  }
  prepared_ = true;
}

std::shared_ptr<Buffer> Session::make_buffer(int64_t bytes) const {
  return std::make_shared<Buffer>(Buffer::make(executable_->memory(), bytes).value());
}

int64_t Session::room_for(const TensorType& type, int64_t bytes) const {
  return on_host() || type.shape.is_static() ? bytes : bucket_of(bytes);
}

int64_t Session::output_bytes(size_t number, const std::vector<int64_t>& dims) const {
  return storage_bytes(output_type(number).dtype, numel_of(dims));
}

void Session::send_inputs() {
  if (on_host()) return;
  Memory& memory = *executable_->memory();
  sent_.resize(inputs_.size());
  std::vector<std::pair<size_t, size_t>> mailed;  // an input, and its offset
  mail_.clear();
  for (size_t k = 0; k < inputs_.size(); ++k) {
    Given& given = inputs_[k];
    if (given.fed) continue;
    const TensorType& type = input_node(k).type;
    const bool changes = given.bound != nullptr && input_node(k).as<Input>().kind == InputKind::data;
    if (given.is_there && !changes) {
      input_data_[k] = given.bound != nullptr ? sent_[k]->data() : given.buffer->data();
      continue;
    }
    const int64_t bytes = given.bound != nullptr ? storage_bytes(type.dtype, given.count) : given.buffer->bytes();
    if (changes && bytes <= Mail::kMost) {
      mailed.emplace_back(k, mail_.add(given.bound, bytes));
      continue;
    }
    const int64_t room = room_for(type, bytes);
    if (sent_[k] == nullptr || sent_[k].use_count() > 1 || sent_[k]->bytes() != room) sent_[k] = make_buffer(room);
    memory.write(sent_[k]->data(), given.data(), bytes).value();
    if (given.bound == nullptr) given.buffer = sent_[k];
    given.is_there = true;
    input_data_[k] = sent_[k]->data();
  }
  if (mailed.empty()) return;
  const std::byte* const there = mail_.send(executable_->memory());
  for (const auto& [input, offset] : mailed) input_data_[input] = there + offset;
}

void Session::set_trace(Trace* trace) {
  trace_ = trace;
  set_profiling(trace != nullptr);
}

void Session::check_idle(const char* what) const {
  if (under_way_ > 0) throw Error(error(fmt::format("{} while an execute is under way: finish() first", what)));
}

void Session::execute() {
  check_idle("execute()");
  if (!prepared_) {
    const TraceScope scope(trace_, "prepare", "prepare");
    prepare();
  }
  {
    const TraceScope scope(trace_, "give places", "prepare");
    give_places(true);
  }
  {
    const TraceScope scope(trace_, "execute", "run");
    executable_->run(input_data_, output_data_).value();
  }
  take_state();
  take_outputs();
  if (trace_ != nullptr) add_calls(*trace_, profile());
}

void Session::start() {
  if (under_way_ == 2) check_idle("a third start()");
  give_places(false);
  executable_->start(input_data_, output_data_).value();
  take_state();
}

void Session::finish() {
  if (under_way_ == 0) throw Error(error("finish() without start()"));
  const Expected<void> finished = executable_->finish();
  take_outputs();
  if (!finished.ok()) seen_.reset();
  finished.value();
}

void Session::forget() {
  while (under_way_ > 0) {
    finish();
    seen_.reset();
  }
}

double Session::time(int64_t runs) {
  check_idle("time()");
  give_places(true);
  const double seconds = executable_->time(input_data_, output_data_, runs).value();
  take_state();
  take_outputs();
  return seconds;
}

// Where everything is in the next run. `again`: what the last one left is not needed, and its memory is still near.
void Session::give_places(bool again) {
  if (!prepared_) prepare();
  send_inputs();
  for (size_t k = 0; k < inputs_.size(); ++k) {
    if (!inputs_[k].fed) continue;
    const Result& before = outputs_[1 - turn_][*inputs_[k].fed];
    if (before.dims != inputs_[k].dims) {
      throw Error(error(fmt::format("input \"{}\" is {}, it is fed {}", input_node(k).as<Input>().name.str(),
                                    type_of(input_node(k).type.dtype, inputs_[k].dims),
                                    type_of(input_node(k).type.dtype, before.dims))));
    }
    input_data_[k] = before.buffer->data();
  }
  output_data_.clear();
  for (size_t k = 0; k < output_dims_.size(); ++k) {
    Result& result = outputs_[turn_][k];
    if (again && !updates_[k] && !is_fed(k)) {
      std::swap(result, outputs_[1 - turn_][k]);
      outputs_[1 - turn_][k].is_lost = true;
    }
    result.is_lost = false;
    const std::shared_ptr<Buffer> state = updates_[k] ? inputs_[*updates_[k]].buffer : nullptr;
    const int64_t room = room_for(output_type(k), output_bytes(k, output_dims_[k]));
    if (in_place_[k]) {
      result.buffer = state;
    } else if (result.buffer == nullptr || result.buffer == state || result.buffer->bytes() != room) {
      result.buffer = make_buffer(room);
    }
    result.dims = output_dims_[k];
    output_data_.push_back(result.buffer->data());
  }
}

bool Session::is_fed(size_t output) const {
  return std::ranges::any_of(inputs_, [&](const Given& given) { return given.fed == output; });
}

void Session::take_state() {
  for (size_t k = 0; k < updates_.size(); ++k) {
    const std::optional<size_t> number = updates_[k];
    if (!number) continue;
    const Result& result = outputs_[turn_][k];
    Given& given = inputs_[*number];
    given.form = Form::computed;
    given.dims = result.dims;  // in the memory that it has: executing again allocates nothing
    given.count = 0;
    given.buffer = result.buffer;
    given.bound = nullptr;
    given.fed.reset();
    given.is_there = true;
    input_data_[*number] = result.buffer->data();
  }
  if (seen_ == turn_) seen_.reset();
  turn_ = 1 - turn_;
  ++under_way_;
}

void Session::take_outputs() {
  seen_ = (turn_ + static_cast<size_t>(under_way_)) % 2;
  --under_way_;
  for (Result& result : outputs_[*seen_]) result.is_here = false;
}

size_t Session::output_number(std::string_view name) const {
  const std::span<const Output> outputs = graph_->outputs();
  const auto found =
      std::find_if(outputs.begin(), outputs.end(), [&](const Output& o) { return o.name.str() == name; });
  if (found != outputs.end()) {
    const auto number = static_cast<size_t>(found - outputs.begin());
    if (!seen_ || seen(number).is_lost) {
      const char* const when = under_way_ > 0 ? "finish()" : "execute()";
      throw Error(error(fmt::format("output \"{}\" has no value before {}", name, when)));
    }
    return number;
  }
  std::vector<std::string_view> names;
  for (const Output& output : outputs) names.emplace_back(output.name.str());
  throw unknown("output", name, names);
}

std::span<const std::byte> Session::bytes(std::string_view name) const {
  const size_t number = output_number(name);
  Result& result = seen(number);
  const int64_t bytes = output_bytes(number, result.dims);
  const auto size = static_cast<size_t>(bytes);
  if (on_host()) return {result.buffer->data(), size};
  if (const std::byte* const fetched = executable_->fetched(number)) return {fetched, size};
  if (!result.is_here) {
    if (result.here == nullptr || result.here->bytes() != bytes) result.here = std::make_shared<Buffer>(bytes);
    executable_->memory()->read(result.here->data(), result.buffer->data(), bytes).value();
    result.is_here = true;
  }
  return {result.here->data(), size};
}

HostTensor Session::tensor(std::string_view name) const {
  const size_t number = output_number(name);
  const DType dtype = output_type(number).dtype;
  HostTensor tensor = HostTensor::poisoned(dtype, seen(number).dims);
  unpack(dtype, bytes(name), tensor.lanes);
  return tensor;
}

void Session::refuse_get(std::string_view name, std::string_view type) const {
  const HostTensor from = tensor(name);
  throw Error(error(fmt::format("output \"{}\" is {}; {} does not hold every {}", name, type_of(from.dtype, from.dims),
                                type, lumen::name(from.dtype))));
}

}  // namespace lumen
