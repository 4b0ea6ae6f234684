#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "trace/metric.h"

namespace aaco::tracelake {

// One metric of many sessions without parsing their documents. <root>/.metrics keeps the first value of each metric of a session,
// with the identity (inode, size, time) of the documents they were read from. A session that is unknown or whose documents
// changed is read again; a damaged index counts as empty: it is only a copy of what the sessions contain.
class MetricIndex {
 public:
  static constexpr std::array<std::string_view, 2> kDocuments = {"metrics/inference_summary.json",
                                                                 "metrics/derived_metrics.json"};
  using Reader = std::function<core::Result<trace::Metrics>(const std::string& session_path)>;
  struct Value {
    double value = 0;
    std::string unit;
  };

  MetricIndex(std::string root, std::string metric, Reader reader);
  MetricIndex(MetricIndex&&) noexcept;
  MetricIndex& operator=(MetricIndex&&) noexcept;
  ~MetricIndex();

  // Empty if the session does not have the metric. Fails as the reader does. `session_path` is below the root.
  core::Result<std::optional<Value>> find(const std::string& session_path);
  // Writes the index if sessions were read; those that are gone are left out. Best effort: a root that is not writable has no
  // index, nor has one of few sessions.
  void save();
  // Sessions whose documents were read.
  [[nodiscard]] std::size_t sessions_read() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace aaco::tracelake
