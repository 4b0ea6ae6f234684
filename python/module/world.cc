#include "python/module/world.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace aaco::python {
namespace {

namespace py = pybind11;

std::map<std::string, std::string> texts(const py::dict& values) {
  std::map<std::string, std::string> out;
  for (const auto& [name, value] : values) out[py::cast<std::string>(name)] = py::cast<std::string>(value);
  return out;
}

// Calls a function of Python from any thread. The last copy may go on a thread without the interpreter's lock.
std::function<void(std::string_view)> progress_to(const py::object& function) {
  if (function.is_none()) return [](std::string_view) {};
  const std::shared_ptr<py::object> kept(new py::object(function), [](py::object* object) {
    const py::gil_scoped_acquire locked;
    delete object;
  });
  return [kept](std::string_view line) {
    const py::gil_scoped_acquire locked;
    try {
      (*kept)(py::str(line.data(), line.size()));
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("progress");
    }
  };
}

}  // namespace

workflows::Services services_of(const py::dict& world, std::atomic<bool>* stop) {
  workflows::Services services;
  services.environment = core::Environment(texts(world["environment"]));
  services.paths = core::Paths::find(services.environment, core::executable_path());
  if (!world["sessions"].is_none()) services.paths.sessions = py::cast<std::string>(world["sessions"]);
  services.progress = progress_to(world["progress"]);
  services.stop = stop;
  services.tool_version = AACO_VERSION;
  for (const py::handle word : world["command"]) services.command_line.push_back(py::cast<std::string>(word));
  return services;
}

}  // namespace aaco::python
