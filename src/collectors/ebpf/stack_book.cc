#include "collectors/ebpf/stack_book.h"

#include <algorithm>
#include <array>

#include "core/files.h"

namespace aaco::collectors::ebpf {
namespace {

constexpr std::int64_t kReadAgain_ns = 200'000'000;  // a process may load libraries, or become another program
constexpr std::int64_t kMaxMapsBytes = std::int64_t{16} << 20;

// How the kernel gets from the wait to the tracepoint: the same for every stack.
bool is_tracing(std::string_view function) {
  static constexpr std::array<std::string_view, 6> kBeginnings = {"bpf_",   "__bpf_", "__traceiter_",
                                                                  "trace_", "perf_",  "__schedule"};
  return function == "schedule" ||
         std::any_of(kBeginnings.begin(), kBeginnings.end(), [&](auto beginning) { return function.starts_with(beginning); });
}

void add_frame(std::vector<std::string>& frames, std::string name) {
  const bool again = name.starts_with('[') && !frames.empty() && frames.back() == name;  // of a file without symbols
  if (!name.empty() && !again) frames.push_back(std::move(name));
}

}  // namespace

void StackBook::note(const WireEvent& event, const EventSource& source, std::int64_t now_ns) {
  if (event.kind != wire_switch) return;
  if (event.kernel_stack >= 0 && kernel_.size() < kMaxStacks)
    if (const auto [place, fresh] = kernel_.try_emplace(event.kernel_stack); fresh)
      place->second = source.stack(event.kernel_stack);
  if (event.user_stack < 0 || user_.size() >= kMaxStacks) return;
  const auto [place, fresh] = user_.try_emplace({event.process, event.user_stack});
  if (fresh) place->second = places_of(event.process, source.stack(event.user_stack), now_ns);
}

std::vector<StackBook::Place> StackBook::places_of(std::uint32_t process, const std::vector<std::uint64_t>& addresses,
                                                   std::int64_t now_ns) {
  Memory& memory = memories_[process];
  const auto read = [&] {
    if (memory.read_ns == now_ns) return;
    memory.read_ns = now_ns;
    if (const auto text = core::read_file(root_.at("/proc/" + std::to_string(process) + "/maps"), kMaxMapsBytes))
      memory.maps = parse_maps(*text);
  };
  if (memory.read_ns == 0 || now_ns - memory.read_ns > kReadAgain_ns) read();
  std::vector<Place> places;
  for (const std::uint64_t address : addresses) {
    const Mapping* mapping = mapping_of(memory.maps, address);
    if (mapping == nullptr && places.empty()) {
      read();
      mapping = mapping_of(memory.maps, address);
    }
    if (mapping == nullptr) break;  // not code: without frame pointers the walk goes astray here
    // A return address is behind its call, which may be the last instruction of a function.
    const std::uint64_t at = places.empty() ? address : address - 1;
    places.push_back({mapping->file, at - mapping->begin + mapping->file_offset});
  }
  return places;
}

void StackBook::add(const OffCpuKey& key, std::int64_t duration_ns) {
  OffCpuKey known = key;
  if (sums_.size() >= kMaxStacks && !sums_.contains(known)) known.user_stack = known.kernel_stack = wire_no_stack;
  Sum& sum = sums_[known];
  sum.total_ns += duration_ns;
  ++sum.count;
}

std::vector<std::string> StackBook::frames_of(const OffCpuKey& key) {
  std::vector<std::string> frames;
  if (const auto user = user_.find({key.process, key.user_stack}); user != user_.end())
    for (auto place = user->second.rbegin(); place != user->second.rend(); ++place)
      add_frame(frames, symbols_.user_function(place->file, place->offset));
  const std::size_t users = frames.size();
  if (const auto kernel = kernel_.find(key.kernel_stack); kernel != kernel_.end()) {
    std::vector<std::string> inner;
    for (auto address = kernel->second.rbegin(); address != kernel->second.rend(); ++address)
      inner.push_back(symbols_.kernel_function(*address));
    while (!inner.empty() && (inner.back().empty() || is_tracing(inner.back()))) inner.pop_back();
    for (std::string& name : inner)
      if (!name.empty()) frames.push_back(std::move(name) + kKernelFrame);
  }
  if (frames.size() == users && !key.call.empty()) frames.push_back("[" + key.call + "]");
  return frames;
}

std::vector<OffCpuStack> StackBook::stacks() {
  std::map<std::pair<std::string, std::vector<std::string>>, Sum> merged;  // equal frames of several addresses
  for (const auto& [key, sum] : sums_) {
    Sum& all = merged[{key.thread, frames_of(key)}];
    all.total_ns += sum.total_ns;
    all.count += sum.count;
  }
  std::vector<OffCpuStack> out;
  for (const auto& [key, sum] : merged) out.push_back({key.first, key.second, sum.total_ns, sum.count});
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
  return out;
}

}  // namespace aaco::collectors::ebpf
