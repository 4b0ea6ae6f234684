#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "importers/importer.h"
#include "trace/account.h"
#include "trace/sink.h"

// What the XLA profiler (JAX, TensorFlow) calls its planes, lines and statistics, as rows: shared by its two files, XSpace and
// trace.json.
namespace aaco::importers::xla {

// A plane is a device ("/device:GPU:0", "/device:TPU:1") or threads of the host ("/host:CPU", "/host:CUPTI"); a line is a stream,
// a thread, or a view that the profiler derived from others.
struct Place {
  std::string_view plane, line;
  std::int64_t line_id = 0;
};

struct Event {
  std::string_view name;
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint64_t correlation_id = 0;
  std::string_view kernel_details;  // "regs:32 static_shared:0 dynamic_shared:0 grid:64,1,1 block:256,1,1 ..."
  std::string_view copy_details;    // "kind_src:... size:1024 dest:0 async:1"
  bool memset = false;
  std::optional<std::int64_t> step;  // of a step's range on the host
};

// What the importers of both files say of themselves.
ImporterInfo importer_info(std::string name, std::string title);

// Whether a plane's name is one of the XLA profiler.
bool is_plane(std::string_view name);

class Rows {
 public:
  Rows(trace::Sink& sink, trace::Account& account) : sink_(sink), account_(account) {}
  void add(const Place& place, const Event& event);
  // Steps, after all events.
  void finish();

 private:
  void device_work(const Place& place, std::int64_t device, bool gpu, const Event& event);
  void host_work(const Place& place, const Event& event);
  trace::NameId name(std::string_view text);

  trace::Sink& sink_;
  trace::Account& account_;
  std::map<std::string, trace::NameId, std::less<>> names_;
  struct Step {
    std::int64_t start_ns = 0, end_ns = 0;
  };
  std::map<std::int64_t, Step> steps_;  // by number
};

}  // namespace aaco::importers::xla
