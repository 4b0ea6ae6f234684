#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace aaco::workflows {

// The rank a trace's head names ("distributedInfo": {"rank": 3}), or empty.
std::optional<std::int32_t> rank_in_head(std::string_view head);
// The rank a file's name gives: "rank3", "rank_3", "rank-3", "worker3"; or empty.
std::optional<std::int32_t> rank_in_name(std::string_view file_name);

struct RankClue {
  std::optional<std::int32_t> head, name;
};
// One rank a file: what the heads say where they all say something different, else the names, else the order.
std::vector<std::int32_t> assign_ranks(const std::vector<RankClue>& clues);

}  // namespace aaco::workflows
