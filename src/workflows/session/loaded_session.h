#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analytics/node_time.h"
#include "core/result.h"
#include "trace/names.h"
#include "trace/rows.h"
#include "tracelake/lake.h"

namespace aaco::workflows {

// A stored or open session, read on demand: each small table and what follows from it once, however many parts of one command
// ask. All rows share one name table. An open session must be flushed first, and must not grow between two reads.
class LoadedSession {
 public:
  explicit LoadedSession(std::string path) : path_(std::move(path)) {}
  LoadedSession(const LoadedSession&) = delete;
  LoadedSession& operator=(const LoadedSession&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] trace::NameTable& names() { return *names_; }
  // Results that outlive the session keep its names.
  [[nodiscard]] std::shared_ptr<trace::NameTable> shared_names() const { return names_; }

  // The rows of a table in order of time; none where the session lacks the table. They live as long as the session.
  template <class Row>
  core::Result<std::span<const Row>> rows() {
    auto& table = std::get<std::optional<std::vector<Row>>>(tables_);
    if (!table) {
      AACO_ASSIGN(table, tracelake::read_table<Row>(path_, *names_));
    }
    return std::span<const Row>(*table);
  }

  // The nodes' times from the profiled iterations.
  core::Result<const analytics::metrics::NodeTime*> node_time();

 private:
  std::string path_;
  std::shared_ptr<trace::NameTable> names_ = std::make_shared<trace::NameTable>();
  std::tuple<std::optional<std::vector<trace::IterationRow>>, std::optional<std::vector<trace::NodeExecutionRow>>,
             std::optional<std::vector<trace::LoopBlockRow>>, std::optional<std::vector<trace::SystemEventRow>>,
             std::optional<std::vector<trace::GpuEventRow>>, std::optional<std::vector<trace::KernelGroupRow>>>
      tables_;
  std::optional<analytics::metrics::NodeTime> node_time_;
};

}  // namespace aaco::workflows
