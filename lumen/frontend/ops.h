// Every function a user builds graphs with, by family. Each expands at once into the primitives of hlir/.
//
// Names, argument order and meaning are PyTorch's where PyTorch has the function; axes may be negative. Operands
// broadcast NumPy-style and are promoted (promote.h). Errors are thrown as lumen::Error at the call, with the
// caller's source location: `[matmul] inner dims 3 and 4 differ: f32[2,3] @ f32[4,5] (app.cpp:12)`.
#pragma once

#include "lumen/frontend/attention.h"
#include "lumen/frontend/blocks.h"
#include "lumen/frontend/convolution.h"
#include "lumen/frontend/creation.h"
#include "lumen/frontend/elementwise.h"
#include "lumen/frontend/indexing.h"
#include "lumen/frontend/linear.h"
#include "lumen/frontend/movement.h"
#include "lumen/frontend/normalization.h"
#include "lumen/frontend/operators.h"
#include "lumen/frontend/reduction.h"
#include "lumen/frontend/sorting.h"
