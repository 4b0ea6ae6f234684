#include "importers/kineto/host_rows.h"

#include <array>

#include "importers/stream/json_skim.h"

namespace aaco::importers::kineto {
namespace {

constexpr std::size_t kMaxConcreteBytes = 512;
constexpr std::size_t kMaxShapeBytes = 4096;
constexpr std::size_t kMaxKernelBytes = 16384;

struct KeptKey {
  std::string_view key;
  std::size_t most_bytes;
};
constexpr std::array<KeptKey, 12> kOperationKeys = {{
    {"Input Dims", kMaxShapeBytes},
    {"Input type", kMaxShapeBytes},
    {"Input dims", kMaxShapeBytes},
    {"Input Strides", 1024},
    {"Concrete Inputs", kMaxConcreteBytes},
    {"Collective name", 64},
    {"In msg nelems", 32},
    {"Out msg nelems", 32},
    {"dtype", 32},
    {"Group size", 32},
    {"Process Group Name", 64},
    {"kernel_backend", 32},
}};
constexpr std::array<KeptKey, 6> kCallKeys = {{
    {"kind", 32},
    {"bytes", 32},
    {"size", 32},
    {"stream", 32},
    {"wait_on_stream", 32},
    {"graph id", 32},
}};

template <std::size_t N>
bool is_kept(const std::array<KeptKey, N>& keys, std::string_view key, std::string_view value) {
  for (const KeptKey& kept : keys)
    if (kept.key == key) return value.size() <= kept.most_bytes;
  return false;
}

}  // namespace

std::int64_t ThreadNumbers::number(std::string_view token) {
  if (const auto value = token_i64(token)) return *value;
  if (token.empty()) return 0;
  return texts_.try_emplace(std::string(token), -1 - static_cast<std::int64_t>(texts_.size())).first->second;
}

std::string_view domain_of(Category category, std::string_view name) {
  switch (category) {
    case Category::runtime: return name.starts_with("hip") ? "hip" : name.starts_with("hsa") ? "hsa" : "cuda_runtime";
    case Category::driver: return name.starts_with("hip") ? "hip" : "cuda_driver";
    case Category::operation: return "cpu_op";
    case Category::annotation: return "annotation";
    case Category::python: return "python";
    case Category::overhead: return "profiler_overhead";
    default: return "marker";
  }
}

trace::ApiCallRow HostRows::row(const TraceEvent& event, Category category, Span span) {
  trace::ApiCallRow row;
  row.rank = rank_;
  row.domain = ids_.name(domain_of(category, event.name));
  row.name = ids_.name(event.name);
  row.process_id = numbers_.number(event.process);
  row.thread_id = numbers_.number(event.thread);
  row.start_ns = span.start_ns;
  row.end_ns = span.end_ns;
  const bool call = category == Category::runtime || category == Category::driver;
  kept_.clear();
  for_each_member(event.args, [&](std::string_view key, std::string_view value) {
    if (key == "correlation")
      row.correlation_id = token_u64(unquoted(value)).value_or(0);
    else if (key == "External id" || key == "external id")
      row.external_id = token_u64(unquoted(value)).value_or(0);
    else if (call ? is_kept(kCallKeys, key, value) || (launched_kernels_ && key == "kernel" && value.size() <= kMaxKernelBytes)
                  : is_kept(kOperationKeys, key, value))
      kept_.append(kept_.empty() ? "{\"" : ",\"").append(key).append("\":").append(value);
  });
  if (!kept_.empty()) row.arguments = arguments(kept_ += '}');
  return row;
}

// The values are JSON already; only what no JSON text may hold is cleaned.
trace::NameId HostRows::arguments(const std::string& kept) {
  if (const auto known = known_.find(kept); known != known_.end()) return known->second;
  if (static_cast<std::int64_t>(known_.size()) >= kMaxArguments || known_bytes_ + kept.size() > kMaxArgumentBytes) {
    ++left_out_;
    return {};
  }
  const trace::NameId id = ids_.json(kept);
  known_.emplace(kept, id);
  known_bytes_ += kept.size();
  return id;
}

}  // namespace aaco::importers::kineto
