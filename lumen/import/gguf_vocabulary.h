// The vocabulary that a GGUF file carries, for a tokenizer.
#pragma once

#include "lumen/import/gguf.h"
#include "lumen/text/tokenizer.h"

namespace lumen {

// What a file may leave out is empty. An error when there are no tokens, an array has another length than they, or an
// id is none of theirs.
Expected<GgufVocabulary> vocabulary_of(const Gguf& file);

}  // namespace lumen
