#pragma once

#include <string_view>
#include <tuple>
#include <vector>

#include "core/result.h"
#include "trace/names.h"
#include "trace/process_book.h"
#include "trace/rows.h"

namespace aaco::trace {

template <class Row>
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void add(const Row& row) = 0;
};

// Accepts the facts that importers, collectors and the runner produce. Adding never fails by itself: a sink that has lost its
// disk keeps the first error, ignores what follows, and answers it from status(), which producers ask now and then (each
// chunk) and at the end. One producer at a time: a sink is not thread-safe.
class Sink : public RowSink<IterationRow>,
             public RowSink<LoopBlockRow>,
             public RowSink<NodeExecutionRow>,
             public RowSink<KernelRow>,
             public RowSink<ApiCallRow>,
             public RowSink<CopyRow>,
             public RowSink<CollectiveRow>,
             public RowSink<KernelCounterRow>,
             public RowSink<SystemEventRow>,
             public RowSink<GpuEventRow>,
             public RowSink<SchedEventRow>,
             public RowSink<GraphNodeRow>,
             public RowSink<GraphEdgeRow>,
             public RowSink<AttributionRow>,
             public RowSink<KernelGroupRow>,
             public RowSink<GapRow>,
             public RowSink<EstimateRow> {
 public:
  using RowSink<IterationRow>::add;
  using RowSink<LoopBlockRow>::add;
  using RowSink<NodeExecutionRow>::add;
  using RowSink<KernelRow>::add;
  using RowSink<ApiCallRow>::add;
  using RowSink<CopyRow>::add;
  using RowSink<CollectiveRow>::add;
  using RowSink<KernelCounterRow>::add;
  using RowSink<SystemEventRow>::add;
  using RowSink<GpuEventRow>::add;
  using RowSink<SchedEventRow>::add;
  using RowSink<GraphNodeRow>::add;
  using RowSink<GraphEdgeRow>::add;
  using RowSink<AttributionRow>::add;
  using RowSink<KernelGroupRow>::add;
  using RowSink<GapRow>::add;
  using RowSink<EstimateRow>::add;

  // The id of a text in this sink's name table, for the rows' NameId members.
  virtual NameId name(std::string_view text) = 0;
  [[nodiscard]] virtual core::Status status() const = 0;
  // Where a reader numbers the processes of a file that holds several; null: the files of a session share none, and the reader
  // has its own.
  [[nodiscard]] virtual ProcessBook* processes() { return nullptr; }
};

// Keeps every row in memory: for tests, and for small sets that are computed on before they are stored.
class MemorySink final : public Sink {
 public:
  void add(const IterationRow& row) override { keep(row); }
  void add(const LoopBlockRow& row) override { keep(row); }
  void add(const NodeExecutionRow& row) override { keep(row); }
  void add(const KernelRow& row) override { keep(row); }
  void add(const ApiCallRow& row) override { keep(row); }
  void add(const CopyRow& row) override { keep(row); }
  void add(const CollectiveRow& row) override { keep(row); }
  void add(const KernelCounterRow& row) override { keep(row); }
  void add(const SystemEventRow& row) override { keep(row); }
  void add(const GpuEventRow& row) override { keep(row); }
  void add(const SchedEventRow& row) override { keep(row); }
  void add(const GraphNodeRow& row) override { keep(row); }
  void add(const GraphEdgeRow& row) override { keep(row); }
  void add(const AttributionRow& row) override { keep(row); }
  void add(const KernelGroupRow& row) override { keep(row); }
  void add(const GapRow& row) override { keep(row); }
  void add(const EstimateRow& row) override { keep(row); }
  NameId name(std::string_view text) override { return names_.intern(text); }
  [[nodiscard]] core::Status status() const override { return {}; }

  template <class Row>
  [[nodiscard]] const std::vector<Row>& rows() const {
    return std::get<std::vector<Row>>(rows_);
  }
  [[nodiscard]] std::string_view text(NameId id) const { return names_.text(id); }
  [[nodiscard]] const NameTable& names() const { return names_; }

 private:
  template <class Row>
  void keep(const Row& row) {
    std::get<std::vector<Row>>(rows_).push_back(row);
  }
  NameTable names_;
  std::tuple<std::vector<IterationRow>, std::vector<LoopBlockRow>, std::vector<NodeExecutionRow>, std::vector<KernelRow>,
             std::vector<ApiCallRow>, std::vector<CopyRow>, std::vector<CollectiveRow>, std::vector<KernelCounterRow>,
             std::vector<SystemEventRow>, std::vector<GpuEventRow>, std::vector<SchedEventRow>, std::vector<GraphNodeRow>,
             std::vector<GraphEdgeRow>, std::vector<AttributionRow>, std::vector<KernelGroupRow>, std::vector<GapRow>,
             std::vector<EstimateRow>>
      rows_;
};

}  // namespace aaco::trace
