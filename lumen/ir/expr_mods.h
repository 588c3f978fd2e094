// Mod, found again in the mod-free normal form, for printing. Private to the expr_*.cpp files.
#pragma once

#include <vector>

#include "lumen/ir/expr.h"

namespace lumen {

struct ModTerm {
  Expr scale;
  Expr base;
  Expr modulus;
};

// e == rest + sum of scale * (base % modulus), building which gives e again.
struct ModForm {
  Expr rest;
  std::vector<ModTerm> mods;
};
ModForm recover_mods(Expr e);

}  // namespace lumen
