#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <utility>

#include "python/module/convert.h"
#include "workflows/services.h"

namespace aaco::python {

// What aaco._world.current() says of the caller's world: environment, sessions, command, progress. `stop` outlives the
// services. Needs the interpreter's lock.
workflows::Services services_of(const pybind11::dict& world, std::atomic<bool>* stop);

// Waits without the interpreter's lock, and lets signals of Python in: the first that raises (Ctrl-C) sets `stop`, and is raised
// once the work has ended, with what was measured until then kept.
template <class Answer>
Answer attend(std::future<Answer> answer, std::atomic<bool>& stop) {
  constexpr std::chrono::milliseconds kPeriod{100};
  std::optional<pybind11::error_already_set> interrupted;
  for (bool ready = false; !ready;) {
    {
      const pybind11::gil_scoped_release unlocked;
      ready = answer.wait_for(kPeriod) == std::future_status::ready;
    }
    if (!ready && !interrupted && PyErr_CheckSignals() != 0) {
      interrupted.emplace();
      stop = true;
    }
  }
  Answer value = answer.get();
  if (interrupted) throw pybind11::error_already_set(*interrupted);
  return value;
}

// Does `work` on a thread of its own, without the interpreter's lock: what may take long.
template <class Work>
auto long_call(const pybind11::dict& world, Work work) {
  std::atomic<bool> stop{false};
  const workflows::Services services = services_of(world, &stop);
  return value_or_raise(attend(std::async(std::launch::async, [&] { return work(services); }), stop));
}

// Does `work` at once, without the interpreter's lock.
template <class Work>
auto short_call(const pybind11::dict& world, Work work) {
  const workflows::Services services = services_of(world, nullptr);
  auto answer = [&] {
    const pybind11::gil_scoped_release unlocked;
    return work(services);
  }();
  return value_or_raise(std::move(answer));
}

}  // namespace aaco::python
