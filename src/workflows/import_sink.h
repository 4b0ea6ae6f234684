#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/sink.h"

namespace aaco::workflows {

// What passed through an ImportSink.
struct ImportCounts {
  std::int64_t kernels = 0, calls = 0, copies = 0, iterations = 0, nodes = 0, others = 0;
  std::int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;  // of all that has a time
  [[nodiscard]] std::int64_t total() const { return kernels + calls + copies + iterations + nodes + others; }
};

// Passes rows on to a bundle, with the rank of the file they come from, and counts them.
class ImportSink final : public trace::Sink {
 public:
  explicit ImportSink(trace::Sink& target) : target_(target) {}
  // Of the rows that follow; empty: they keep their own.
  void set_rank(std::optional<std::int32_t> rank) { rank_ = rank; }
  [[nodiscard]] const ImportCounts& counts() const { return counts_; }

  void add(const trace::IterationRow& row) override {
    pass(row, counts_.iterations, row.start_ns, row.start_ns + row.duration_ns);
  }
  void add(const trace::LoopBlockRow& row) override { pass(row); }
  void add(const trace::NodeExecutionRow& row) override {
    pass(row, counts_.nodes, row.start_ns, row.start_ns + row.duration_ns);
  }
  void add(const trace::KernelRow& row) override { pass(row, counts_.kernels, row.start_ns, row.end_ns); }
  void add(const trace::ApiCallRow& row) override { pass(row, counts_.calls, row.start_ns, row.end_ns); }
  void add(const trace::CopyRow& row) override { pass(row, counts_.copies, row.start_ns, row.end_ns); }
  void add(const trace::CollectiveRow& row) override { pass(row, counts_.others, row.start_ns, row.end_ns); }
  void add(const trace::KernelCounterRow& row) override { pass(row); }
  void add(const trace::SystemEventRow& row) override { pass(row, counts_.others, row.time_ns, row.time_ns); }
  void add(const trace::GpuEventRow& row) override { pass(row, counts_.others, row.time_ns, row.time_ns); }
  void add(const trace::SchedEventRow& row) override { pass(row, counts_.others, row.time_ns, row.time_ns); }
  void add(const trace::GraphNodeRow& row) override { plain(row); }
  void add(const trace::GraphEdgeRow& row) override { plain(row); }
  void add(const trace::AttributionRow& row) override { pass(row); }
  void add(const trace::KernelGroupRow& row) override { pass(row); }
  void add(const trace::GapRow& row) override { pass(row); }
  trace::NameId name(std::string_view text) override { return target_.name(text); }
  [[nodiscard]] core::Status status() const override { return target_.status(); }

 private:
  template <class Row>
  void plain(const Row& row) {
    ++counts_.others;
    target_.add(row);
  }
  template <class Row>
  void pass(const Row& row) {
    if (!rank_) return plain(row);
    Row own = row;
    own.rank = *rank_;
    plain(own);
  }
  template <class Row>
  void pass(const Row& row, std::int64_t& count, std::int64_t start_ns, std::int64_t end_ns) {
    ++count;
    counts_.first_ns = std::min(counts_.first_ns, start_ns);
    counts_.last_ns = std::max(counts_.last_ns, end_ns);
    if (!rank_) return target_.add(row);
    Row own = row;
    own.rank = *rank_;
    target_.add(own);
  }

  trace::Sink& target_;
  std::optional<std::int32_t> rank_;
  ImportCounts counts_;
};

}  // namespace aaco::workflows
