#include <unistd.h>

#include <array>

#include "collectors/collector.h"
#include "core/clock.h"
#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "workflows/live.h"
#include "workflows/live/latest_values.h"

namespace aaco::workflows {
namespace {

constexpr std::int64_t kMaxAge_ns = 5'000'000'000;  // of a value that is shown; the slowest sensors are read once per second

std::optional<double> memory_total(const std::string& root) {
  const auto text = core::read_file(core::join_path(root, "proc/meminfo"));
  if (!text) return std::nullopt;
  for (const std::string_view line : core::split_lines(*text)) {
    const auto words = core::split_words(line);
    if (words.size() >= 2 && words[0] == "MemTotal:")
      if (const auto kib = core::parse_f64(words[1])) return *kib * 1024;
  }
  return std::nullopt;
}

std::string host_of(const std::string& root) {
  if (root == "/") {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
  }
  return std::string(core::trim(core::read_file(core::join_path(root, "proc/sys/kernel/hostname")).value_or("")));
}

}  // namespace

struct MachineWatch::Impl {
  std::vector<std::unique_ptr<collectors::Collector>> collectors;
  LatestValues values;
  report::LiveMachine fixed, machine;
};

MachineWatch::MachineWatch(const std::string& root) : impl_(std::make_unique<Impl>()) {
  for (auto& collector : collectors::builtin_collectors()) {
    // The vendors' tools are processes of their own: too expensive to be run for a view.
    if (collector->info().name == "smi") continue;
    if (collector->open({root}, {0})) impl_->collectors.push_back(std::move(collector));
  }
  impl_->fixed.name = host_of(root);
  impl_->fixed.memory_total_bytes = memory_total(root);
}

MachineWatch::MachineWatch(MachineWatch&&) noexcept = default;
MachineWatch& MachineWatch::operator=(MachineWatch&&) noexcept = default;
MachineWatch::~MachineWatch() {
  if (impl_)
    for (const auto& collector : impl_->collectors) collector->close();
}

const report::LiveMachine& MachineWatch::sample() {
  for (const auto& collector : impl_->collectors) collector->sample(impl_->values);
  impl_->machine = impl_->fixed;
  impl_->machine.time_ns = core::monotonic_ns();
  impl_->values.fill(impl_->machine, impl_->machine.time_ns, kMaxAge_ns);
  return impl_->machine;
}

}  // namespace aaco::workflows
