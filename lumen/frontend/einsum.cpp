#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>

#include "lumen/frontend/linear.h"
#include "lumen/frontend/operators.h"
#include "lumen/frontend/primitives.h"

namespace lumen {

namespace {

// A dim's letter; dims under "..." get labels of their own, counted from the last one.
using Label = int;
using Labels = std::vector<Label>;
constexpr Label kEllipsis = 256;

struct EinsumTerm {
  Tensor x;
  Labels labels;  // one per dim
};

struct Subscripts {
  std::vector<std::string> inputs;
  std::optional<std::string> output;
};

bool contains(const Labels& labels, Label label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

Subscripts split_equation(std::string_view equation) {
  std::string text;
  for (char c : equation) {
    if (c != ' ') text += c;
  }
  Subscripts result;
  const size_t arrow = text.find("->");
  if (arrow != std::string::npos) result.output = text.substr(arrow + 2);
  const std::string inputs = text.substr(0, arrow);
  for (size_t begin = 0; begin <= inputs.size();) {
    const size_t end = std::min(inputs.find(',', begin), inputs.size());
    result.inputs.push_back(inputs.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

// The labels of one part of the equation; "..." stands for `hidden` dims.
Labels parse_labels(const std::string& part, int hidden) {
  Labels labels;
  bool seen = false;
  for (size_t k = 0; k < part.size(); ++k) {
    if (std::isalpha(static_cast<unsigned char>(part[k])) != 0) {
      labels.push_back(static_cast<unsigned char>(part[k]));
    } else if (part.compare(k, 3, "...") == 0 && !seen) {
      for (int h = hidden; h-- > 0;) labels.push_back(kEllipsis + h);
      k += 2;
      seen = true;
    } else {
      fail(fmt::format("'{}' is no letter in \"{}\"", part[k], part));
    }
  }
  return labels;
}

EinsumTerm parse_term(const std::string& part, Tensor x) {
  const bool has_ellipsis = part.find("...") != std::string::npos;
  const auto letters = static_cast<int64_t>(part.size()) - (has_ellipsis ? 3 : 0);
  if (has_ellipsis ? letters > x.rank() : letters != x.rank()) {
    fail(fmt::format("\"{}\" does not name the dims of {}", part, x.type().str()));
  }
  return {x, parse_labels(part, static_cast<int>(x.rank() - letters))};
}

// A letter twice in one operand takes the diagonal.
void take_diagonals(EinsumTerm& term, std::string_view equation) {
  for (size_t i = 0; i < term.labels.size(); ++i) {
    for (size_t j = i + 1; j < term.labels.size(); ++j) {
      if (term.labels[i] != term.labels[j]) continue;
      const auto first = static_cast<int64_t>(i);
      const auto second = static_cast<int64_t>(j);
      if (term.x.shape()[first] != term.x.shape()[second]) {
        fail(fmt::format("'{}' names dims of different sizes in \"{}\": {}", static_cast<char>(term.labels[i]),
                         equation, term.x.type().str()));
      }
      const Label label = term.labels[i];
      const Expr count = term.x.shape()[first];
      term.x = moved(term.x, [&](View v) { return diagonal(v, first, second, 0, count); });
      term.labels.erase(term.labels.begin() + second);
      term.labels.erase(term.labels.begin() + first);
      term.labels.push_back(label);
      return take_diagonals(term, equation);
    }
  }
}

void sum_over(EinsumTerm& term, const Labels& gone) {
  for (size_t k = term.labels.size(); k-- > 0;) {
    if (!contains(gone, term.labels[k])) continue;
    term.x = sum_reduce(term.x, static_cast<int64_t>(k));
    term.labels.erase(term.labels.begin() + static_cast<int64_t>(k));
  }
}

// x with its dims in the order of `labels` and a 1 for each it has not.
Tensor aligned(const EinsumTerm& term, const Labels& labels) {
  std::vector<int64_t> order;
  std::vector<Expr> dims;
  for (Label label : labels) {
    const auto at = std::find(term.labels.begin(), term.labels.end(), label) - term.labels.begin();
    const bool present = at < static_cast<int64_t>(term.labels.size());
    dims.push_back(present ? term.x.shape()[at] : Expr(1));
    if (present) order.push_back(at);
  }
  return reshaped(permuted(term.x, order), dims);
}

EinsumTerm multiply(const EinsumTerm& a, const EinsumTerm& b, const Labels& needed) {
  Labels kept;
  Labels summed;  // last, so that the reduction runs over trailing dims
  for (const Labels& labels : {a.labels, b.labels}) {
    for (Label label : labels) {
      Labels& group = contains(needed, label) ? kept : summed;
      if (!contains(group, label)) group.push_back(label);
    }
  }
  EinsumTerm result{{}, kept};
  result.labels.insert(result.labels.end(), summed.begin(), summed.end());
  result.x = mul(aligned(a, result.labels), aligned(b, result.labels));
  sum_over(result, summed);
  return result;
}

// Without "->": the dims under "..." and then, sorted, the letters that occur once.
Labels implicit_output(const std::vector<EinsumTerm>& terms, int hidden) {
  Labels all;
  for (const EinsumTerm& term : terms) all.insert(all.end(), term.labels.begin(), term.labels.end());
  Labels output;
  for (int h = hidden; h-- > 0;) output.push_back(kEllipsis + h);
  for (Label label = 0; label < kEllipsis; ++label) {
    if (std::count(all.begin(), all.end(), label) == 1) output.push_back(label);
  }
  return output;
}

void check_output(const Labels& output, const std::vector<EinsumTerm>& terms, std::string_view equation) {
  for (size_t k = 0; k < output.size(); ++k) {
    const bool known = std::any_of(terms.begin(), terms.end(),
                                   [&](const EinsumTerm& term) { return contains(term.labels, output[k]); });
    if (!known || std::find(output.begin(), output.begin() + static_cast<int64_t>(k), output[k]) !=
                      output.begin() + static_cast<int64_t>(k)) {
      fail(fmt::format("output letter '{}' of \"{}\" {}", static_cast<char>(output[k]), equation,
                       known ? "occurs twice" : "is in no operand"));
    }
  }
}

// The labels that the output or an operand from `next` on still needs.
Labels needed_after(const std::vector<EinsumTerm>& terms, size_t next, const Labels& output) {
  Labels needed = output;
  for (size_t k = next; k < terms.size(); ++k) {
    needed.insert(needed.end(), terms[k].labels.begin(), terms[k].labels.end());
  }
  return needed;
}

Labels without(const Labels& labels, const Labels& needed) {
  Labels rest;
  for (Label label : labels) {
    if (!contains(needed, label)) rest.push_back(label);
  }
  return rest;
}

// Pairwise from the left; a letter is summed as soon as nothing later needs it.
EinsumTerm contract(std::vector<EinsumTerm>& terms, const Labels& output) {
  EinsumTerm result = terms[0];
  sum_over(result, without(result.labels, needed_after(terms, 1, output)));
  for (size_t k = 1; k < terms.size(); ++k) {
    const Labels needed = needed_after(terms, k + 1, output);
    Labels wanted = needed;
    wanted.insert(wanted.end(), result.labels.begin(), result.labels.end());
    sum_over(terms[k], without(terms[k].labels, wanted));
    result = multiply(result, terms[k], needed);
  }
  return result;
}

}  // namespace

Tensor einsum(std::string_view equation, const std::vector<Tensor>& xs, SourceLocation where) {
  const Call call("einsum", where);
  const Subscripts subscripts = split_equation(equation);
  if (xs.empty() || subscripts.inputs.size() != xs.size()) {
    fail(fmt::format("\"{}\" names {} operands, got {}", equation, subscripts.inputs.size(), xs.size()));
  }
  std::vector<Operand> operands;
  for (const Tensor& x : xs) operands.emplace_back(x, where);
  const std::vector<Tensor> promoted = promote_only(operands);
  const DType dtype = promoted[0].dtype();
  if (is_bool(dtype)) fail("not defined for bool");
  std::vector<EinsumTerm> terms;
  int hidden = 0;
  for (size_t k = 0; k < xs.size(); ++k) {
    terms.push_back(parse_term(subscripts.inputs[k], cast_to(promoted[k], wide(dtype))));
    const auto of_term =
        std::count_if(terms[k].labels.begin(), terms[k].labels.end(), [](Label label) { return label >= kEllipsis; });
    hidden = std::max(hidden, static_cast<int>(of_term));
  }
  const Labels output = subscripts.output ? parse_labels(*subscripts.output, hidden) : implicit_output(terms, hidden);
  check_output(output, terms, equation);
  for (EinsumTerm& term : terms) take_diagonals(term, equation);
  return cast_to(aligned(contract(terms, output), output), dtype);
}

}  // namespace lumen
