#include "importers/grouping/programs.h"

#include "importers/file_source.h"

namespace aaco::importers::grouping {
namespace {

// A compiled program has instructions of the GPU from its beginning on; a report's times stand behind the first listing.
int rank_of(const std::string& path) {
  const auto source = open_file_source(path);
  if (!source) return 0;
  int rank = 1;
  std::string piece(std::size_t{1} << 20, '\0');
  std::string text;
  for (;;) {
    const auto count = (*source)->read(piece);
    if (!count || *count == 0) return rank;
    text.append(piece, 0, *count);
    if (text.find("Total instructions time:") != std::string::npos) return 3;
    if (text.find("gpu::") != std::string::npos || text.find("Compiling") != std::string::npos) rank = 2;
    text.erase(0, text.size() > 64 ? text.size() - 64 : 0);
  }
}

}  // namespace

std::size_t choose_program(const std::vector<std::string>& paths) {
  std::size_t best = 0;
  int best_rank = -1;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const int rank = rank_of(paths[i]);
    if (rank <= best_rank) continue;
    best = i;
    best_rank = rank;
  }
  return best;
}

}  // namespace aaco::importers::grouping
