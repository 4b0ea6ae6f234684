#include "workflows/run/process_tree.h"

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::workflows {
namespace {

constexpr std::size_t kLargestTree = 256;

}  // namespace

std::vector<std::int64_t> process_tree(const std::string& root, std::int64_t process_id) {
  std::vector<std::int64_t> tree = {process_id};
  for (std::size_t i = 0; i < tree.size() && tree.size() < kLargestTree; ++i) {
    const std::string id = std::to_string(tree[i]);
    const auto children = core::read_file(core::join_path(root, "proc/" + id + "/task/" + id + "/children"));
    if (!children) continue;
    for (const std::string_view word : core::split_words(*children))
      if (const auto child = core::parse_i64(word); child && tree.size() < kLargestTree) tree.push_back(*child);
  }
  return tree;
}

}  // namespace aaco::workflows
