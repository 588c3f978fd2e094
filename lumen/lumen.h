// Lumen's public surface: build a graph, compile it, run it. Nothing else is promised.
#pragma once

#include "lumen/compile.h"          // IWYU pragma: export
#include "lumen/frontend/ops.h"     // IWYU pragma: export
#include "lumen/ir/graph.h"         // IWYU pragma: export
#include "lumen/runtime/session.h"  // IWYU pragma: export
