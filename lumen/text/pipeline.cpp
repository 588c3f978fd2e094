#include "lumen/text/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "lumen/text/utf8.h"

namespace lumen::text {

namespace {

constexpr size_t kMaxText = size_t{1} << 30;

}  // namespace

std::unique_ptr<Workspace> Workspaces::take() const {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return std::make_unique<Workspace>();
  std::unique_ptr<Workspace> workspace = std::move(free_.back());
  free_.pop_back();
  return workspace;
}

void Workspaces::give_back(std::unique_ptr<Workspace> workspace) const {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(workspace));
}

Expected<void> Pipeline::finish() {
  size = vocabulary->size();
  for (size_t k = 0; k < added.size(); ++k) {
    const AddedToken& token = added[k];
    if (token.id < 0 || token.id >= Vocabulary::kMaxId) {
      return error(fmt::format("added token \"{}\": id {} is out of range", token.text, token.id));
    }
    size = std::max(size, token.id + 1);
    added_by_id.emplace(token.id, k);
    added_by_text.emplace(token.text, token.id);
    if (!token.normalized) {
      raw_tokens.add(token.text, token);
    } else {
      // Hugging Face decodes such a token as the text that it was found by.
      const std::string found = normalize ? LUMEN_TRY(normalize(token.text)) : token.text;
      normalized_tokens.add(found, token);
      surface.emplace(token.id, found);
    }
  }
  if (!bos && !prefix.empty()) bos = prefix.front();
  if (!eos && !suffix.empty()) eos = suffix.back();
  workspaces = std::make_shared<Workspaces>();
  return {};
}

Expected<std::vector<int32_t>> Pipeline::encode(std::string_view text, const EncodeOptions& options) const {
  if (text.size() > kMaxText)
    return error(fmt::format("a text of {} bytes is too long to encode at once", text.size()));
  std::string valid;
  if (!takes_bytes && !utf8_valid(text)) {
    valid = replace_invalid(text);
    text = valid;
  }
  std::unique_ptr<Workspace> workspace = workspaces->take();
  workspace->cache.prepare(text.size());
  std::vector<int32_t> ids;
  if (options.add_special) ids = prefix;
  Expected<void> result;
  for (const TokenFinder::Part& part : raw_tokens.split(text, options.find_special)) {
    if (part.token != nullptr) {
      ids.push_back(part.token->id);
      continue;
    }
    result = encode_text(part.text, part.text.data() == text.data(), options.find_special, *workspace, ids);
    if (!result.ok()) break;
  }
  workspaces->give_back(std::move(workspace));
  LUMEN_TRY(std::move(result));
  if (options.add_special) ids.insert(ids.end(), suffix.begin(), suffix.end());
  return ids;
}

Expected<void> Pipeline::encode_text(std::string_view text, bool at_start, bool find_special, Workspace& workspace,
                                     std::vector<int32_t>& ids) const {
  std::string normalized;
  if (normalize) {
    normalized = LUMEN_TRY(normalize(std::string(text)));
    text = normalized;
  }
  if (normalized_tokens.empty()) return encode_pieces(text, at_start, workspace, ids);
  for (const TokenFinder::Part& part : normalized_tokens.split(text, find_special)) {
    if (part.token != nullptr) {
      ids.push_back(part.token->id);
    } else {
      LUMEN_TRY(encode_pieces(part.text, at_start && part.text.data() == text.data(), workspace, ids));
    }
  }
  return {};
}

Expected<void> Pipeline::encode_pieces(std::string_view text, bool at_start, Workspace& workspace,
                                       std::vector<int32_t>& ids) const {
  Pieces pieces(text, at_start);
  if (pre_tokenize) LUMEN_TRY(pre_tokenize(pieces));
  for (const Piece& piece : pieces.list()) {
    if (workspace.cache.find(piece.text, ids)) continue;
    if (piece.text.size() > std::numeric_limits<int32_t>::max() / 2)
      return error("a text is too long to encode at once");
    const size_t before = ids.size();
    LUMEN_TRY(model->encode(piece.text, workspace.scratch, ids));
    workspace.cache.add(piece.text, std::span(ids).subspan(before));
  }
  return {};
}

std::optional<std::string_view> Pipeline::decoded_token(int32_t id, const DecodeOptions& options) const {
  const auto found = added_by_id.find(id);
  if (found != added_by_id.end()) {
    const AddedToken& token = added[found->second];
    if (token.special && options.skip_special) return std::nullopt;
  }
  if (const auto other = surface.find(id); other != surface.end()) return other->second;
  if (found != added_by_id.end()) return added[found->second].text;
  return vocabulary->has(id) ? std::optional(vocabulary->text(id)) : std::nullopt;
}

}  // namespace lumen::text
