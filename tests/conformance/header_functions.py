"""The names of the public frontend functions, read out of the headers that declare them."""

import pathlib
import re

# promote.h is public but not part of ops.h: users meet it through its effects.
ROOTS = ("ops.h", "promote.h")


def strip(text):
    """Without comments, preprocessor lines and string contents."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"^\s*#[^\n]*", "", text, flags=re.M)
    return re.sub(r'"(\\.|[^"\\])*"', '""', text)


def statements(text):
    """What stands directly in `namespace lumen`, one declaration or definition head at a time."""
    text = strip(text)
    stack, statement = [], ""
    for match in re.finditer(r"[{};]|[^{};]+", text):
        token = match.group()
        if token == "{":
            head = statement.strip()
            opens_namespace = re.fullmatch(r"(inline\s+)?namespace\s+[\w:]*", head) is not None
            inside_parentheses = statement.count("(") != statement.count(")")
            stack.append(head if opens_namespace else "block")
            if opens_namespace:
                statement = ""
            elif not inside_parentheses and stack[:-1] == ["namespace lumen"]:
                yield head
                statement = ""
        elif token == "}":
            if not stack:
                raise ValueError("unbalanced braces")
            stack.pop()
        elif stack == ["namespace lumen"]:
            if token == ";":
                yield statement.strip()
                statement = ""
            else:
                statement += token
        elif not stack:
            statement = "" if token == ";" else statement + token


def function_name(statement):
    """The function that a statement declares or defines, or nothing."""
    if re.match(r"(struct|class|enum|union|using|namespace|typedef|template|friend|static_assert)\b", statement):
        return None
    match = re.match(r"[\w:<>&*,\s]*?[\s&*>](operator\s*[^\s\w(]+|\w+)\s*\(", statement)
    return re.sub(r"\s", "", match.group(1)) if match else None


def public_headers(folder):
    """The frontend headers that ops.h includes, directly or not, and promote.h."""
    found, todo = [], [folder / root for root in ROOTS]
    while todo:
        header = todo.pop(0)
        if header in found:
            continue
        found.append(header)
        for name in re.findall(r'^#include "lumen/frontend/(\w+\.h)"', header.read_text(), flags=re.M):
            todo.append(folder / name)
    return sorted(found)


def public_functions(root):
    """Every public function's name, sorted."""
    names = set()
    for header in public_headers(pathlib.Path(root) / "lumen" / "frontend"):
        for statement in statements(header.read_text()):
            name = function_name(statement)
            if name:
                names.add(name)
    return sorted(names)


SAMPLE = """
#pragma once
#include "x.h"  // Tensor not_me(int);
namespace lumen {
using Axes = std::vector<int64_t>;
struct Options { std::vector<int64_t> stride = {1}; int method(int); };
Tensor plain(const Operand& x);  // trailing(comment)
Tensor with_default(const Operand& x, const std::optional<Operand>& y = {}, const Options& o = {},
                    Where where = Where::current());
std::vector<Tensor> many(const Operand& x, const std::vector<std::pair<Expr, Expr>>& ranges = {{1, 2}});
inline Tensor operator+(const Operand& a, const Operand& b) { return add(a, b); }
inline Tensor& operator%=(Tensor& a, const Operand& b) { return a = inner(a, b); }
template <class T> T generic(T);
namespace detail { Tensor hidden(int); }
enum class Layout : uint8_t { half, interleaved };
Tensor last(double x = 1.0);
}  // namespace lumen
"""


def check_itself():
    """The reader is no better than what it finds: it must find these in the sample, and nothing else."""
    found = [name for name in map(function_name, statements(SAMPLE)) if name]
    expected = ["plain", "with_default", "many", "operator+", "operator%=", "last"]
    if found != expected:
        raise AssertionError(f"header_functions finds {found}, not {expected}")
