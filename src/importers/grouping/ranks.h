#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace aaco::importers::grouping {

// What a trace says of its rank: in its text, and in its file's name.
struct RankClue {
  std::optional<std::int64_t> text, name;
};
// One rank a trace: what the texts say where they all say something different, else the names. Else each keeps what it says
// itself, first come, first served, and the others get the smallest numbers that are free, in order.
std::vector<std::int32_t> assign_ranks(const std::vector<RankClue>& clues);

// The ranks of files that may hold several processes each: a file of one process gets a rank; the processes of one that holds
// several, numbered from 0 by its importer, are moved by a base.
struct FileRanks {
  std::optional<std::int32_t> rank;
  std::int32_t base = 0;
  bool operator==(const FileRanks&) const = default;
};
struct FileProcesses {
  std::size_t count = 1;
  RankClue clue;  // with one process
};
// A lone file keeps what it says itself. With several files of one process each, as assign_ranks; where any holds more, all are
// numbered in order.
std::vector<FileRanks> assign_file_ranks(const std::vector<FileProcesses>& files);

}  // namespace aaco::importers::grouping
