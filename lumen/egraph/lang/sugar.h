// Named fields, labels and inherited fields, taken out of a rule: what is left is plain positional egglog.
//
//   (rule ((= ?e (Add ?m:(Mul ?a ?b :scale 1) ?c))) ((union ?e (Fma ?a ?b ?c ..?m))))
// becomes, when Mul has fields scale and dtype and Fma has field dtype,
//   (rule ((= ?m (Mul ?a ?b 1 @?m.dtype)) (= ?e (Add ?m ?c))) ((union ?e (Fma ?a ?b ?c @?m.dtype))))
// New variables start with @, which no name in a program does.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "lumen/egraph/lang/ast.h"

namespace lumen::egraph {

// The parameters of a table: how many are positional, and the names of those after them. Null for an unknown name.
struct Signature {
  size_t positional = 0;
  std::span<const std::string> fields;
};
using SignatureOf = std::function<const Signature*(std::string_view name)>;

// Every command; facts are patterns, and so is the left side of a rewrite. In patterns a field left out matches
// anything; elsewhere, and on both sides of a birewrite, every field must be given or inherited. `..?m` takes fields
// of the node that `?m:(F ...)` or the fact `(= ?m (F ...))` binds; in a pattern that node must come before it; a call
// of a table without fields takes none. A call with positional values for all fields is plain already. Errors: unknown
// field, field given twice, missing field, too many or too few arguments of a table with fields, `..?m` without such a
// node, a label outside patterns.
Expected<Command> desugar_fields(const Command& command, const SignatureOf& signature_of, Arena& arena);

}  // namespace lumen::egraph
