#pragma once

#include "trace/sink.h"

namespace aaco::trace {

// A sink that forgets every row: the base of one that wants a few tables and overrides their add().
class PartialSink : public Sink {
 public:
  using Sink::add;
  void add(const IterationRow&) override {}
  void add(const LoopBlockRow&) override {}
  void add(const NodeExecutionRow&) override {}
  void add(const KernelRow&) override {}
  void add(const ApiCallRow&) override {}
  void add(const CopyRow&) override {}
  void add(const CollectiveRow&) override {}
  void add(const KernelCounterRow&) override {}
  void add(const SystemEventRow&) override {}
  void add(const GpuEventRow&) override {}
  void add(const SchedEventRow&) override {}
  void add(const GraphNodeRow&) override {}
  void add(const GraphEdgeRow&) override {}
  void add(const AttributionRow&) override {}
  void add(const KernelGroupRow&) override {}
  void add(const GapRow&) override {}
  void add(const EstimateRow&) override {}
  NameId name(std::string_view text) override { return names_.intern(text); }
  [[nodiscard]] core::Status status() const override { return {}; }
  [[nodiscard]] const NameTable& names() const { return names_; }

 private:
  NameTable names_;
};

}  // namespace aaco::trace
