#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collectors/ebpf/event_source.h"
#include "collectors/ebpf/interval_builder.h"
#include "collectors/ebpf/memory_map.h"
#include "collectors/ebpf/symbols.h"
#include "collectors/scheduler_watch.h"

namespace aaco::collectors::ebpf {

// Where threads left their CPUs: the addresses of a stack become places in files while its process lives, functions at the end.
// note() by one thread, while another may call add(); stacks() alone.
class StackBook {
 public:
  static constexpr std::size_t kMaxStacks = 16384;  // distinct ones; what is beyond counts under its thread alone

  explicit StackBook(const SysRoot& root) : root_(root), symbols_(root) {}

  // Looks up the stacks of an event; `now_ns` is that of a monotonic clock.
  void note(const WireEvent& event, const EventSource& source, std::int64_t now_ns);
  // A thread was off its CPU: `call` is the system call, empty for none.
  void add(const OffCpuKey& key, std::int64_t duration_ns);
  // With names of functions, outermost first; most time first.
  std::vector<OffCpuStack> stacks();

 private:
  struct Place {
    std::string file;
    std::uint64_t offset = 0;
    bool operator==(const Place&) const = default;
  };
  struct Memory {
    std::vector<Mapping> maps;
    std::int64_t read_ns = 0;
  };
  struct Sum {
    std::int64_t total_ns = 0, count = 0;
  };
  std::vector<Place> places_of(std::uint32_t process, const std::vector<std::uint64_t>& addresses, std::int64_t now_ns);
  std::vector<std::string> frames_of(const OffCpuKey& key);

  SysRoot root_;
  Symbols symbols_;
  std::unordered_map<std::uint32_t, Memory> memories_;
  std::map<std::pair<std::uint32_t, std::int32_t>, std::vector<Place>> user_;  // of a process, innermost first
  std::unordered_map<std::int32_t, std::vector<std::uint64_t>> kernel_;
  std::map<OffCpuKey, Sum> sums_;
};

}  // namespace aaco::collectors::ebpf
