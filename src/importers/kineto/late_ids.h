#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "importers/kineto/gpu_rows.h"
#include "trace/sink.h"

namespace aaco::importers::kineto {

// Holds back rows without a correlation id until a flow arrow at the same process, thread and time gives them one. At most
// kMaxHeld of a kind wait; beyond that rows go on without an id.
class LateIds {
 public:
  explicit LateIds(trace::Sink& sink) : sink_(sink) {}

  void add(const TraceEvent& event, const trace::KernelRow& row);
  void add(const TraceEvent& event, const trace::ApiCallRow& row);
  // An arrow's start ("s": a call) or end ("f": device work). True where a row was waiting for it.
  bool arrow(const TraceEvent& event);
  void flush();
  [[nodiscard]] std::int64_t given() const { return given_; }

  static constexpr std::size_t kMaxHeld = 100'000;

 private:
  static std::string key(const TraceEvent& event);

  trace::Sink& sink_;
  std::map<std::string, trace::KernelRow> kernels_;
  std::map<std::string, trace::ApiCallRow> calls_;
  std::int64_t given_ = 0;
};

}  // namespace aaco::importers::kineto
