#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/names.h"
#include "trace/rows.h"

// Device time by call path: framework operators, annotations and marker ranges as they enclose each other, with the kernels that
// they launched as leaves.
namespace aaco::analytics::calltree {

struct Node {
  std::string name;
  bool kernel = false;
  std::int64_t calls = 0;      // executions of a kernel
  std::int64_t host_ns = 0;    // inclusive; 0 of a kernel
  std::int64_t device_ns = 0;  // of the kernels below it, inclusive
  std::vector<std::size_t> children;
};

struct Tree {
  std::vector<Node> nodes;  // [0] is the root; a parent comes before its children
  bool truncated = false;   // more paths or launches than are kept: their time counts for the nearest kept path
};

// Python frames and runtime calls are not in the tree; "ProfilerStep#7" is ProfilerStep. Threads are joined. Memory: at most
// kMaxNodes paths and kMaxLaunches launches.
class TreeBuilder {
 public:
  static constexpr std::size_t kMaxNodes = 200'000, kMaxLaunches = 4'000'000;
  static constexpr std::size_t kMaxDepth = 100;

  explicit TreeBuilder(const trace::NameTable& names);
  // Calls in order of start, of all threads; then kernels in any order.
  void add(const trace::ApiCallRow& row);
  void add(const trace::KernelRow& row);
  [[nodiscard]] Tree finish();

 private:
  using Thread = std::pair<std::int32_t, std::pair<std::int64_t, std::int64_t>>;  // rank, process, thread
  struct Open {
    std::int64_t end_ns = 0;
    std::size_t node = 0;
  };
  enum class Kind : std::uint8_t { unseen, skipped, runtime, range };
  Kind kind_of(trace::NameId domain);
  std::size_t child(std::size_t parent, std::string_view name, bool kernel);

  const trace::NameTable& names_;
  Tree tree_;
  std::map<std::pair<std::size_t, std::string>, std::size_t, std::less<>> children_;
  std::map<Thread, std::vector<Open>> open_;
  std::unordered_map<std::uint64_t, std::size_t> launches_;  // correlation id mixed with the rank
  std::vector<Kind> kinds_;                                  // by domain's id
};

// A node of two trees: values are per step of its side.
struct Side {
  double calls = 0, host_ns = 0, device_ns = 0;
};
struct DiffNode {
  std::string name;
  bool kernel = false;
  std::size_t depth = 0;
  Side a, b;
  double device_delta_ns = 0, host_delta_ns = 0;
};

// Every path of either tree, depth first; children by the size of their change (device time, then host time), largest first.
std::vector<DiffNode> compare(const Tree& a, double steps_a, const Tree& b, double steps_b);

}  // namespace aaco::analytics::calltree
