#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>

#include "core/result.h"
#include "workflows/llm/plan.h"
#include "workflows/llm/server_watch.h"
#include "workflows/session_draft.h"

namespace aaco::workflows {

// What is recorded beside a load: telemetry of the server's process tree where it runs on this machine, otherwise of the client;
// scheduler events of the server's; the server's own metrics. Drained by a thread of their own: they never run on the client's.
class LoadWatch {
 public:
  // Looks for the server's process and metrics; nothing is recorded yet. Fails where something was asked for that is not there.
  static core::Result<LoadWatch> find(const LlmPlan& plan, const LlmRequest& request, const Services& services);
  LoadWatch(LoadWatch&&) noexcept;
  ~LoadWatch();

  core::Status start(SessionDraft& draft);
  void finish(SessionDraft& draft);

  // The server's process, where it runs on this machine.
  [[nodiscard]] const std::optional<std::int64_t>& server() const { return server_; }
  [[nodiscard]] bool server_sampled() const { return telemetry_ && server_.has_value(); }
  [[nodiscard]] const std::optional<ServerWatch>& metrics() const { return metrics_; }

 private:
  struct Collectors;
  LoadWatch();
  std::optional<std::int64_t> server_;
  bool telemetry_ = false, scheduler_ = false;
  std::optional<ServerWatch> metrics_;
  std::unique_ptr<Collectors> collectors_;
};

}  // namespace aaco::workflows
