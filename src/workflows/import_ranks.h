#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace aaco::workflows {

// What a trace says of its rank: in its text, and in its file's name.
struct RankClue {
  std::optional<std::int64_t> text, name;
};
// One rank a trace: what the texts say where they all say something different, else the names, else the order.
std::vector<std::int32_t> assign_ranks(const std::vector<RankClue>& clues);

}  // namespace aaco::workflows
