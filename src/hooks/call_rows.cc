#include "hooks/call_rows.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/json.h"

namespace aaco::hooks {
namespace {

using core::Json;

constexpr std::uint64_t kPerThreadStream = 2;  // hipStreamPerThread, cudaStreamPerThread, CU_STREAM_PER_THREAD

bool ends_with_thread_stream(std::string_view name) {
  return name.ends_with("_ptsz") || name.ends_with("_ptds") || name.ends_with("_spt");
}

std::string hex(std::uint64_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  do text.insert(text.begin(), kDigits[value & 15U]);
  while ((value >>= 4U) != 0);
  return "0x" + text;
}

std::string_view direction_of(const Function& function, std::uint64_t argument) {
  constexpr std::array<std::string_view, 5> kKinds = {"h2h", "h2d", "d2h", "d2d", ""};  // hipMemcpyKind, cudaMemcpyKind
  switch (function.direction) {
    case Direction::h2d: return "h2d";
    case Direction::d2h: return "d2h";
    case Direction::d2d: return "d2d";
    case Direction::by_argument: return kKinds.at(std::min<std::uint64_t>(argument & 0xffffffffU, 4));
    case Direction::none: break;
  }
  return {};
}

bool has_kernel(Role role) { return role == Role::launch; }

}  // namespace

std::string_view domain_of(Group group) {
  constexpr std::array<std::string_view, kGroups> kDomains = {"hip",    "cuda_runtime", "cuda_driver", "hipblas",
                                                              "cublas", "miopen",       "cudnn",       "rccl"};
  return kDomains.at(static_cast<std::size_t>(group));
}

const Function* find_recorded(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                         [&](const Function& one) { return name == one.name || name == shown_name(one); });
  return found == std::end(kFunctions) ? nullptr : found;
}

CallRows::CallRows(trace::Sink& sink, bool numbered) : sink_(sink), numbered_(numbered) {
  for (const Function& function : kFunctions) {
    names_.push_back(sink.name(shown_name(function)));
    domains_.push_back(sink.name(domain_of(function.group)));
  }
}

void CallRows::text(std::int32_t process_id, const wire::Record& record) {
  std::array<char, sizeof record.words + 1> part{};
  std::memcpy(part.data(), record.words, sizeof record.words);
  if (kernels_.size() >= kMaxTexts) return;
  std::string& name = kernels_[{process_id, record.subject}];
  if (record.result == 0) name.clear();
  if (static_cast<std::size_t>(record.result) == name.size()) name += part.data();
}

void CallRows::alias(std::int32_t process_id, const wire::Record& record) {
  if (aliases_.size() < kMaxTexts) aliases_[{process_id, record.subject}] = record.words[0];
}

const std::string* CallRows::kernel_of(const Pointer& handle) const {
  if (const auto alias = aliases_.find(handle); alias != aliases_.end())
    if (const auto known = kernels_.find({handle.first, alias->second}); known != kernels_.end()) return &known->second;
  const auto own = kernels_.find(handle);
  return own == kernels_.end() ? nullptr : &own->second;
}

std::int32_t CallRows::rank_of(std::int32_t process_id) {
  return ranks_.try_emplace(process_id, static_cast<std::int32_t>(ranks_.size())).first->second;
}

trace::NameId CallRows::arguments_of(std::int32_t process_id, const Function& function, const wire::Record& record) {
  Json out = Json::object();
  if (has_kernel(function.role))
    if (const std::string* const kernel = kernel_of({process_id, record.subject})) out.set("kernel", *kernel);
  if (function.role == Role::event_record || function.role == Role::sync_event || function.role == Role::query ||
      function.role == Role::stream_wait) {
    const std::uint64_t event = function.role == Role::stream_wait ? record.words[wire::aux] : record.subject;
    if (event != 0) out.set("event", hex(event));
  }
  std::uint64_t stream = record.words[wire::stream];
  if (stream == 0 && ends_with_thread_stream(function.name)) stream = kPerThreadStream;
  if (function.stream != -1) out.set("stream", hex(stream));
  if (function.bytes >= 0) out.set(function.role == Role::collective ? "count" : "bytes", record.words[wire::bytes]);
  if (const auto kind = direction_of(function, record.words[wire::aux]); !kind.empty()) out.set("kind", kind);
  if (record.device != 0) out.set("device", static_cast<int>(record.device));
  if (record.result != 0) out.set("result", record.result);
  if (out.members().empty()) return {};
  std::string text = out.dump(-1);
  if (const auto known = arguments_.find(text); known != arguments_.end()) return known->second;
  if (arguments_.size() >= kMaxTexts) return {};
  const trace::NameId id = sink_.name(text);
  arguments_.emplace(std::move(text), id);
  return id;
}

// A runtime's allocation calls its driver's: both are of the same address, which counts once.
void CallRows::count_memory(std::int32_t process_id, const Function& function, const wire::Record& record) {
  const bool takes = function.role == Role::alloc || function.role == Role::alloc_async;
  const bool gives = function.role == Role::free || function.role == Role::free_async;
  if ((!takes && !gives) || record.result != 0 || record.subject == 0) return;
  const Pointer pointer(process_id, record.subject);
  if (takes && live_.size() < kMaxPointers) {
    const auto bytes = static_cast<std::int64_t>(record.words[wire::bytes]);
    if (bytes < 0 || !live_.emplace(pointer, bytes).second) return;
    ++allocations_.count;
    allocations_.bytes += bytes;
    allocations_.live_bytes += bytes;
    allocations_.peak_bytes = std::max(allocations_.peak_bytes, allocations_.live_bytes);
  } else if (const auto found = live_.find(pointer); gives && found != live_.end()) {
    ++allocations_.freed_count;
    allocations_.live_bytes -= found->second;
    live_.erase(found);
  }
}

void CallRows::call(std::int32_t process_id, std::int32_t thread_id, const wire::Record& record, std::int64_t start_ns,
                    std::int64_t end_ns) {
  const Function& function = kFunctions[record.function];
  count_memory(process_id, function, record);
  trace::ApiCallRow row;
  row.rank = rank_of(process_id);
  row.domain = domains_[record.function];
  row.name = names_[record.function];
  row.process_id = process_id;
  row.thread_id = thread_id;
  row.start_ns = start_ns;
  row.end_ns = std::max(start_ns, end_ns);
  row.arguments = arguments_of(process_id, function, record);
  if (numbered_) row.correlation_id = ++calls_;
  sink_.add(row);
}

}  // namespace aaco::hooks
