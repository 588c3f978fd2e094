#include "lumen/text/chat_template.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

#include "lumen/text/template_functions.h"
#include "lumen/text/template_lexer.h"
#include "lumen/text/template_parser.h"

namespace lumen {

namespace {

using namespace text;
using Kind = Value::Kind;
using Expression = const ExprNode*;

constexpr int kMaxEvaluationDepth = 600;  // of evaluation: C++'s stack has an end

enum class Flow { next, break_, continue_ };

class Renderer {
 public:
  explicit Renderer(const RenderOptions& options)
      : limits_(options.limits), heap_(options.limits.bytes), context_{heap_, now(options)} {}

  Expected<std::string> run(const Template& source, const nlohmann::ordered_json& variables) {
    frames_.emplace_back();
    for (const auto& [name, value] : variables.items()) {
      set(heap_.string(name).as_string(), LUMEN_TRY(heap_.from_json(value)));
    }
    frames_.emplace_back();
    LUMEN_TRY(execute(source.body));
    return std::move(out_);
  }

 private:
  using Frame = std::vector<std::pair<std::string_view, Value>>;

  static int64_t now(const RenderOptions& options) {
    if (options.now) return *options.now;
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  }

  void set(std::string_view name, const Value& value) {
    for (auto& [known, old] : frames_.back()) {
      if (known != name) continue;
      old = value;
      return;
    }
    frames_.back().emplace_back(name, value);
  }

  Value lookup(const std::string& name) const {
    for (size_t k = frames_.size(); k-- > 0;) {
      // A macro sees its own names and those outside all blocks.
      if (k < macro_base_ && k > 1) continue;
      for (const auto& [known, value] : frames_[k]) {
        if (known == name) return value;
      }
    }
    const char* function = find_function(name);
    return function != nullptr ? Value::function(function) : Value::undefined(name.c_str());
  }

  // Counts down what a template may do. While it lives, evaluation is one level deeper.
  class Level {
   public:
    explicit Level(Renderer& renderer) : renderer_(renderer) { ++renderer_.depth_; }
    ~Level() { --renderer_.depth_; }

   private:
    Renderer& renderer_;
  };
  Expected<void> step() {
    if (++steps_ > limits_.steps) return error(fmt::format("more than {} steps", limits_.steps));
    if (heap_.full() || out_.size() > limits_.bytes) return error(fmt::format("more than {} bytes", limits_.bytes));
    if (depth_ > kMaxEvaluationDepth) return error("nested too deeply");
    return {};
  }

  Expected<Flow> execute(const Body& body) {
    for (const StatementNode* statement : body) {
      Expected<Flow> flow = execute(*statement);
      if (!flow.ok()) {
        // The innermost line is the one to tell.
        if (flow.diag().message.starts_with("chat template")) return flow;
        return template_error(flow.diag().message, statement->line);
      }
      if (*flow != Flow::next) return flow;
    }
    return Flow::next;
  }

  Expected<Flow> execute(const StatementNode& statement) {
    const Level level(*this);
    LUMEN_TRY(step());
    switch (statement.kind) {
      case StatementNode::Kind::text:
        out_ += statement.text;
        return Flow::next;
      case StatementNode::Kind::print:
        out_ += LUMEN_TRY(to_text(LUMEN_TRY(evaluate(statement.value))));
        return Flow::next;
      case StatementNode::Kind::branch:
        return execute(truth(LUMEN_TRY(evaluate(statement.value))) ? statement.body : statement.otherwise);
      case StatementNode::Kind::loop:
        return execute_loop(statement);
      case StatementNode::Kind::set:
        return execute_set(statement);
      case StatementNode::Kind::set_member:
        return execute_set_member(statement);
      case StatementNode::Kind::macro:
        set(statement.macro.name, Value::macro(&statement.macro));
        return Flow::next;
      case StatementNode::Kind::group:
        return execute(statement.body);
      case StatementNode::Kind::break_:
        return Flow::break_;
      case StatementNode::Kind::continue_:
        return Flow::continue_;
    }
    return Flow::next;
  }

  Expected<void> assign(const std::vector<std::string>& targets, const Value& value) {
    if (targets.size() == 1) {
      set(targets[0], value);
      return {};
    }
    const std::vector<Value> items = LUMEN_TRY(items_of(value, heap_));
    if (items.size() != targets.size()) {
      return error(fmt::format("{} values for {} names", items.size(), targets.size()));
    }
    for (size_t k = 0; k < targets.size(); ++k) set(targets[k], items[k]);
    return {};
  }

  // The items for which the condition holds.
  Expected<std::vector<Value>> loop_items(const StatementNode& loop) {
    std::vector<Value> all = LUMEN_TRY(items_of(LUMEN_TRY(evaluate(loop.value)), heap_));
    if (loop.condition == nullptr) return all;
    std::vector<Value> kept;
    for (const Value& item : all) {
      frames_.emplace_back();
      LUMEN_TRY(assign(loop.targets, item));
      if (truth(LUMEN_TRY(evaluate(loop.condition)))) kept.push_back(item);
      frames_.pop_back();
    }
    return kept;
  }

  Expected<Flow> execute_loop(const StatementNode& loop) {
    const Value items = heap_.list(LUMEN_TRY(loop_items(loop)));
    if (items.as_list().items.empty()) return execute(loop.otherwise);
    for (size_t k = 0; k < items.as_list().items.size(); ++k) {
      LUMEN_TRY(step());
      frames_.emplace_back();
      LUMEN_TRY(assign(loop.targets, items.as_list().items[k]));
      set("loop", heap_.loop({&items.as_list(), k}));
      const Flow flow = LUMEN_TRY(execute(loop.body));
      frames_.pop_back();
      if (flow == Flow::break_) break;
    }
    return Flow::next;
  }

  // Runs a body and gives what it prints.
  Expected<Value> capture(const Body& body) {
    std::string outside = std::exchange(out_, {});
    LUMEN_TRY(execute(body));
    heap_.count(outside.size());
    return heap_.string(std::exchange(out_, std::move(outside)));
  }

  Expected<Flow> execute_set(const StatementNode& statement) {
    if (statement.value != nullptr) {
      LUMEN_TRY(assign(statement.targets, LUMEN_TRY(evaluate(statement.value))));
      return Flow::next;
    }
    frames_.emplace_back();
    const Value text = LUMEN_TRY(capture(statement.body));
    frames_.pop_back();
    set(statement.targets[0], text);
    if (statement.condition != nullptr) set(statement.targets[0], LUMEN_TRY(evaluate(statement.condition)));
    return Flow::next;
  }

  Expected<Flow> execute_set_member(const StatementNode& statement) {
    const Value space = lookup(statement.targets[0]);
    if (!space.is(Kind::space)) return error(fmt::format("{} is not a namespace", statement.targets[0]));
    const Value value = LUMEN_TRY(evaluate(statement.value));
    space.as_dict().set(heap_.string(statement.text), value);
    return Flow::next;
  }

  Expected<Value> call_macro(const MacroNode& macro, const Arguments& arguments) {
    std::vector<std::string_view> names;
    for (const auto& [name, otherwise] : macro.parameters) names.push_back(name);
    const auto bound = LUMEN_TRY(bind_arguments("macro " + macro.name, names, arguments));
    const size_t base = std::exchange(macro_base_, frames_.size());
    frames_.emplace_back();
    for (size_t k = 0; k < names.size(); ++k) {
      const Expression otherwise = macro.parameters[k].second;
      set(names[k], bound[k] != nullptr    ? *bound[k]
                    : otherwise != nullptr ? LUMEN_TRY(evaluate(otherwise))
                                           : Value::undefined(macro.parameters[k].first.c_str()));
    }
    const Value text = LUMEN_TRY(capture(macro.body));
    frames_.resize(macro_base_);
    macro_base_ = base;
    return text;
  }

  Expected<Arguments> evaluate_arguments(const ExprNode& call) {
    Arguments arguments;
    for (size_t k = 1; k < call.items.size(); ++k) arguments.positional.push_back(LUMEN_TRY(evaluate(call.items[k])));
    for (const auto& [name, value] : call.named) arguments.named.emplace_back(name, LUMEN_TRY(evaluate(value)));
    return arguments;
  }

  Expected<Value> evaluate_call(const ExprNode& call) {
    const Value callee = LUMEN_TRY(evaluate(call.items[0]));
    const Arguments arguments = LUMEN_TRY(evaluate_arguments(call));
    switch (callee.kind()) {
      case Kind::macro:
        return call_macro(callee.as_macro(), arguments);
      case Kind::method:
        return call_method(context_, callee.as_method(), arguments);
      case Kind::function:
        return call_function(context_, callee.name(), arguments);
      case Kind::undefined:
        return error(fmt::format("'{}' is undefined", callee.name()));
      default:
        return error(fmt::format("'{}' object is not callable", type_name(callee)));
    }
  }

  Expected<std::vector<Value>> evaluate_all(const std::vector<Expression>& nodes) {
    std::vector<Value> values;
    for (const Expression node : nodes) values.push_back(LUMEN_TRY(evaluate(node)));
    return values;
  }

  Expected<Value> evaluate_dict(const ExprNode& node) {
    DictValue* dict = heap_.dict();
    for (size_t k = 0; k + 1 < node.items.size(); k += 2) {
      const Value key = LUMEN_TRY(evaluate(node.items[k]));
      dict->set(key, LUMEN_TRY(evaluate(node.items[k + 1])));
    }
    return Value::dict(dict);
  }

  Expected<Value> evaluate_compare(const ExprNode& node) {
    Value left = LUMEN_TRY(evaluate(node.items[0]));
    for (size_t k = 0; k < node.operators.size(); ++k) {
      const Value right = LUMEN_TRY(evaluate(node.items[k + 1]));
      if (!LUMEN_TRY(compare_values(node.operators[k], left, right))) return Value::boolean(false);
      left = right;
    }
    return Value::boolean(true);
  }

  Expected<Value> evaluate_slice(const ExprNode& node) {
    const Value value = LUMEN_TRY(evaluate(node.items[0]));
    std::array<Value, 3> bounds;
    for (size_t k = 0; k < 3; ++k) {
      if (node.items[k + 1] != nullptr) bounds[k] = LUMEN_TRY(evaluate(node.items[k + 1]));
    }
    const auto bound = [&](size_t k) { return node.items[k + 1] != nullptr ? &bounds[k] : nullptr; };
    return get_slice(context_, value, bound(0), bound(1), bound(2));
  }

  Expected<Value> evaluate_unary(const ExprNode& node) {
    const Value value = LUMEN_TRY(evaluate(node.items[0]));
    if (node.text == "not") return Value::boolean(!truth(value));
    if (node.text == "-") return negate(value);
    return value.is_number() ? Expected<Value>(value) : error("+ needs a number");
  }

  Expected<Value> evaluate(Expression node) {
    const Level level(*this);
    LUMEN_TRY(step());
    switch (node->kind) {
      case ExprNode::Kind::literal:
        return node->value;
      case ExprNode::Kind::name:
        return lookup(node->text);
      case ExprNode::Kind::list:
        return heap_.list(LUMEN_TRY(evaluate_all(node->items)));
      case ExprNode::Kind::tuple:
        return heap_.list(LUMEN_TRY(evaluate_all(node->items)), true);
      case ExprNode::Kind::dict:
        return evaluate_dict(*node);
      case ExprNode::Kind::attribute:
        return get_attribute(context_, LUMEN_TRY(evaluate(node->items[0])), node->text);
      case ExprNode::Kind::slice:
        return evaluate_slice(*node);
      case ExprNode::Kind::call:
        return evaluate_call(*node);
      case ExprNode::Kind::unary:
        return evaluate_unary(*node);
      case ExprNode::Kind::compare:
        return evaluate_compare(*node);
      case ExprNode::Kind::choice: {
        if (truth(LUMEN_TRY(evaluate(node->items[0])))) return evaluate(node->items[1]);
        return node->items[2] != nullptr ? evaluate(node->items[2]) : Value();
      }
      default:
        return evaluate_pair(*node);
    }
  }

  // The kinds that begin with the value of items[0].
  Expected<Value> evaluate_pair(const ExprNode& node) {
    const Value left = LUMEN_TRY(evaluate(node.items[0]));
    switch (node.kind) {
      case ExprNode::Kind::both:
        return truth(left) ? evaluate(node.items[1]) : left;
      case ExprNode::Kind::either:
        return truth(left) ? left : evaluate(node.items[1]);
      case ExprNode::Kind::filter: {
        const Arguments arguments = LUMEN_TRY(evaluate_arguments(node));
        return apply_filter(context_, node.text, left, arguments);
      }
      case ExprNode::Kind::test: {
        const Arguments arguments = LUMEN_TRY(evaluate_arguments(node));
        return Value::boolean(LUMEN_TRY(apply_test(context_, node.text, left, arguments)));
      }
      default:
        break;
    }
    const Value right = LUMEN_TRY(evaluate(node.items[1]));
    if (node.kind == ExprNode::Kind::item) return get_item(context_, left, right);
    return binary_operator(context_, node.text, left, right);
  }

  const RenderLimits limits_;
  Heap heap_;
  TemplateContext context_;
  std::vector<Frame> frames_;  // the given variables, the template's own, then those of blocks
  size_t macro_base_ = 0;      // the first frame of the macro that runs
  std::string out_;
  size_t steps_ = 0;
  int depth_ = 0;
};

}  // namespace

Expected<ChatTemplate> ChatTemplate::parse(std::string_view text) {
  ChatTemplate result;
  result.template_ = LUMEN_TRY(parse_template(text));
  return result;
}

Expected<std::string> ChatTemplate::render(const nlohmann::ordered_json& variables,
                                           const RenderOptions& options) const {
  if (!variables.is_object()) return error("chat template: the variables are not an object");
  return Renderer(options).run(*template_, variables);
}

}  // namespace lumen
