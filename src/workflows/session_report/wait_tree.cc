#include "workflows/session_report/wait_tree.h"

#include <algorithm>
#include <string>

#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::workflows {
namespace {

using Frame = report::OperatingSystem::Frame;

constexpr std::string_view kKernelMark = "_[k]";
constexpr std::size_t kMaxDepth = 96;
constexpr double kSmallestShare = 0.0005;  // half a pixel of a page

void add_stack(Frame& root, std::string_view frames, double total_ns) {
  Frame* at = &root;
  at->total_ns += total_ns;
  std::size_t depth = 0;
  for (std::string_view part : core::split(frames, ';')) {
    if (part.empty() || ++depth > kMaxDepth) break;
    const bool kernel = part.ends_with(kKernelMark);
    if (kernel) part.remove_suffix(kKernelMark.size());
    auto& children = at->children;
    auto child = std::find_if(children.begin(), children.end(),
                              [&](const Frame& one) { return one.kernel == kernel && one.name == part; });
    if (child == children.end()) child = children.insert(children.end(), Frame{std::string(part), 0, kernel, {}});
    child->total_ns += total_ns;
    at = &*child;
  }
}

void trim(Frame& frame, double smallest_ns) {
  std::erase_if(frame.children, [&](const Frame& one) { return one.total_ns < smallest_ns; });
  std::stable_sort(frame.children.begin(), frame.children.end(),
                   [](const Frame& a, const Frame& b) { return a.total_ns > b.total_ns; });
  for (Frame& child : frame.children) trim(child, smallest_ns);
}

}  // namespace

std::optional<Frame> wait_tree(std::string_view folded) {
  Frame root{"all threads", 0, false, {}};
  for (const std::string_view line : core::split_lines(folded)) {
    const auto space = line.rfind(' ');
    if (space == std::string_view::npos || space == 0) continue;
    const auto total_ns = core::parse_i64(line.substr(space + 1));
    if (total_ns && *total_ns > 0) add_stack(root, line.substr(0, space), static_cast<double>(*total_ns));
  }
  if (root.children.empty()) return std::nullopt;
  trim(root, root.total_ns * kSmallestShare);
  return root;
}

}  // namespace aaco::workflows
