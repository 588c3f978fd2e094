#include "lumen/egraph/lang/parse.h"
#include "lumen/egraph/lang/printer.h"

namespace lumen::egraph {

namespace {

constexpr size_t kWidth = 100;

void append_expr_of(const Expr* expr, std::string& out) { append_expr(*expr, out); }
void append_word(std::string_view word, std::string& out) { out += word; }

// One method per alternative of Command::node. All but actions leave the closing bracket to append_command.
class CommandPrinter {
 public:
  explicit CommandPrinter(std::string& out) : out_(out) {}

  void operator()(const SortCommand& c) {
    open("sort", c.name);
    if (c.presort) presort(*c.presort);
  }
  void operator()(const DatatypeCommand& c) {
    open("datatype", c.body.name);
    variants(c.body.variants);
  }
  void operator()(const DatatypesCommand& c) {
    open("datatype*");
    for (const DatatypeBody& body : c.bodies) {
      out_ += body.presort ? " (sort " : " (";
      out_ += body.name;
      if (body.presort) presort(*body.presort);
      variants(body.variants);
      out_ += ')';
    }
  }
  void operator()(const FunctionCommand& c) {
    open("function", c.name);
    table(c.params, c.result);
    if (c.merge == nullptr) {
      word(":no-merge");
    } else {
      word(":merge");
      expr(c.merge);
    }
    table_options(c.cost, c.unextractable);
    if (c.hidden) word(":internal-hidden");
  }
  void operator()(const ConstructorCommand& c) {
    open("constructor", c.name);
    table(c.params, c.result);
    table_options(c.cost, c.unextractable);
    if (c.hidden) word(":internal-hidden");
  }
  void operator()(const RelationCommand& c) {
    open("relation", c.name);
    param_list(c.params);
  }
  void operator()(const RulesetCommand& c) { open("ruleset", c.name); }
  void operator()(const CombinedRulesetCommand& c) {
    open("unstable-combined-ruleset", c.name);
    append_each(c.parts, out_, append_word);
  }
  void operator()(const RuleCommand& c) {
    open("rule ");
    append_list(c.body, out_, append_fact);
    out_ += ' ';
    append_list(c.head, out_, append_action);
    rule_options(c.ruleset, c.name);
    if (c.naive) word(":naive");
    if (c.unsafe_seminaive) word(":unsafe-seminaive");
    if (c.no_decomp) word(":no-decomp");
    if (c.include_subsumed) word(":internal-include-subsumed");
  }
  void operator()(const RewriteCommand& c) {
    open(c.both_ways ? "birewrite" : "rewrite");
    expr(c.left);
    expr(c.right);
    if (c.subsume) word(":subsume");
    if (!c.conditions.empty()) {
      out_ += " :when ";
      append_list(c.conditions, out_, append_fact);
    }
    rule_options(c.ruleset, c.name);
  }
  void operator()(const ActionCommand& c) { append_action(c.action, out_); }
  void operator()(const RunScheduleCommand& c) {
    if (counted_run(c)) return;
    open("run-schedule");
    append_each(c.body, out_, append_schedule);
  }
  void operator()(const ExtractCommand& c) {
    open("extract");
    expr(c.expr);
    if (c.variants != nullptr) expr(c.variants);
    if (c.greedy_dag) out_ += " :extractor greedy-dag";
  }
  void operator()(const CheckCommand& c) {
    open("check");
    append_each(c.facts, out_, append_fact);
  }
  void operator()(const PushCommand& c) { open("push", std::to_string(c.times)); }
  void operator()(const PopCommand& c) { open("pop", std::to_string(c.times)); }
  void operator()(const PrintStatsCommand& c) {
    open("print-stats");
    file_option(c.file);
  }
  void operator()(const PrintFunctionCommand& c) {
    open("print-function", c.name);
    if (c.rows) word(std::to_string(*c.rows));
    file_option(c.file);
    if (c.csv) out_ += " :mode csv";
  }
  void operator()(const PrintSizeCommand& c) {
    open("print-size");
    if (!c.name.empty()) word(c.name);
  }
  void operator()(const InputCommand& c) {
    open("input", c.name);
    quoted(c.file);
  }
  void operator()(const OutputCommand& c) {
    open("output");
    quoted(c.file);
    append_each(c.exprs, out_, append_expr_of);
  }
  void operator()(const IncludeCommand& c) {
    open("include");
    quoted(c.file);
  }
  void operator()(const SimplifyCommand& c) {
    open("simplify ");
    append_schedule(c.schedule, out_);
    expr(c.expr);
  }
  void operator()(const FailCommand& c) {
    open("fail ");
    append_command(*c.command, out_);
  }
  void operator()(const ExplainCommand& c) {
    open("explain");
    expr(c.left);
    expr(c.right);
  }
  void operator()(const WhyNotCommand& c) {
    open("why-not");
    quoted(c.rule);
    expr(c.term);
  }

 private:
  void open(std::string_view head) {
    out_ += '(';
    out_ += head;
  }
  void open(std::string_view head, std::string_view name) {
    open(head);
    word(name);
  }
  void word(std::string_view text) {
    out_ += ' ';
    out_ += text;
  }
  void quoted(std::string_view text) {
    out_ += ' ';
    append_quoted(text, out_);
  }
  void expr(const Expr* expr) {
    out_ += ' ';
    append_expr(*expr, out_);
  }

  void presort(const Presort& presort) {
    out_ += " (";
    out_ += presort.name;
    append_each(presort.args, out_, append_expr_of);
    out_ += ')';
  }
  // Each after a blank.
  void params(const Params& params) {
    const size_t positional = params.sorts.size() - params.names.size();
    for (size_t k = 0; k < params.sorts.size(); ++k) {
      if (k >= positional) {
        out_ += " :";
        out_ += params.names[k - positional];
      }
      word(params.sorts[k]);
    }
  }
  void param_list(const Params& all) {
    std::string words;
    CommandPrinter(words).params(all);
    out_ += " (";
    if (!words.empty()) out_ += std::string_view(words).substr(1);
    out_ += ')';
  }
  void table(const Params& params, std::string_view result) {
    param_list(params);
    word(result);
  }
  void table_options(const std::optional<uint64_t>& cost, bool unextractable) {
    if (cost) word(":cost " + std::to_string(*cost));
    if (unextractable) word(":unextractable");
  }
  void variants(const std::vector<Variant>& variants) {
    for (const Variant& variant : variants) {
      out_ += " (";
      out_ += variant.name;
      params(variant.params);
      table_options(variant.cost, variant.unextractable);
      out_ += ')';
    }
  }
  void rule_options(std::string_view ruleset, std::string_view name) {
    if (!ruleset.empty()) {
      word(":ruleset");
      word(ruleset);
    }
    if (!name.empty()) {
      word(":name");
      quoted(name);
    }
  }
  void file_option(const std::optional<std::string_view>& file) {
    if (!file) return;
    word(":file");
    quoted(*file);
  }
  // (run r n :until f) has no node of its own.
  bool counted_run(const RunScheduleCommand& c) {
    if (c.body.size() != 1) return false;
    const auto* repeat = std::get_if<RepeatNode>(&c.body[0].node);
    if (repeat == nullptr || repeat->body.size() != 1) return false;
    const auto* run = std::get_if<RunNode>(&repeat->body[0].node);
    if (run == nullptr || !run->scheduler.empty()) return false;
    open("run");
    if (!run->ruleset.empty()) word(run->ruleset);
    word(std::to_string(repeat->times));
    if (!run->until.empty()) word(":until");
    append_each(run->until, out_, append_fact);
    return true;
  }

  std::string& out_;
};

}  // namespace

void append_command(const Command& command, std::string& out) {
  std::visit(CommandPrinter(out), command.node);
  if (!std::holds_alternative<ActionCommand>(command.node)) out += ')';
}

std::string print_command(const Command& command) {
  std::string line;
  append_command(command, line);
  return line.size() <= kWidth ? line : break_lines(line, kWidth);
}

}  // namespace lumen::egraph
