#include "lumen/egraph/lang/sugar.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "lumen/base/nearest.h"

namespace lumen::egraph {

namespace {

bool mentions(const Expr& expr, std::string_view variable) {
  if (expr.kind == Expr::Kind::variable) return expr.name == variable;
  return std::any_of(expr.args.begin(), expr.args.end(), [&](const Expr* arg) { return mentions(*arg, variable); });
}
bool mentions(const std::vector<Fact>& facts, std::string_view variable) {
  return std::any_of(facts.begin(), facts.end(), [&](const Fact& fact) {
    return mentions(*fact.left, variable) || (fact.equal && mentions(*fact.right, variable));
  });
}

enum class Place : uint8_t { pattern, value };

// One command; the nodes of its patterns are known to what follows them.
class Desugarer {
 public:
  Desugarer(const SignatureOf& signature_of, Arena& arena) : signature_of_(signature_of), arena_(arena) {}

  Expected<void> operator()(RuleCommand& c) {
    LUMEN_TRY(facts(c.body));
    for (ActionNode& action : c.head) LUMEN_TRY(this->action(action));
    return {};
  }
  Expected<void> operator()(RewriteCommand& c) {
    if (c.both_ways) {
      LUMEN_TRY(facts(c.conditions));
      LUMEN_TRY(value(c.left));
      return value(c.right);
    }
    return rewrite(c);
  }
  Expected<void> operator()(ActionCommand& c) { return action(c.action); }
  Expected<void> operator()(CheckCommand& c) { return facts(c.facts); }
  Expected<void> operator()(RunScheduleCommand& c) { return schedules(c.body); }
  Expected<void> operator()(ExtractCommand& c) {
    LUMEN_TRY(value(c.expr));
    return value(c.variants);
  }
  Expected<void> operator()(OutputCommand& c) {
    for (const Expr*& expr : c.exprs) LUMEN_TRY(value(expr));
    return {};
  }
  Expected<void> operator()(SimplifyCommand& c) {
    LUMEN_TRY(schedule(c.schedule));
    return value(c.expr);
  }
  Expected<void> operator()(ExplainCommand& c) {
    LUMEN_TRY(value(c.left));
    return value(c.right);
  }
  Expected<void> operator()(WhyNotCommand& c) { return value(c.term); }
  Expected<void> operator()(FunctionCommand& c) { return value(c.merge); }
  Expected<void> operator()(FailCommand& c) {
    c.command = std::make_shared<const Command>(LUMEN_TRY(desugar_fields(*c.command, signature_of_, arena_)));
    return {};
  }
  template <class Other>
  Expected<void> operator()(Other&) {
    return {};
  }

 private:
  // A call of a pattern that a variable stands for.
  struct Node {
    std::string_view variable;
    const Signature* signature;
    std::span<const Expr* const> fields;  // one for each of the signature
  };
  // The values that a call gives to the fields of its table, in their order; null where it gives none.
  using FieldValues = std::vector<const Expr*>;

  Expected<void> value(const Expr*& expr) {
    if (expr != nullptr) expr = LUMEN_TRY(convert(*expr, Place::value, {}));
    return {};
  }

  // `node`: the variable that stands for the call, if any. Kept small, as it recurses; what the arguments and fields
  // become is left on args_ for `finish`.
  Expected<const Expr*> convert(const Expr& expr, Place place, std::string_view node) {
    if (expr.kind != Expr::Kind::call) return &expr;
    const size_t first = args_.size();
    for (const Expr* arg : expr.args) args_.push_back(LUMEN_TRY(convert(*arg, place, {})));
    for (const FieldArg& field : expr.fields) {
      args_.push_back(field.name.empty() ? nullptr : LUMEN_TRY(convert(*field.value, place, {})));
    }
    return finish(expr, place, node, first);
  }

  Expected<const Expr*> finish(const Expr& expr, Place place, std::string_view node, size_t first) {
    if (expr.label.empty()) return call(expr, place, node, first);
    if (place == Place::value) {
      return error_at(expr.span, fmt::format("the label `{}` stands outside of a pattern", expr.label));
    }
    const Expr* labelled = LUMEN_TRY(call(expr, place, expr.label, first));
    const Expr* variable = make_variable(expr.label, expr.span);
    labels_.push_back({expr.span, true, variable, labelled});
    return variable;
  }

  // Without the label.
  Expected<const Expr*> call(const Expr& expr, Place place, std::string_view node, size_t first) {
    const Signature* signature = signature_of_(expr.name);
    const bool has_fields = signature != nullptr && !signature->fields.empty();
    // There is nothing to inherit then, which lets one rule with ..?m serve functions with and without fields.
    const auto named = std::ranges::find_if(expr.fields, [](const FieldArg& field) { return !field.name.empty(); });
    if (!has_fields && named != expr.fields.end()) {
      return error_at(named->span, fmt::format("`{}` has no named fields", expr.name));
    }
    const FieldValues given(args_.begin() + static_cast<ptrdiff_t>(first + expr.args.size()), args_.end());
    args_.resize(first + expr.args.size());
    if (has_fields) LUMEN_TRY(add_fields(expr, *signature, place, node, given));
    const std::span<const Expr* const> args = std::span(args_).subspan(first);
    const bool changed = !expr.label.empty() || !expr.fields.empty() || !std::ranges::equal(args, expr.args);
    Expr plain = expr;
    plain.args = changed ? arena_.copy(args) : expr.args;
    plain.fields = {};
    plain.label = {};
    args_.resize(first);
    if (has_fields && !node.empty()) nodes_.push_back({node, signature, plain.args.subspan(signature->positional)});
    return changed ? arena_.make<Expr>(plain) : &expr;
  }

  // Appends the values of the fields to `args_` unless they are there as arguments without a name.
  Expected<void> add_fields(const Expr& expr, const Signature& signature, Place place, std::string_view node,
                            const FieldValues& given_fields) {
    const size_t given = expr.args.size();
    if (given == signature.positional + signature.fields.size() && expr.fields.empty()) return {};
    if (given != signature.positional) {
      return error_at(expr.span, fmt::format("`{}` takes {} arguments and the fields {}, given {} arguments", expr.name,
                                             signature.positional, fmt::join(signature.fields, ", "), given));
    }
    FieldValues values = LUMEN_TRY(field_values(expr, signature, place, given_fields));
    const size_t same_variable = static_cast<size_t>(
        std::count_if(nodes_.begin(), nodes_.end(), [&](const Node& other) { return other.variable == node; }));
    for (size_t k = 0; k < values.size(); ++k) {
      if (values[k] == nullptr && place == Place::value) return missing(expr, signature.fields[k]);
      if (values[k] == nullptr) values[k] = make_field_variable(expr.span, node, signature.fields[k], same_variable);
      args_.push_back(values[k]);
    }
    return {};
  }

  // `given`: the values of expr.fields.
  Expected<FieldValues> field_values(const Expr& expr, const Signature& signature, Place place,
                                     const FieldValues& given) {
    FieldValues values(signature.fields.size());
    for (size_t k = 0; k < given.size(); ++k) {
      const FieldArg& field = expr.fields[k];
      if (field.name.empty()) continue;
      const auto found = std::find(signature.fields.begin(), signature.fields.end(), field.name);
      if (found == signature.fields.end()) return unknown(expr, field, signature);
      const Expr*& slot = values[static_cast<size_t>(found - signature.fields.begin())];
      if (slot != nullptr) {
        return error_at(field.span, fmt::format("the field `{}` of `{}` is given twice", field.name, expr.name));
      }
      slot = given[k];
    }
    for (const FieldArg& field : expr.fields) {
      if (field.name.empty()) LUMEN_TRY(inherit(field, signature, place, values));
    }
    return values;
  }

  // The fields that have no value yet, from the nodes that `..?m` names.
  Expected<void> inherit(const FieldArg& from, const Signature& signature, Place place, FieldValues& values) {
    const std::string_view variable = from.value->name;
    const bool known = std::any_of(nodes_.begin(), nodes_.end(), [&](const Node& n) { return n.variable == variable; });
    if (!known) {
      return error_at(from.span,
                      fmt::format("`..{0}`: no node with fields is bound to `{0}` {1}", variable,
                                  place == Place::pattern ? "before this" : "in the patterns of this command"));
    }
    for (size_t k = 0; k < values.size(); ++k) {
      if (values[k] == nullptr) values[k] = LUMEN_TRY(field_of(from, signature.fields[k]));
    }
    return {};
  }

  // Null when no node of that variable has the field.
  Expected<const Expr*> field_of(const FieldArg& from, std::string_view field) {
    const Expr* result = nullptr;
    for (const Node& node : nodes_) {
      if (node.variable != from.value->name) continue;
      const auto& names = node.signature->fields;
      const auto found = std::find(names.begin(), names.end(), field);
      if (found == names.end()) continue;
      if (result != nullptr) {
        return error_at(from.span,
                        fmt::format("`..{0}`: several nodes bound to `{0}` have the field `{1}`; give it as `:{1}`",
                                    node.variable, field));
      }
      result = node.fields[static_cast<size_t>(found - names.begin())];
    }
    return result;
  }

  static Diag unknown(const Expr& expr, const FieldArg& field, const Signature& signature) {
    Diag diag = error_at(field.span, fmt::format("`{}` has no field `{}`; its fields: {}", expr.name, field.name,
                                                 fmt::join(signature.fields, ", ")));
    const std::vector<std::string_view> names(signature.fields.begin(), signature.fields.end());
    if (const auto meant = nearest(field.name, names)) diag.notes.push_back(fmt::format("did you mean `{}`?", *meant));
    return diag;
  }

  static Diag missing(const Expr& expr, std::string_view field) {
    Diag diag = error_at(expr.span, fmt::format("the field `{}` of `{}` is missing", field, expr.name));
    for (const FieldArg& from : expr.fields) {
      if (from.name.empty()) {
        diag.notes.push_back(fmt::format("the node bound to `{}` has no such field", from.value->name));
      }
    }
    return diag;
  }

  const Expr* make_variable(std::string_view name, const Span& span) {
    Expr* variable = arena_.make<Expr>();
    variable->kind = Expr::Kind::variable;
    variable->span = span;
    variable->name = name;
    return variable;
  }
  // Brackets keep `same_variable` apart from what a program can name.
  const Expr* make_field_variable(const Span& span, std::string_view node, std::string_view field,
                                  size_t same_variable) {
    const std::string name = node.empty()         ? fmt::format("@_.{}", ++unnamed_)
                             : same_variable == 0 ? fmt::format("@{}.{}", node, field)
                                                  : fmt::format("@{}({}).{}", node, same_variable + 1, field);
    return make_variable(arena_.copy(std::string_view(name)), span);
  }

  // The facts of labels go before the fact that they stand in.
  Expected<void> facts(std::vector<Fact>& facts) {
    std::vector<Fact> result;
    for (const Fact& fact : facts) {
      const Fact plain = LUMEN_TRY(this->fact(fact));
      result.insert(result.end(), labels_.begin(), labels_.end());
      labels_.clear();
      result.push_back(plain);
    }
    facts = std::move(result);
    return {};
  }

  Expected<Fact> fact(const Fact& fact) {
    Fact result = fact;
    if (!fact.equal) {
      result.left = LUMEN_TRY(without_label(*fact.left));
      if (fact.left->label.empty()) return result;
      return Fact{fact.span, true, make_variable(fact.left->label, fact.left->span), result.left};
    }
    const auto variable = [](const Expr& side) {
      return side.kind == Expr::Kind::variable ? side.name : std::string_view();
    };
    result.left = LUMEN_TRY(convert(*fact.left, Place::pattern, variable(*fact.right)));
    result.right = LUMEN_TRY(convert(*fact.right, Place::pattern, variable(*fact.left)));
    return result;
  }

  Expected<const Expr*> without_label(const Expr& expr) {
    if (expr.label.empty()) return convert(expr, Place::pattern, {});
    Expr* unlabelled = arena_.make<Expr>(expr);
    unlabelled->label = {};
    return convert(*unlabelled, Place::pattern, expr.label);
  }

  // The label of the whole left side becomes a condition only where something asks for it.
  Expected<void> rewrite(RewriteCommand& c) {
    const std::string_view label = c.left->label;
    const Span span = c.left->span;
    c.left = LUMEN_TRY(without_label(*c.left));
    std::vector<Fact> of_left = std::exchange(labels_, {});
    LUMEN_TRY(facts(c.conditions));
    LUMEN_TRY(value(c.right));
    if (!label.empty() && (mentions(*c.left, label) || mentions(*c.right, label) || mentions(of_left, label) ||
                           mentions(c.conditions, label))) {
      of_left.push_back({span, true, make_variable(label, span), c.left});
    }
    c.conditions.insert(c.conditions.begin(), of_left.begin(), of_left.end());
    return {};
  }

  Expected<void> action(ActionNode& action) {
    return std::visit([&](auto& node) { return this->change(node); }, action.node);
  }
  Expected<void> change(LetAction& a) { return value(a.value); }
  Expected<void> change(SetAction& a) {
    LUMEN_TRY(value(a.call));
    return value(a.value);
  }
  Expected<void> change(UnionAction& a) {
    LUMEN_TRY(value(a.left));
    return value(a.right);
  }
  Expected<void> change(ChangeAction& a) { return value(a.call); }
  Expected<void> change(PanicAction&) { return {}; }
  Expected<void> change(ExprAction& a) { return value(a.expr); }

  Expected<void> schedules(std::vector<Schedule>& body) {
    for (Schedule& schedule : body) LUMEN_TRY(this->schedule(schedule));
    return {};
  }
  Expected<void> schedule(Schedule& schedule) {
    nodes_.clear();  // each :until is a query of its own
    if (auto* run = std::get_if<RunNode>(&schedule.node)) return facts(run->until);
    if (auto* repeat = std::get_if<RepeatNode>(&schedule.node)) return schedules(repeat->body);
    if (auto* saturate = std::get_if<SaturateNode>(&schedule.node)) return schedules(saturate->body);
    if (auto* seq = std::get_if<SeqNode>(&schedule.node)) return schedules(seq->body);
    return {};
  }

  const SignatureOf& signature_of_;
  Arena& arena_;
  std::vector<Node> nodes_;
  std::vector<Fact> labels_;       // of the fact being converted
  std::vector<const Expr*> args_;  // of the calls being converted, as a stack
  size_t unnamed_ = 0;
};

}  // namespace

Expected<Command> desugar_fields(const Command& command, const SignatureOf& signature_of, Arena& arena) {
  Command plain = command;
  Desugarer desugarer(signature_of, arena);
  LUMEN_TRY(std::visit(desugarer, plain.node));
  return plain;
}

}  // namespace lumen::egraph
