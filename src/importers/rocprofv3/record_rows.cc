#include "importers/rocprofv3/record_rows.h"

#include <algorithm>

#include "importers/rocm/values.h"

namespace aaco::importers::rocprofv3 {
namespace {

constexpr std::size_t kMaxNameless = 100'000;

// Handles are 64-bit numbers without a sign; the tables' streams and queues have one.
std::int64_t number(const std::optional<std::uint64_t>& handle, std::int64_t otherwise) {
  return handle ? static_cast<std::int64_t>(*handle) : otherwise;
}

}  // namespace

RecordRows::RecordRows(trace::Sink& sink, const Dictionary& dictionary, std::int32_t rank, const std::int64_t& process_id)
    : sink_(sink), dictionary_(dictionary), rank_(rank), process_id_(process_id), ids_(sink), arguments_(sink) {}

bool RecordRows::ready(const Record& record) const {
  if (finishing_ || held_.size() >= kMaxHeld) return true;
  const bool agents = dictionary_.has_agents();
  if (record.list == List::kernels || record.list == List::counters) return agents && dictionary_.has_symbols();
  return record.list == List::api ? dictionary_.has_kinds() : agents && dictionary_.has_kinds();
}

void RecordRows::add(const Record& record) {
  if (ready(record))
    write(record);
  else
    held_.push_back(record);
}

void RecordRows::add(const Record& record, const std::vector<CounterValue>& values) {
  Counted counted{record, values};
  if (record.start_ns && record.end_ns && counted_kernels_.size() < kMaxHeld) counted_kernels_.push_back(record);
  if (ready(record) || held_counters_.size() >= kMaxHeld)
    write_counters(counted);
  else
    held_counters_.push_back(std::move(counted));
}

void RecordRows::finish(trace::Account& account) {
  finishing_ = true;
  for (const Record& record : held_) write(record);
  for (const Counted& counted : held_counters_) write_counters(counted);
  for (const Record& record : counted_kernels_)
    if (traced_.insert(record.dispatch_id, record.kernel_id, 0)) write_kernel(record);
  held_.clear();
  held_counters_.clear();
  counted_kernels_.clear();
  arguments_.report(account);
  if (without_name_ > 0)
    account.notes.push_back(std::to_string(without_name_) + " kernels have no symbol in the document and are named by number");
  if (unknown_agents_ > 0)
    account.notes.push_back(std::to_string(unknown_agents_) + " records refer to an agent that the document does not list");
}

void RecordRows::write(const Record& record) {
  switch (record.list) {
    case List::kernels: traced_.insert(record.dispatch_id, record.kernel_id, 0); return write_kernel(record);
    case List::copies: return write_copy(record);
    case List::api:
    case List::allocations:
    case List::scratch: return write_call(record);
    case List::samples:
    case List::counters: break;
  }
}

std::optional<std::int64_t> RecordRows::device(const std::optional<std::uint64_t>& handle) const {
  if (!handle) return std::nullopt;
  const Dictionary::Agent* agent = dictionary_.agent(*handle);
  return agent != nullptr ? agent->device : static_cast<std::int64_t>(*handle);
}

std::string_view RecordRows::kernel_name(std::uint64_t kernel_id) {
  if (const std::string_view name = dictionary_.symbol(kernel_id); !name.empty()) return name;
  ++without_name_;
  if (nameless_.size() >= kMaxNameless) return "kernel";
  return nameless_.try_emplace(kernel_id, "kernel " + std::to_string(kernel_id)).first->second;
}

trace::KernelRow RecordRows::kernel_row(const Record& record) {
  trace::KernelRow row;
  row.rank = rank_;
  if (record.agent && dictionary_.agent(*record.agent) == nullptr) ++unknown_agents_;
  row.device = device(record.agent).value_or(0);
  row.queue = number(record.queue, -1);
  row.stream = number(record.stream, std::max<std::int64_t>(row.queue, 0));
  row.name = ids_.name(kernel_name(record.kernel_id));
  row.start_ns = record.start_ns.value_or(0);
  row.end_ns = record.end_ns.value_or(0);
  row.correlation_id = record.correlation_id;
  row.external_id = record.external_id;
  row.dispatch_id = record.dispatch_id;
  row.block_x = record.group_x;
  row.block_y = record.group_y;
  row.block_z = record.group_z;
  row.grid_x = rocm::groups(record.items_x, record.group_x);
  row.grid_y = rocm::groups(record.items_y, record.group_y);
  row.grid_z = rocm::groups(record.items_z, record.group_z);
  row.lds_bytes = record.lds_bytes;
  row.scratch_bytes = record.scratch_bytes;
  const Dictionary::Registers registers = dictionary_.registers(record.kernel_id);
  row.vgpr_count = record.vgpr_count ? record.vgpr_count : registers.vector;
  row.sgpr_count = record.sgpr_count ? record.sgpr_count : registers.scalar;
  return row;
}

void RecordRows::write_kernel(const Record& record) {
  const trace::KernelRow row = kernel_row(record);
  rocm::add_kernel(sink_, ids_, row, dictionary_.symbol(record.kernel_id));
}

// By the operation's name, else by who the agents are.
std::string_view RecordRows::direction(const Record& record) const {
  const std::string_view operation = dictionary_.operation(record.kind, record.operation);
  if (const std::string_view kind = rocm::copy_kind(operation); kind != "unknown") return kind;
  const auto* source = record.source_agent ? dictionary_.agent(*record.source_agent) : nullptr;
  const auto* target = record.target_agent ? dictionary_.agent(*record.target_agent) : nullptr;
  if (source == nullptr || target == nullptr) return "unknown";
  if (source->is_gpu) return target->is_gpu ? "d2d" : "d2h";
  return target->is_gpu ? "h2d" : "h2h";
}

void RecordRows::write_copy(const Record& record) {
  trace::CopyRow row;
  row.rank = rank_;
  const std::string_view kind = direction(record);
  row.kind = ids_.name(kind);
  row.start_ns = record.start_ns.value_or(0);
  row.end_ns = record.end_ns.value_or(0);
  row.stream = number(record.stream, 0);
  row.bytes = record.bytes;
  row.correlation_id = record.correlation_id;
  rocm::set_devices(row, kind, device(record.source_agent), device(record.target_agent));
  sink_.add(row);
}

void RecordRows::write_call(const Record& record) {
  trace::ApiCallRow row;
  row.rank = rank_;
  row.domain = trace::NameId{record.domain};
  row.process_id = process_id_;
  row.thread_id = record.thread_id;
  row.start_ns = record.start_ns.value_or(0);
  row.end_ns = record.end_ns.value_or(0);
  row.correlation_id = record.correlation_id;
  row.external_id = record.external_id;
  const std::string_view message = dictionary_.marker(record.correlation_id);
  const std::string_view operation = dictionary_.operation(record.kind, record.operation);
  if (!message.empty() && ids_.name("marker") == row.domain)
    row.name = ids_.name(message);
  else if (!operation.empty())
    row.name = ids_.name(operation);
  else
    row.name = ids_.name("operation " + std::to_string(record.operation));
  if (record.list != List::api) row.arguments = arguments_.of(device(record.agent), record.bytes);
  sink_.add(row);
}

void RecordRows::write_counters(const Counted& counted) {
  const trace::KernelRow kernel = kernel_row(counted.record);
  std::vector<CounterValue> sums;
  for (const CounterValue& value : counted.values) {
    const std::uint64_t counter = dictionary_.counter_of(value.counter);
    const auto known = std::find_if(sums.begin(), sums.end(), [&](const auto& sum) { return sum.counter == counter; });
    if (known == sums.end())
      sums.push_back({counter, value.value});
    else
      known->value += value.value;
  }
  for (const CounterValue& sum : sums) {
    std::string name(dictionary_.counter(sum.counter));
    if (name.empty()) name = "counter " + std::to_string(sum.counter);
    trace::KernelCounterRow row;
    row.rank = rank_;
    row.device = kernel.device;
    row.dispatch_id = kernel.dispatch_id;
    row.kernel_name = kernel.name;
    row.counter = ids_.name(name);
    row.value = sum.value;
    sink_.add(row);
    ++counters_used_[name];
  }
}

}  // namespace aaco::importers::rocprofv3
