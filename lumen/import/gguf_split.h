// A GGUF file in parts, as llama.cpp cuts large ones: NAME-00001-of-00003.gguf and so on. Each says in `split.no` and
// `split.count` which it is; the first has the metadata of the model.
#pragma once

#include <string>
#include <vector>

#include "lumen/base/expected.h"
#include "lumen/import/gguf.h"

namespace lumen {

// The paths of all parts of what `file` is a part of, in order: its own when it is whole. An error when its name is not
// that of the part that it says it is.
Expected<std::vector<std::string>> gguf_parts(const Gguf& file);

// An error unless the file is part number `number` (from 0) of `count`.
Expected<void> check_gguf_part(const Gguf& file, size_t number, size_t count);

}  // namespace lumen
