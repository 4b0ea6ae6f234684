#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/seen_set.h"
#include "importers/rocm/allocation_arguments.h"
#include "importers/rocprofv3/dictionary.h"
#include "importers/rocprofv3/record.h"
#include "trace/account.h"

namespace aaco::importers::rocprofv3 {

// Makes rows of the records of one process. Records wait while the dictionary may still be incomplete (a document may have its
// records before its names), and kernels of a counter collection wait for the kernel trace, which may have them too. At most
// kMaxHeld records of a kind wait; beyond that they become rows with what is known.
class RecordRows {
 public:
  // `process_id` may become known later; it outlives this object.
  RecordRows(trace::Sink& sink, const Dictionary& dictionary, std::int32_t rank, const std::int64_t& process_id);

  // A record with its times checked.
  void add(const Record& record);
  void add(const Record& record, const std::vector<CounterValue>& values);
  // Once, behind the last record of the process.
  void finish(trace::Account& account);
  [[nodiscard]] const std::map<std::string, std::int64_t>& counters() const { return counters_used_; }

  static constexpr std::size_t kMaxHeld = 500'000;

 private:
  struct Counted {
    Record record;
    std::vector<CounterValue> values;
  };
  [[nodiscard]] bool ready(const Record& record) const;
  void write(const Record& record);
  void write_kernel(const Record& record);
  void write_copy(const Record& record);
  void write_call(const Record& record);
  void write_counters(const Counted& counted);
  trace::KernelRow kernel_row(const Record& record);
  std::string_view kernel_name(std::uint64_t kernel_id);
  [[nodiscard]] std::optional<std::int64_t> device(const std::optional<std::uint64_t>& handle) const;
  [[nodiscard]] std::string_view direction(const Record& record) const;

  trace::Sink& sink_;
  const Dictionary& dictionary_;
  std::int32_t rank_;
  const std::int64_t& process_id_;
  TextIds ids_;
  rocm::AllocationArguments arguments_;
  std::unordered_map<std::uint64_t, trace::NameId> operations_;  // by kind and operation
  std::vector<Record> held_, counted_kernels_;
  std::vector<Counted> held_counters_;
  core::SeenSet traced_;  // dispatches of the kernel trace
  std::map<std::string, std::int64_t> counters_used_;
  std::map<std::uint64_t, std::string> nameless_;
  std::int64_t without_name_ = 0;
  std::int64_t unknown_agents_ = 0;
  bool finishing_ = false;
};

}  // namespace aaco::importers::rocprofv3
