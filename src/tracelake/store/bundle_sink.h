#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "trace/sink.h"
#include "tracelake/store/table_writer.h"

namespace aaco::tracelake::store {

// The Sink of an open bundle: one table a row type, written as Parquet files below the bundle's folder.
class BundleSink final : public trace::Sink {
 public:
  explicit BundleSink(const std::string& folder);

  void add(const trace::IterationRow& row) override { keep(row); }
  void add(const trace::LoopBlockRow& row) override { keep(row); }
  void add(const trace::NodeExecutionRow& row) override { keep(row); }
  void add(const trace::KernelRow& row) override { keep(row); }
  void add(const trace::ApiCallRow& row) override { keep(row); }
  void add(const trace::CopyRow& row) override { keep(row); }
  void add(const trace::CollectiveRow& row) override { keep(row); }
  void add(const trace::KernelCounterRow& row) override { keep(row); }
  void add(const trace::SystemEventRow& row) override { keep(row); }
  void add(const trace::GpuEventRow& row) override { keep(row); }
  void add(const trace::SchedEventRow& row) override { keep(row); }
  void add(const trace::GraphNodeRow& row) override { keep(row); }
  void add(const trace::GraphEdgeRow& row) override { keep(row); }
  void add(const trace::AttributionRow& row) override { keep(row); }
  void add(const trace::KernelGroupRow& row) override { keep(row); }
  void add(const trace::GapRow& row) override { keep(row); }
  void add(const trace::EstimateRow& row) override { keep(row); }
  trace::NameId name(std::string_view text) override;
  [[nodiscard]] core::Status status() const override { return status_; }

  // Writes the file of every table that got rows since the last time.
  core::Status write_tables();

 private:
  template <class Row>
  void keep(const Row& row) {
    if (status_) [[likely]]
      if (auto added = std::get<TableWriter<Row>>(tables_).add(row); !added) [[unlikely]]
        status_ = std::move(added);
  }

  NameStore names_;
  StoreDatabase database_;
  TableContext context_;
  std::tuple<TableWriter<trace::IterationRow>, TableWriter<trace::LoopBlockRow>, TableWriter<trace::NodeExecutionRow>,
             TableWriter<trace::KernelRow>, TableWriter<trace::ApiCallRow>, TableWriter<trace::CopyRow>,
             TableWriter<trace::CollectiveRow>, TableWriter<trace::KernelCounterRow>, TableWriter<trace::SystemEventRow>,
             TableWriter<trace::GpuEventRow>, TableWriter<trace::SchedEventRow>, TableWriter<trace::GraphNodeRow>,
             TableWriter<trace::GraphEdgeRow>, TableWriter<trace::AttributionRow>, TableWriter<trace::KernelGroupRow>,
             TableWriter<trace::GapRow>, TableWriter<trace::EstimateRow>>
      tables_;
  core::Status status_;
};

}  // namespace aaco::tracelake::store
