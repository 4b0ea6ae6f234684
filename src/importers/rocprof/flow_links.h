#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "importers/stream/text_ids.h"
#include "trace/sink.h"

namespace aaco::importers::rocprof {

// A place in rocprof's JSON: its section ("pid"), lane ("tid") and time in its own microseconds.
struct Place {
  std::int64_t section = 0;
  std::int64_t lane = 0;
  std::int64_t time_us = 0;
  bool operator==(const Place&) const = default;
};

// Who saw a kernel: with HIP and HSA tracing together rocprof writes each kernel twice.
enum class Tracer { hip, hsa };

// Holds rows back until rocprof's flow arrows, which stand at the end of the file, give calls and their work a common id. At most
// kMaxHeld of a kind wait; beyond that rows go on without an id.
class FlowLinks {
 public:
  FlowLinks(trace::Sink& sink, TextIds& ids) : sink_(sink), ids_(ids) {}

  void add(const trace::ApiCallRow& row, const Place& start, std::int64_t duration_us);
  void add(const trace::KernelRow& row, const Place& start, Tracer tracer, std::string_view name);
  void add(const trace::CopyRow& row, const Place& start);
  void arrow_start(std::int64_t id, const Place& place);
  void arrow_end(std::int64_t id, const Place& place);

  struct Outcome {
    std::int64_t linked = 0;     // calls and their work
    std::int64_t merged = 0;     // kernels seen by both tracers, one row each
    std::int64_t passed_on = 0;  // rows that could not wait
  };
  Outcome flush();

  static constexpr std::size_t kMaxHeld = 1'000'000;

 private:
  template <class Row>
  struct Held {
    Row row;
    Place start;
    std::int64_t duration_us = 0;
    bool collective = false;
  };
  struct Arrow {
    Place from, to;
    bool has_from = false, has_to = false;
  };
  void merge_tracers();
  void link();
  void write(const Held<trace::KernelRow>& held);

  trace::Sink& sink_;
  TextIds& ids_;
  std::vector<Held<trace::ApiCallRow>> calls_;
  std::vector<Held<trace::KernelRow>> hip_kernels_, hsa_kernels_;
  std::vector<Held<trace::CopyRow>> copies_;
  std::unordered_map<std::int64_t, Arrow> arrows_;
  std::unordered_map<std::uint32_t, trace::NameId> operations_;  // of kernels that are collectives, by name
  Outcome outcome_;
};

}  // namespace aaco::importers::rocprof
