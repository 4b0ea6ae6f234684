#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "python/module/bind.h"
#include "python/module/options.h"
#include "python/module/world.h"
#include "workflows/ab_worker.h"
#include "workflows/import.h"
#include "workflows/own_recording.h"
#include "workflows/record.h"
#include "workflows/run.h"

namespace aaco::python {
namespace {

namespace py = pybind11;
using core::Json;
using workflows::Services;

std::string run_model(const py::dict& world, const py::dict& options) {
  const auto request = value_or_raise(run_request(to_json(options)));
  return long_call(world, [&](const Services& services) { return workflows::run(request, services); }).path;
}

core::Result<workflows::RecordRequest> record_request(const Json& options) {
  workflows::RecordRequest request;
  OptionReader reader(options, "observe()");
  reader.texts("command", request.command);
  reader.integer("pid", request.process_id, 1);
  reader.time("duration", request.duration);
  std::optional<core::Nanoseconds> period;
  reader.time("telemetry_period", period);
  if (period) request.telemetry_period = *period;
  reader.flag("ebpf", request.ebpf);
  reader.text("tag", request.tag);
  if (request.process_id.has_value() != request.command.empty())
    reader.refuse("observe() requires either a command or a pid", "for example: command=['python3', 'train.py']");
  AACO_TRY(reader.finish());
  return request;
}

py::tuple observe_program(const py::dict& world, const py::dict& options) {
  const auto request = value_or_raise(record_request(to_json(options)));
  const auto outcome = long_call(world, [&](const Services& services) -> core::Result<workflows::RecordOutcome> {
    AACO_ASSIGN(auto recorded, workflows::record(request, services));
    if (recorded.not_started) return tl::unexpected<core::Error>(*recorded.not_started);
    return recorded;
  });
  return py::make_tuple(outcome.session.path, outcome.exit_code);
}

std::string import_files(const py::dict& world, const py::dict& options) {
  workflows::ImportRequest request;
  const Json given = to_json(options);
  OptionReader reader(given, "import_()");
  reader.texts("paths", request.paths);
  reader.texts("captures", request.captures);
  reader.text("graph", request.graph);
  reader.integer("batch", request.batch, 1);
  reader.text("tag", request.tag);
  reader.flag("keep_raw", request.keep_raw);
  if (request.paths.empty()) reader.refuse("no files to import", "for example: aaco.import_('trace.json.gz')");
  value_or_raise(reader.finish());
  return long_call(world, [&](const Services& services) { return workflows::import(request, services); }).path;
}

// A recording of this process that Python holds; finish() is called once.
class Recording {
 public:
  Recording(const py::dict& world, const py::dict& options) {
    workflows::OwnRecordingRequest request;
    const Json given = to_json(options);
    OptionReader reader(given, "record()");
    reader.text("name", request.name);
    reader.text("tag", request.tag);
    std::optional<core::Nanoseconds> period;
    reader.time("telemetry_period", period);
    value_or_raise(reader.finish());
    if (period) request.telemetry_period = *period;
    recording_ = short_call(world, [&](const Services& services) { return workflows::OwnRecording::begin(request, services); });
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() {
    const py::gil_scoped_release unlocked;  // its thread may be waiting for the disk
    recording_.reset();
  }
  [[nodiscard]] const std::string& session_id() const { return recording_->session_id(); }
  void range(std::string_view name, std::int64_t thread_id, std::int64_t start_ns, std::int64_t end_ns) {
    recording_->range(name, thread_id, start_ns, end_ns);
  }
  std::string finish(bool interrupted, const std::string& trace, std::int64_t shift_ns) {
    auto outcome = [&] {
      const py::gil_scoped_release unlocked;
      using workflows::OwnTrace;
      return recording_->finish(interrupted, trace.empty() ? std::nullopt : std::optional(OwnTrace{trace, shift_ns}));
    }();
    return value_or_raise(std::move(outcome)).path;
  }

 private:
  std::unique_ptr<workflows::OwnRecording> recording_;
};

void serve_sides(const py::dict& world, const py::list& sides) {
  std::vector<workflows::AbSide> made;
  for (const py::handle side : sides) {
    const auto options = value_or_raise(Json::parse(py::cast<std::string>(side)));
    made.push_back(value_or_raise(ab_side(options, "side " + std::to_string(made.size()))));
  }
  const Services services = services_of(world, nullptr);
  auto served = [&] {
    const py::gil_scoped_release unlocked;
    return workflows::serve_ab(made, services);
  }();
  value_or_raise(std::move(served));
}

}  // namespace

void bind_measuring(py::module_& core) {
  core.def("run", &run_model);
  core.def("observe", &observe_program);
  core.def("import_", &import_files);
  core.def("serve_ab", &serve_sides);
  py::class_<Recording>(core, "Recording")
      .def(py::init<const py::dict&, const py::dict&>())
      .def_property_readonly("session_id", &Recording::session_id)
      .def("range", &Recording::range)
      .def("finish", &Recording::finish, py::arg("interrupted"), py::arg("trace") = "", py::arg("shift_ns") = 0);
}

}  // namespace aaco::python
