#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "core/seen_set.h"
#include "trace/sink.h"

namespace aaco::workflows {

// What passed through an ImportSink.
struct ImportCounts {
  std::int64_t kernels = 0, calls = 0, copies = 0, iterations = 0, nodes = 0;
  std::int64_t samples = 0;      // of sensors and counters over time
  std::int64_t graph_nodes = 0;  // of a program that the files hold
  std::int64_t counters = 0;     // of dispatches
  std::int64_t others = 0;
  std::int64_t copy_sum_ns = 0;
  std::int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;  // of all that has a time
  [[nodiscard]] std::int64_t total() const {
    return kernels + calls + copies + iterations + nodes + samples + graph_nodes + others;
  }
};

// How the rows of a file are taken.
struct FileRules {
  std::optional<std::int32_t> rank;         // of all its rows; empty: they keep their own
  bool drop_kernels = false;                // another file has them
  std::optional<std::uint64_t> run;         // counters of files of one run are joined by dispatch, each counter once
  std::int32_t rank_base = 0;               // added to the ranks that rows keep
  trace::ProcessBook* processes = nullptr;  // of the file's run; empty: the file has one of its own
  [[nodiscard]] bool changes_rank() const { return rank || rank_base != 0; }
};

// What a file brought.
struct FileCounts {
  std::int64_t kernels = 0, kernel_sum_ns = 0;
  std::int64_t dropped_kernels = 0;
  std::int64_t counters = 0;
  std::int64_t repeated_counters = 0;    // that an earlier file of the run has for the dispatch
  std::int64_t renumbered_counters = 0;  // of dispatches whose number this file has already given to another kernel
  std::int64_t unlike_dispatches = 0;    // counters of dispatches that ran another kernel in an earlier file
  std::int64_t copies = 0, copy_sum_ns = 0;
  std::map<std::uint32_t, std::pair<std::int64_t, std::int64_t>> calls;  // by the domain's id: count and ns
};

// Passes rows on to a bundle, with the rank of the file they come from, and counts them.
class ImportSink final : public trace::EveryRowTo<ImportSink> {
 public:
  using EveryRowTo::add;
  // `shift_ns` leads from the files' clock to the session's and is added to all times.
  explicit ImportSink(trace::Sink& target, std::int64_t shift_ns = 0)
      : target_(target), shift_ns_(shift_ns), python_(target.name("python")) {}
  // Of the rows that follow.
  void begin_file(const FileRules& rules) {
    rules_ = rules;
    file_ = {};
    ++files_;
    own_processes_ = {};
  }
  [[nodiscard]] const ImportCounts& counts() const { return counts_; }
  [[nodiscard]] const FileCounts& file() const { return file_; }

  void add(const trace::IterationRow& row) override {
    pass(row, counts_.iterations, row.start_ns, row.start_ns + row.duration_ns);
  }
  void add(const trace::NodeExecutionRow& row) override {
    pass(row, counts_.nodes, row.start_ns, row.start_ns + row.duration_ns);
  }
  void add(const trace::KernelRow& row) override {
    if (rules_.drop_kernels) {
      ++file_.dropped_kernels;
      return;
    }
    ++file_.kernels;
    file_.kernel_sum_ns += row.end_ns - row.start_ns;
    pass(row, counts_.kernels, row.start_ns, row.end_ns);
  }
  // Python frames explain gaps; they are no calls of an API.
  void add(const trace::ApiCallRow& row) override {
    if (row.domain == python_) {
      ++counts_.others;
      target_.add(moved(row));
      return;
    }
    auto& [count, sum_ns] = file_.calls[row.domain.value];
    ++count, sum_ns += row.end_ns - row.start_ns;
    pass(row, counts_.calls, row.start_ns, row.end_ns);
  }
  void add(const trace::CopyRow& row) override {
    ++file_.copies, file_.copy_sum_ns += row.end_ns - row.start_ns;
    counts_.copy_sum_ns += row.end_ns - row.start_ns;
    pass(row, counts_.copies, row.start_ns, row.end_ns);
  }
  void add(const trace::CollectiveRow& row) override {
    if (!rules_.drop_kernels) pass(row, counts_.others, row.start_ns, row.end_ns);
  }
  void add(const trace::KernelCounterRow& row) override {
    if (rules_.run && !is_new(row)) return;
    ++counts_.counters;
    pass(row);
  }
  void add(const trace::SystemEventRow& row) override { pass(row, counts_.samples, row.time_ns, row.time_ns); }
  void add(const trace::GpuEventRow& row) override { pass(row, counts_.samples, row.time_ns, row.time_ns); }
  void add(const trace::SchedEventRow& row) override { pass(row, counts_.others, row.time_ns, row.time_ns); }
  void add(const trace::GraphNodeRow& row) override {
    ++counts_.graph_nodes;
    target_.add(row);
  }
  void add(const trace::GraphEdgeRow& row) override {
    ++counts_.others;
    target_.add(row);
  }
  template <class Row>
  void take(const Row& row) {
    pass(row);
  }
  trace::NameId name(std::string_view text) override { return target_.name(text); }
  [[nodiscard]] core::Status status() const override { return target_.status(); }
  [[nodiscard]] trace::ProcessBook* processes() override {
    return rules_.processes != nullptr ? rules_.processes : &own_processes_;
  }

  // More counters of dispatches came than are remembered: repeated ones may have been kept twice.
  [[nodiscard]] bool counters_overflowed() const { return counters_.overflowed(); }

 private:
  static constexpr std::size_t kMaxDispatches = 1'000'000;  // whose kernel is remembered

  bool is_new(const trace::KernelCounterRow& row) {
    const std::uint64_t dispatch = row.dispatch_id ^ (*rules_.run << 40U) ^ (static_cast<std::uint64_t>(row.rank) << 52U);
    std::uint64_t own = dispatch;
    const auto known = dispatches_.find(dispatch);
    if (known == dispatches_.end()) {
      if (dispatches_.size() < kMaxDispatches) dispatches_.emplace(dispatch, Dispatch{row.kernel_name.value, files_});
    } else if (known->second.kernel != row.kernel_name.value && known->second.file == files_) {
      // A table put together from several runs, each of which counts its dispatches from the first.
      constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;
      own ^= row.kernel_name.value * kSpread;
      ++file_.renumbered_counters;
    } else if (known->second.kernel != row.kernel_name.value) {
      ++file_.unlike_dispatches;
    }
    const bool first = counters_.insert(own, row.counter.value, static_cast<std::uint64_t>(row.device));
    ++(first ? file_.counters : file_.repeated_counters);
    return first;
  }
  template <class Row>
  Row moved(const Row& row) const {
    Row own = row;
    if constexpr (requires { own.rank; }) own.rank = rules_.rank ? *rules_.rank : own.rank + rules_.rank_base;
    if constexpr (requires { own.start_ns; }) own.start_ns += shift_ns_;
    if constexpr (requires { own.end_ns; }) own.end_ns += shift_ns_;
    if constexpr (requires { own.time_ns; }) own.time_ns += shift_ns_;
    return own;
  }
  template <class Row>
  void pass(const Row& row) {
    ++counts_.others;
    target_.add(rules_.changes_rank() ? moved(row) : row);
  }
  template <class Row>
  void pass(const Row& row, std::int64_t& count, std::int64_t start_ns, std::int64_t end_ns) {
    ++count;
    counts_.first_ns = std::min(counts_.first_ns, start_ns + shift_ns_);
    counts_.last_ns = std::max(counts_.last_ns, end_ns + shift_ns_);
    target_.add(rules_.changes_rank() || shift_ns_ != 0 ? moved(row) : row);
  }

  trace::Sink& target_;
  std::int64_t shift_ns_;
  trace::NameId python_;
  FileRules rules_;
  trace::ProcessBook own_processes_;
  FileCounts file_;
  ImportCounts counts_;
  core::SeenSet counters_;
  struct Dispatch {
    std::uint32_t kernel;  // its name
    std::uint64_t file;    // that told of it first
  };
  std::unordered_map<std::uint64_t, Dispatch> dispatches_;  // by run and dispatch
  std::uint64_t files_ = 0;                                 // begun so far
};

}  // namespace aaco::workflows
