#include "importers/xla/rows.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/numbers.h"
#include "core/strings.h"
#include "importers/stream/gpu_names.h"
#include "importers/stream/tokens.h"

namespace aaco::importers::xla {
namespace {

constexpr std::string_view kGpu = "/device:GPU:", kTpu = "/device:TPU:", kStream = "Stream #";
constexpr std::size_t kMaxSteps = 1'000'000;

// "3" of "/device:GPU:3 (pid 7)".
std::optional<std::int64_t> number_at(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  text.remove_prefix(prefix.size());
  return core::parse_i64(text.substr(0, text.find_first_not_of("0123456789")));
}

// "grid" of "regs:32 grid:64,1,1 block:256,1,1": the text up to the next blank.
std::string_view detail(std::string_view details, std::string_view key) {
  for (std::string_view part : core::split(details, ' '))
    if (part.starts_with(key) && part.size() > key.size() && part[key.size()] == ':') return part.substr(key.size() + 1);
  return {};
}

void read_sizes(std::string_view list, std::optional<std::int64_t>& x, std::optional<std::int64_t>& y,
                std::optional<std::int64_t>& z) {
  const auto parts = core::split(list, ',');
  if (parts.size() != 3) return;
  x = core::parse_i64(parts[0]), y = core::parse_i64(parts[1]), z = core::parse_i64(parts[2]);
}

// "cuLaunchKernel" for "cu": a call of that API, on whatever plane the profiler put it.
bool is_call(std::string_view name, std::string_view api) {
  return name.size() > api.size() && name.starts_with(api) && name[api.size()] >= 'A' && name[api.size()] <= 'Z';
}

std::string_view domain_of(std::string_view plane, std::string_view name) {
  if (name.starts_with("hip")) return "hip";
  if (name.starts_with("hsa")) return "hsa";
  if (plane.starts_with("/host:CUPTI"))
    return name.starts_with("cu") && !name.starts_with("cuda") ? "cuda_driver" : "cuda_runtime";
  if (is_call(name, "cuda")) return "cuda_runtime";
  if (is_call(name, "cu")) return "cuda_driver";
  return name.starts_with("$") ? "python" : "annotation";  // "$file.py:12 function"
}

}  // namespace

ImporterInfo importer_info(std::string name, std::string title) {
  return {std::move(name),
          std::move(title),
          "xla",
          false,
          Grouping::traces,
          false,
          "profile on a device backend: jax.profiler.start_trace() records kernels of GPUs and TPUs"};
}

bool is_plane(std::string_view name) {
  constexpr std::array<std::string_view, 5> kStarts = {"/device:", "/host:", "Task Environment", "#Chip", "/plane:"};
  return std::any_of(kStarts.begin(), kStarts.end(), [&](std::string_view start) { return name.starts_with(start); });
}

trace::NameId Rows::name(std::string_view text) {
  if (const auto known = names_.find(text); known != names_.end()) return known->second;
  return names_.emplace(text, sink_.name(clean_utf8(text))).first->second;
}

void Rows::add(const Place& place, const Event& event) {
  if (event.end_ns < event.start_ns) return account_.drop("negative duration");
  if (const auto gpu = number_at(place.plane, kGpu)) {
    if (!place.line.starts_with(kStream)) return account_.drop("derived lines (their kernels are kept)");
    return device_work(place, *gpu, true, event);
  }
  if (const auto tpu = number_at(place.plane, kTpu)) {
    if (place.line != "XLA Ops") return account_.drop("derived lines (their kernels are kept)");
    return device_work(place, *tpu, false, event);
  }
  if (!place.plane.starts_with("/host:") || place.plane == "/host:metadata")
    return account_.drop("planes without execution times");
  host_work(place, event);
}

void Rows::device_work(const Place& place, std::int64_t device, bool gpu, const Event& event) {
  account_.keep();
  const std::int64_t stream = number_at(place.line, kStream).value_or(place.line_id);
  const bool copy = !event.copy_details.empty() || event.memset || (gpu && event.name.starts_with("Mem"));
  if (copy) {
    trace::CopyRow row;
    row.device = device;
    row.stream = stream;
    const bool memset = event.memset || event.name.starts_with("Memset");
    // "MemcpyH2D" is a copy "HtoD".
    row.kind = name(memset ? "memset" : copy_direction_of(core::replace_all(std::string(event.name), "2", "to")));
    row.start_ns = event.start_ns;
    row.end_ns = event.end_ns;
    row.bytes = core::parse_i64(detail(event.copy_details, "size"));
    if (row.bytes && *row.bytes < 0) row.bytes.reset();
    row.correlation_id = event.correlation_id;
    return sink_.add(row);
  }
  trace::KernelRow row;
  row.device = device;
  row.stream = stream;
  row.queue = -1;
  row.name = name(event.name);
  row.start_ns = event.start_ns;
  row.end_ns = event.end_ns;
  row.correlation_id = event.correlation_id;
  read_sizes(detail(event.kernel_details, "grid"), row.grid_x, row.grid_y, row.grid_z);
  read_sizes(detail(event.kernel_details, "block"), row.block_x, row.block_y, row.block_z);
  row.vgpr_count = core::parse_i64(detail(event.kernel_details, "regs"));
  sink_.add(row);
  if (is_collective_kernel(event.name)) sink_.add(collective_of(row, name(collective_operation_of(event.name))));
}

void Rows::host_work(const Place& place, const Event& event) {
  account_.keep();
  trace::ApiCallRow row;
  row.domain = name(domain_of(place.plane, event.name));
  row.name = name(event.name);
  row.thread_id = place.line_id;
  row.start_ns = event.start_ns;
  row.end_ns = event.end_ns;
  row.correlation_id = event.correlation_id;
  sink_.add(row);
  if (!event.step || steps_.size() >= kMaxSteps) return;
  Step& step = steps_.try_emplace(*event.step, Step{event.start_ns, event.end_ns}).first->second;
  if (event.end_ns - event.start_ns > step.end_ns - step.start_ns) step = {event.start_ns, event.end_ns};
}

void Rows::finish() {
  std::int64_t iteration = 0;
  for (const auto& [number, step] : steps_) {
    trace::IterationRow row;
    row.iteration = iteration++;
    row.phase = name("step");
    row.start_ns = step.start_ns;
    row.duration_ns = step.end_ns - step.start_ns;
    sink_.add(row);
  }
}

}  // namespace aaco::importers::xla
