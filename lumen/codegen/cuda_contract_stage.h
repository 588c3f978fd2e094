// One factor's tile of 16-bit elements in shared memory, as ldmatrix or wgmma reads it: in pieces of 16 bytes, whose
// places in a line are exchanged so that eight lines at once are in different banks.
#pragma once

#include <optional>
#include <string>

#include "lumen/codegen/cuda_contract_frame.h"

namespace lumen {

// Who multiplies: warps, which load fragments, or groups of four warps, which describe tiles (cuda_text.h). For these a
// line is 128 bytes, further ones lie behind all lines, and a tile begins at a multiple of kTileAlign bytes.
enum class StageReader : uint8_t { warps, groups };
inline constexpr int64_t kTileAlign = 1024;

class CudaStage {
 public:
  // A tile of `lanes` rows or columns by `depth` summed coordinates, both multiples of 8 (of 64 for groups), of a
  // factor that is `dtype` or was before it was widened.
  CudaStage(const ContractRoles& roles, NodeId factor, Role lane, DType dtype, int64_t lanes, int64_t depth,
            StageReader reader = StageReader::warps, bool grouped = false);

  int64_t elements() const { return lanes_ * depth_; }
  // Statements that fill the tile at `to` from the summed coordinate `kk` on; `first` is its first lane. Copies are
  // under way after them, where the factor lies right. Lanes behind the last are 0; or anything, if it does not matter.
  Expected<std::string> fill(const std::string& to, const std::string& first, int64_t threads,
                             std::vector<std::string>& faults, bool is_behind_anything = false) const;
  // The same where no lane is behind the last, or no summed coordinate: nothing where this makes no difference.
  std::optional<std::string> fill_inside(const std::string& to, const std::string& first, int64_t threads, Role along,
                                         std::vector<std::string>& faults) const;
  // Fragments of 16 lanes from `lane` on by 16 summed coordinates from `k` on, both multiples of 16, of the tile at
  // `from`, into four words: as the left operand has them, or as two right operands have them.
  std::string load_left(const std::string& to, const std::string& from, const std::string& lane,
                        const std::string& k) const;
  std::string load_right(const std::string& to, const std::string& from, const std::string& lane,
                         const std::string& k) const;
  // For groups: what describes the part of the tile at `from` that begins at `lane`, a multiple of 64, and `k`, a
  // multiple of 16; and whether its lanes are neighbours in memory, which the instruction is told.
  std::string describe(const std::string& from, const std::string& lane, const std::string& k) const;
  bool is_turned() const { return way_ == Way::along_lanes; }

 private:
  enum class Way : uint8_t { along_summed, along_lanes, elements };
  // The place of piece `piece` of line `line`, in elements; `like` is a line that is as many behind a multiple of 8.
  std::string place(const std::string& line, const std::string& piece) const { return place(line, piece, line); }
  std::string place(const std::string& line, const std::string& piece, const std::string& like) const;
  int64_t pieces() const { return (is_turned() ? lanes_ : depth_) / 8; }  // of a line
  int64_t lines_of_tile() const { return is_turned() ? depth_ : lanes_; }
  // Of the matrices from line `line` on, a multiple of 16, that of this thread: `within` lines further.
  std::string load(const std::string& to, const std::string& from, const std::string& line, const std::string& within,
                   const std::string& piece) const;
  std::string copy(const std::string& to, const std::string& first, int64_t threads, std::vector<std::string>& faults,
                   std::optional<Role> inside = std::nullopt) const;
  // The roles whose coordinates an index may choose the input's part by: pieces are not taken apart.
  std::vector<Role> lines() const { return {Role::batch, way_ == Way::along_summed ? lane_ : Role::summed}; }

  const ContractRoles& roles_;
  NodeId factor_;
  Role lane_;
  DType dtype_;
  int64_t lanes_, depth_;
  StageReader reader_;
  bool grouped_;  // lanes are batches of a group (cuda_contract_grouped.h)
  Way way_ = Way::elements;
};

}  // namespace lumen
