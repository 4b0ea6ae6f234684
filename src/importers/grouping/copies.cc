#include "importers/grouping/copies.h"

#include <algorithm>
#include <functional>
#include <map>

#include "core/files.h"
#include "importers/file_source.h"
#include "importers/kineto.h"
#include "importers/rocm_tables.h"
#include "importers/rpd.h"

namespace aaco::importers::grouping {
namespace {

using Source = std::unique_ptr<trace::ByteSource>;

// Less than asked for only at the end.
core::Result<std::size_t> read_full(trace::ByteSource& source, std::string& piece) {
  std::size_t size = 0;
  while (size < piece.size()) {
    AACO_ASSIGN(const std::size_t count, source.read({piece.data() + size, piece.size() - size}));
    if (count == 0) break;
    size += count;
  }
  return size;
}

// Byte by byte behind the compression. What cannot be read is no copy: its import will say why.
bool same_content(const std::string& a, const std::string& b) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  const auto first = open_file_source(a);
  const auto second = open_file_source(b);
  if (!first || !second) return false;
  std::string piece(kPiece, '\0'), other(kPiece, '\0');
  for (;;) {
    const auto size = read_full(**first, piece);
    const auto other_size = read_full(**second, other);
    if (!size || !other_size || *size != *other_size) return false;
    if (std::string_view(piece).substr(0, *size) != std::string_view(other).substr(0, *size)) return false;
    if (*size < kPiece) return true;
  }
}

// The same trace under the names of two ranks stands for two ranks.
bool names_differ_in_rank(const std::string& a, const std::string& b) {
  const auto rank = [](const std::string& path) { return kineto::rank_of({}, {}, path); };
  return rank(a) && rank(b) && *rank(a) != *rank(b);
}

void leave_out_same_content(Inputs& inputs) {
  std::map<std::size_t, std::vector<std::string>>
      read;  // by their first 64 KiB: traces of one job differ only behind the devices
  std::erase_if(inputs.files, [&](const InputFile& file) {
    const auto head = read_head(file.path);
    if (!head || rocm_table_of(*head) == RocmTable::facts) return false;  // each process has such of its own
    auto& alike = read[std::hash<std::string>()(*head)];
    const auto original = std::find_if(alike.begin(), alike.end(), [&](const std::string& path) {
      return !names_differ_in_rank(path, file.path) && same_content(path, file.path);
    });
    if (original == alike.end()) {
      alike.push_back(file.path);
      return false;
    }
    inputs.passed.push_back({file.path, "same content as " + core::base_name(*original) + ", which was imported"});
    return true;
  });
}

void leave_out_exports(Inputs& inputs) {
  std::vector<std::string> databases;
  for (const InputFile& file : inputs.files)
    if (file.info.name == "rpd") databases.push_back(file.path);
  if (databases.empty()) return;
  std::erase_if(inputs.files, [&](const InputFile& file) {
    if (file.info.grouping != Grouping::traces) return false;
    const auto head = read_head(file.path);
    if (!head) return false;
    const auto origin =
        std::find_if(databases.begin(), databases.end(), [&](const std::string& path) { return rpd::is_export_of(*head, path); });
    if (origin == databases.end()) return false;
    inputs.passed.push_back({file.path, "same run as " + core::base_name(*origin) + ", which was imported"});
    return true;
  });
}

}  // namespace

void leave_out_copies(Inputs& inputs) {
  if (inputs.files.size() < 2) return;
  leave_out_same_content(inputs);
  leave_out_exports(inputs);
}

}  // namespace aaco::importers::grouping
