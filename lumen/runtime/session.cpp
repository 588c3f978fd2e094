#include "lumen/runtime/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lumen/backend/reference/interpreter.h"
#include "lumen/base/nearest.h"
#include "lumen/runtime/convert.h"

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

std::string type_of(DType dtype, const std::vector<int64_t>& dims) {
  return fmt::format("{}[{}]", name(dtype), fmt::join(dims, ","));
}

}  // namespace

Session::Session(std::shared_ptr<const Graph> graph) : graph_(std::move(graph)) {
  CHECK(graph_ != nullptr);
  inputs_.resize(graph_->inputs().size());
  dims_.resize(graph_->dims().size());
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
    dims_[k] = value;
    return;
  }
  throw unknown("dim", name, names);
}

void Session::check_count(size_t number, int64_t count, const std::vector<int64_t>& dims) const {
  int64_t wanted = 1;
  for (const int64_t dim : dims) wanted *= dim;
  if (count == wanted) return;
  const Node& node = input_node(number);
  throw Error(error(fmt::format("input \"{}\" is {} and needs {} values, got {}", node.as<Input>().name.str(),
                                type_of(node.type.dtype, dims), wanted, count)));
}

void Session::set_lanes(std::string_view name, DType from, std::vector<Lane> lanes) {
  const size_t number = input_number(name);
  const TensorType& type = input_node(number).type;
  if (const std::optional<size_t> bad = convert(from, type.dtype, lanes)) {
    throw Error(error(fmt::format("input \"{}\": {} at position {} is no value of {}", name,
                                  Scalar{from, lanes[*bad]}.str(), *bad, lumen::name(type.dtype))));
  }
  if (type.shape.is_static()) check_count(number, static_cast<int64_t>(lanes.size()), type.shape.evaluate({}).value());
  inputs_[number] = {Form::flat, {type.dtype, {}, std::move(lanes)}, {}};
}

void Session::set(std::string_view name, HostTensor value) {
  const size_t number = input_number(name);
  const TensorType& type = input_node(number).type;
  bool fits = value.dtype == type.dtype && value.dims.size() == static_cast<size_t>(type.shape.rank());
  for (size_t k = 0; fits && k < value.dims.size(); ++k) {
    const Expr dim = type.shape[static_cast<int64_t>(k)];
    if (dim.kind() == ExprKind::dim) check_dim(dim, value.dims[k]);
    fits = value.dims[k] == dim.constant().value_or(value.dims[k]);
  }
  if (!fits) {
    throw Error(error(fmt::format("input \"{}\" is {}, got {}", name, type.str(), type_of(value.dtype, value.dims))));
  }
  check_count(number, value.numel(), value.dims);
  inputs_[number] = {Form::shaped, std::move(value), {}};
}

void Session::set_bytes(std::string_view name, std::span<const std::byte> bytes) {
  const size_t number = input_number(name);
  Given given{Form::bytes, {}, {bytes.begin(), bytes.end()}};
  if (input_node(number).type.shape.is_static()) given = {Form::shaped, resolve_input(number, given, {}), {}};
  inputs_[number] = std::move(given);
}

DimValues Session::resolve_dims() const {
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
      const int64_t value = inputs_[number].tensor.dims[static_cast<size_t>(axis)];
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
  DimValues result;
  for (size_t k = 0; k < values.size(); ++k) {
    if (values[k]) result.set(graph_->dims()[k].dim_name(), *values[k]);
    if (!values[k]) missing.push_back(fmt::format("dim \"{}\"", graph_->dims()[k].dim_name()));
  }
  if (!missing.empty()) throw Error(error(fmt::format("not set: {}", fmt::join(missing, ", "))));
  return result;
}

HostTensor Session::resolve_input(size_t number, const Given& given, const DimValues& dims) const {
  const Node& node = input_node(number);
  const std::string& name = node.as<Input>().name.str();
  HostTensor tensor{node.type.dtype, node.type.shape.evaluate(dims).value(), {}};
  int64_t numel = 1;
  for (const int64_t dim : tensor.dims) numel *= dim;
  if (given.form == Form::missing) {
    tensor.lanes.assign(static_cast<size_t>(numel), Scalar::of(tensor.dtype, 0.0).value);
  } else if (given.form == Form::bytes) {
    const auto wanted = static_cast<size_t>(storage_bytes(tensor.dtype, numel));
    if (given.bytes.size() != wanted) {
      throw Error(error(fmt::format("input \"{}\" is {} and needs {} bytes, got {}", name,
                                    type_of(tensor.dtype, tensor.dims), wanted, given.bytes.size())));
    }
    tensor.lanes.resize(static_cast<size_t>(numel));
    unpack(tensor.dtype, given.bytes, tensor.lanes);
  } else if (given.form == Form::flat) {
    check_count(number, given.tensor.numel(), tensor.dims);
    tensor.lanes = given.tensor.lanes;
  } else if (given.tensor.dims != tensor.dims) {
    throw Error(error(fmt::format("input \"{}\" is {}, got {}", name, type_of(tensor.dtype, tensor.dims),
                                  type_of(tensor.dtype, given.tensor.dims))));
  }
  return tensor;
}

void Session::execute() {
  const DimValues dims = resolve_dims();
  std::vector<HostTensor> resolved(inputs_.size());
  std::vector<const HostTensor*> operands;
  for (size_t k = 0; k < inputs_.size(); ++k) {
    resolved[k] = resolve_input(k, inputs_[k], dims);
    const bool in_place = inputs_[k].form == Form::shaped || inputs_[k].form == Form::computed;
    operands.push_back(in_place ? &inputs_[k].tensor : &resolved[k]);
  }
  std::vector<HostTensor> outputs = interpret(*graph_, operands, dims).value();
  for (size_t k = 0; k < outputs.size(); ++k) {
    const std::optional<NodeId> alias = graph_->outputs()[k].alias;
    if (!alias) continue;
    const auto number = std::find(graph_->inputs().begin(), graph_->inputs().end(), *alias) - graph_->inputs().begin();
    inputs_[static_cast<size_t>(number)] = {Form::computed, outputs[k], {}};
  }
  outputs_ = std::move(outputs);
}

const HostTensor& Session::tensor(std::string_view name) const {
  std::vector<std::string_view> names;
  for (size_t k = 0; k < graph_->outputs().size(); ++k) {
    names.emplace_back(graph_->outputs()[k].name.str());
    if (names.back() != name) continue;
    if (outputs_.empty()) throw Error(error(fmt::format("output \"{}\" has no value before execute()", name)));
    return outputs_[k];
  }
  throw unknown("output", name, names);
}

void Session::refuse_get(std::string_view name, std::string_view type) const {
  const HostTensor& from = tensor(name);
  throw Error(error(fmt::format("output \"{}\" is {}; {} does not hold every {}", name, type_of(from.dtype, from.dims),
                                type, lumen::name(from.dtype))));
}

}  // namespace lumen
