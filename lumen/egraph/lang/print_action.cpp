#include "lumen/egraph/lang/printer.h"

namespace lumen::egraph {

namespace {

class ActionPrinter {
 public:
  explicit ActionPrinter(std::string& out) : out_(out) {}

  void operator()(const LetAction& a) const {
    out_ += "(let ";
    out_ += a.name;
    last(*a.value);
  }
  void operator()(const SetAction& a) const {
    out_ += "(set ";
    append_expr(*a.call, out_);
    last(*a.value);
  }
  void operator()(const UnionAction& a) const {
    out_ += "(union ";
    append_expr(*a.left, out_);
    last(*a.right);
  }
  void operator()(const ChangeAction& a) const {
    out_ += a.subsume ? "(subsume" : "(delete";
    last(*a.call);
  }
  void operator()(const PanicAction& a) const {
    out_ += "(panic ";
    append_quoted(a.message, out_);
    out_ += ')';
  }
  void operator()(const ExprAction& a) const { append_expr(*a.expr, out_); }

 private:
  void last(const Expr& expr) const {
    out_ += ' ';
    append_expr(expr, out_);
    out_ += ')';
  }

  std::string& out_;
};

class SchedulePrinter {
 public:
  explicit SchedulePrinter(std::string& out) : out_(out) {}

  void operator()(const RunNode& s) const {
    out_ += s.scheduler.empty() ? "(run" : "(run-with";
    if (!s.scheduler.empty()) word(s.scheduler);
    if (!s.ruleset.empty()) word(s.ruleset);
    if (!s.until.empty()) word(":until");
    append_each(s.until, out_, append_fact);
    out_ += ')';
  }
  void operator()(const RepeatNode& s) const {
    out_ += "(repeat " + std::to_string(s.times);
    body(s.body);
  }
  void operator()(const SaturateNode& s) const {
    out_ += "(saturate";
    body(s.body);
  }
  void operator()(const SeqNode& s) const {
    out_ += "(seq";
    body(s.body);
  }
  void operator()(const SchedulerNode& s) const {
    out_ += "(let-scheduler";
    word(s.name);
    out_ += " (";
    out_ += s.kind;
    if (s.match_limit) out_ += " :match-limit " + std::to_string(*s.match_limit);
    if (s.ban_length) out_ += " :ban-length " + std::to_string(*s.ban_length);
    out_ += "))";
  }

 private:
  void word(std::string_view text) const {
    out_ += ' ';
    out_ += text;
  }
  void body(const std::vector<Schedule>& schedules) const {
    append_each(schedules, out_, append_schedule);
    out_ += ')';
  }

  std::string& out_;
};

}  // namespace

void append_action(const ActionNode& action, std::string& out) { std::visit(ActionPrinter(out), action.node); }

void append_schedule(const Schedule& schedule, std::string& out) { std::visit(SchedulePrinter(out), schedule.node); }

}  // namespace lumen::egraph
