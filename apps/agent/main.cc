#include <malloc.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <thread>

#include "agent/agent.h"
#include "agent/engine_receiver.h"
#include "agent/options.h"
#include "collectors/node_collectors.h"
#include "core/files.h"
#include "core/out_of_memory.h"
#include "tracelake/engine.h"

namespace {

using namespace aaco;

constexpr int kFine = 0, kUsage = 2, kEnvironment = 3;
constexpr std::int64_t kLookPeriodNs = 1'000'000'000;  // for new rows in the spool
constexpr std::int64_t kAgentTimeoutNs = 20'000'000'000;

std::atomic<bool>& stop_flag() {
  static std::atomic<bool> stop{false};
  return stop;
}

int fail(const core::Error& error) {
  std::fprintf(stderr, "aaco agent: %s\n", error.text().c_str());
  return error.code == core::ErrorCode::invalid_argument ? kUsage : kEnvironment;
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] != 0 ? name : "unknown";
}

core::Result<tracelake::RemoteServer> find_fleet(const std::string& name, const core::Environment& environment) {
  const auto paths = core::Paths::find(environment, core::executable_path());
  std::vector<std::string> files = {core::join_path(paths.config, "fleet.yaml"), "/etc/aaco/fleet.yaml",
                                    core::join_path(paths.share, "configs/fleet.yaml")};
  if (const auto file = environment.get("AACO_FLEET")) files = {*file};
  AACO_ASSIGN(auto target, tracelake::find_remote(name, files, environment));
  target.timeout_ns = kAgentTimeoutNs;
  return tracelake::RemoteServer(std::move(target));
}

core::Status watch(const agent::Request& request, const core::Environment& environment) {
  AACO_ASSIGN(auto server, find_fleet(request.to, environment));
  AACO_ASSIGN(const auto spool, agent::Spool::open({request.spool, request.limit_bytes, {}}));
  const core::SystemClock clock;
  agent::EngineReceiver receiver(std::move(server));
  agent::Sender sender(receiver, *spool, clock);
  std::string node = request.node.empty() ? environment.get("NODE_NAME").value_or("") : request.node;  // set by Kubernetes
  agent::Agent agent({node.empty() ? host_name() : node,
                      {},
                      request.job,
                      core::join_path(request.spool, "status.json"),
                      clock.now_ns(core::ClockId::realtime)},
                     collectors::node_collectors([] { return std::make_unique<core::SystemClock>(); }), *spool, sender, clock);
  ::malloc_trim(0);  // what reading the machine took is not needed again
  std::jthread sending([&](const std::stop_token& ended) {
    while (!ended.stop_requested())
      if (!sender.step())
        clock.sleep_until(std::min(clock.now_ns(core::ClockId::monotonic) + kLookPeriodNs, sender.next_step_ns()));
  });
  const std::int64_t begin = clock.now_ns(core::ClockId::monotonic);
  std::int64_t due = begin;
  while (!stop_flag() && (request.duration_ns == 0 || due - begin < request.duration_ns)) {
    agent.sample();
    const std::int64_t now = clock.now_ns(core::ClockId::monotonic);
    due += (std::max<std::int64_t>(0, now - due) / request.interval_ns + 1) * request.interval_ns;
    while (!stop_flag() && clock.now_ns(core::ClockId::monotonic) < due) clock.sleep_until(due);
  }
  agent.finish();
  sending.request_stop();
  sending.join();
  sender.last_try();
  return core::write_file_atomic(core::join_path(request.spool, "status.json"), agent.status().dump() + "\n");
}

core::Status print_status(const agent::Request& request) {
  const std::string file = core::join_path(request.spool, "status.json");
  if (!core::exists(file))
    return core::fail(core::ErrorCode::not_found, "no agent has written " + file, "pass the --spool of the agent");
  AACO_ASSIGN(const std::string text, core::read_file(file, 1 << 20));
  std::fputs(text.c_str(), stdout);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  core::exit_when_out_of_memory("aaco-agent", kEnvironment);
  CLI::App app(agent::kAboutAgent, "aaco-agent");
  app.set_version_flag("--version", "aaco-agent " AACO_VERSION);
  agent::Options options;
  agent::add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? kFine : kUsage;
  }
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { stop_flag() = true; });
  const auto environment = core::Environment::of_process();
  const auto request = agent::resolve(options, environment);
  if (!request) return fail(request.error());
  const auto done = options.status ? print_status(*request) : watch(*request, environment);
  return done ? kFine : fail(done.error());
}
