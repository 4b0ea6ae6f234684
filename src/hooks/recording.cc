#include "hooks/recording.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <map>

#include "core/clock.h"
#include "core/files.h"
#include "core/handles.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "hooks/clock_map.h"
#include "hooks/ring_reader.h"
#include "hooks/static_runtime.h"

namespace aaco::hooks {
namespace {

using core::ErrorCode;

constexpr std::string_view kPrefix = "aaco-hooks.";
constexpr std::int64_t kRings = 64;  // that the free memory must be enough for

std::uint32_t groups_of(bool with_libraries) { return with_libraries ? (1U << kGroups) - 1 : kRuntimeGroups; }

bool has_tsc() {
  const auto source = core::read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  return source && core::trim(*source) == "tsc";
}

// Folders of recordings that were killed.
void remove_stale(const std::string& root) {
  const auto names = core::list_directory(root);
  if (!names) return;
  for (const std::string& path : *names) {
    const std::string name = core::base_name(path);
    if (!name.starts_with(kPrefix)) continue;
    const auto owner = core::parse_i64(std::string_view(name).substr(kPrefix.size(), name.rfind('.') - kPrefix.size()));
    if (owner && *owner > 0 && kill(static_cast<pid_t>(*owner), 0) != 0 && errno == ESRCH)
      (void)core::remove_tree(core::join_path(root, name));
  }
}

std::uint32_t records_for(const std::string& root) {
  const auto space = core::free_space(root);
  const std::int64_t room = space ? *space / kRings / static_cast<std::int64_t>(sizeof(wire::Record)) : 0;
  std::uint32_t records = wire::kMaxRecords;
  while (records > wire::kMinRecords && records > room) records /= 2;
  return records;
}

}  // namespace

struct Recording::State {
  std::string folder;
  wire::Control* control = nullptr;
  std::uint32_t groups = 0;
  bool number_calls = false;
  std::string library;
  ClockMap clock;
  std::map<std::string, RingReader> rings;
  std::optional<CallRows> rows;
  struct Call {
    std::int32_t process_id, thread_id;
    wire::Record record;
  };
  std::vector<Call> pending;  // since the last drain: the names of their kernels may be in rings that were read before
  std::uint64_t read = 0, lost = 0, unfinished = 0, odd = 0;
  std::set<std::int32_t> callers;
  std::int64_t threads = 0;
  std::set<std::int32_t> processes;
  std::set<std::uint32_t> images;  // places in the control's process_ids: a process that calls exec has several
  std::set<std::string> static_programs;
  std::optional<std::int64_t> paused_since_ns;
  std::int64_t paused_ns = 0;

  // Both clocks at one moment: of several readings the one that took shortest, since a pause within one is an error of the map.
  void tick() {
    constexpr int kReadings = 16;
    constexpr std::int64_t kShort = 100, kTooLong = 5'000;  // ns
    std::int64_t best = INT64_MAX, at = 0;
    std::uint64_t raw = 0;
    for (int i = 0; i < kReadings && best > kShort; ++i) {
      const std::int64_t before = core::monotonic_ns();
      const std::uint64_t counter = control->uses_tsc != 0 ? __rdtsc() : static_cast<std::uint64_t>(before);
      const std::int64_t after = control->uses_tsc != 0 ? core::monotonic_ns() : before;
      if (after - before >= best) continue;
      best = after - before, at = before + best / 2, raw = counter;
    }
    if (best < kTooLong) clock.add(raw, at);
  }
  void take(const RingReader& ring, const wire::Record& record) {
    ++read;
    const auto kind = static_cast<wire::Kind>(record.kind);
    if (record.function >= kFunctionCount || kind > wire::Kind::alias)
      ++odd;
    else if (kind == wire::Kind::text)
      rows->text(ring.process_id(), record);
    else if (kind == wire::Kind::alias)
      rows->alias(ring.process_id(), record);
    else
      pending.push_back({ring.process_id(), ring.thread_id(), record});
  }
  void retire(const RingReader& ring) {
    lost += ring.lost();
    unfinished += ring.unfinished();
  }
};

core::Result<std::unique_ptr<Recording>> Recording::begin(const RecordingOptions& options,
                                                          const std::optional<std::string>& preload) {
  if (!core::exists(options.library))
    return core::fail(ErrorCode::unsupported, "this build has no library for --hooks (" + options.library + " is missing)",
                      "--hooks is available on x86-64 in builds without sanitizers");
  remove_stale(options.folder);
  auto state = std::make_unique<State>();
  std::string name = core::join_path(options.folder, std::string(kPrefix) + std::to_string(getpid()) + ".XXXXXX");
  if (mkdtemp(name.data()) == nullptr)
    return core::fail_errno(errno, "creating a folder for the rings in " + options.folder, "--hooks keeps calls in memory there");
  state->folder = name;
  state->library = options.library;
  state->groups = groups_of(options.with_libraries);
  state->number_calls = options.number_calls;
  const std::string path = core::join_path(name, wire::kControlFile);
  const core::FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  void* address = MAP_FAILED;
  if (file.valid() && fallocate(file.get(), 0, 0, sizeof(wire::Control)) == 0)
    address = mmap(nullptr, sizeof(wire::Control), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (address == MAP_FAILED) {
    const int problem = errno;
    (void)core::remove_tree(name);
    return core::fail_errno(problem, "creating " + path, "free some memory in " + options.folder);
  }
  state->control = static_cast<wire::Control*>(address);
  state->control->version = wire::kVersion;
  state->control->records = records_for(options.folder);
  state->control->uses_tsc = has_tsc() ? 1 : 0;
  state->control->enabled = state->groups;
  state->control->magic = wire::kMagic;
  state->tick();
  auto recording = std::unique_ptr<Recording>(new Recording(std::move(state)));
  recording->environment_ = {{"LD_PRELOAD", options.library + (preload ? ":" + *preload : "")},
                             {wire::kFolderVariable, recording->state_->folder}};
  return recording;
}

Recording::Recording(std::unique_ptr<State> state) : state_(std::move(state)) {}

Recording::~Recording() {
  if (!state_) return;
  set_enabled(false);
  munmap(state_->control, sizeof(wire::Control));
  (void)core::remove_tree(state_->folder);
}

void Recording::set_enabled(bool enabled) {
  const std::int64_t now = core::monotonic_ns();
  if (enabled && state_->paused_since_ns) state_->paused_ns += now - *std::exchange(state_->paused_since_ns, std::nullopt);
  if (!enabled && !state_->paused_since_ns) state_->paused_since_ns = now;
  std::atomic_ref<std::uint32_t>(state_->control->enabled).store(enabled ? state_->groups : 0);
}

void Recording::pass(trace::Sink& sink, bool last) {
  State& state = *state_;
  if (!state.rows) state.rows.emplace(sink, state.number_calls);
  state.tick();
  std::vector<State::Call> ready = std::exchange(state.pending, {});
  if (const auto files = core::list_directory(state.folder))
    for (const std::string& file : *files) {
      const std::string path = core::join_path(state.folder, core::base_name(file));
      if (!path.ends_with(wire::kRingSuffix) || state.rings.contains(path)) continue;
      if (auto ring = RingReader::open(path)) {
        ++state.threads;
        state.callers.insert(ring->process_id());
        state.rings.emplace(path, std::move(*ring));
      }
    }
  for (auto entry = state.rings.begin(); entry != state.rings.end();) {
    RingReader& ring = entry->second;
    const bool over = last || ring.ended();
    ring.drain([&](const wire::Record& record) { state.take(ring, record); }, over);
    if (!over) {
      ++entry;
      continue;
    }
    state.retire(ring);
    unlink(entry->first.c_str());
    entry = state.rings.erase(entry);
  }
  const auto known =
      std::min<std::uint32_t>(std::atomic_ref<std::uint32_t>(state.control->processes).load(), wire::kMaxProcesses);
  for (std::uint32_t i = 0; i < known; ++i) {
    const std::int32_t process = std::atomic_ref<std::int32_t>(state.control->process_ids[i]).load();
    if (process <= 0 || !state.images.insert(i).second) continue;
    state.processes.insert(process);
    const std::string program = "/proc/" + std::to_string(process) + "/exe";
    if (has_static_runtime(program)) state.static_programs.insert(program_name(program));
  }
  state.tick();
  if (last) std::move(state.pending.begin(), state.pending.end(), std::back_inserter(ready)), state.pending.clear();
  if (!state.clock.usable()) {
    state.pending.insert(state.pending.begin(), ready.begin(), ready.end());
    return;
  }
  for (const State::Call& call : ready)
    state.rows->call(call.process_id, call.thread_id, call.record, state.clock.to_ns(call.record.words[wire::start]),
                     state.clock.to_ns(call.record.words[wire::end]));
}

void Recording::drain(trace::Sink& sink) { pass(sink, false); }

void Recording::warn(Findings& findings, std::int64_t process_id) const {
  const State& state = *state_;
  const auto add = [&](std::string id, std::string message, std::string remedy) {
    findings.warnings.push_back({std::move(id), std::move(message), std::move(remedy)});
  };
  if (process_id > 0 && !state.processes.contains(static_cast<std::int32_t>(process_id)))
    add("hooks.not_loaded", "the program did not load the library that records GPU calls",
        "programs that are statically linked, set-user-ID or not of x86-64 cannot be recorded with --hooks");
  for (const std::string& name : state.static_programs)
    add("hooks.static_runtime", name + " has a GPU runtime linked statically: calls of that runtime were not recorded",
        "link the shared runtime (nvcc --cudart shared); its calls of the driver are recorded all the same");
  if (state.control->namespaces > 0)
    add("hooks.namespaces",
        "dlmopen opened " + std::to_string(state.control->namespaces) +
            " libraries in separate namespaces: their calls were not recorded",
        "");
  const auto running = std::count_if(state.processes.begin(), state.processes.end(), [process_id](std::int32_t process) {
    return process != process_id && ::kill(process, 0) == 0;
  });
  if (running > 0)
    add("hooks.still_running",
        std::to_string(running) + " child processes were still running at the end: their later calls were not recorded",
        "let the command wait for them");
  const std::int64_t paused_ns =
      state.paused_ns + (state.paused_since_ns ? core::monotonic_ns() - *state.paused_since_ns : std::int64_t{0});
  if (paused_ns > 0)
    add("hooks.paused",
        "recording was paused for " + core::format_duration(static_cast<double>(paused_ns)) +
            ": calls during that time were not recorded, and counts and idle times are incomplete",
        "");
  if (state.control->deep_bound > 0)
    add("hooks.deep_binding",
        std::to_string(state.control->deep_bound) +
            " libraries were opened with RTLD_DEEPBIND: some of the calls that they make by symbol were not recorded",
        "open them without RTLD_DEEPBIND");
  if (state.control->rings_refused > 0)
    add("hooks.no_ring", "there was no memory for the calls of " + std::to_string(state.control->rings_refused) + " threads",
        "free memory in /dev/shm, or raise the limit on open files and file sizes");
  if (state.control->missing > 0)
    add("hooks.missing_function",
        std::to_string(state.control->missing) + " calls were of functions that no loaded library has; they failed", "");
  if (state.callers.empty() && findings.warnings.empty()) add("hooks.no_calls", "the program made no GPU runtime calls", "");
}

Recording::Findings Recording::finish(trace::Sink& sink, std::int64_t process_id) {
  pass(sink, true);
  const State& state = *state_;
  Findings findings;
  findings.processes = static_cast<std::int64_t>(state.processes.size());
  findings.threads = state.threads;
  findings.allocations = state.rows->allocations();
  trace::Account& account = findings.account;
  account.source = "hooks";
  account.keep(static_cast<std::int64_t>(state.read - state.odd));
  const auto drop = [&](std::string_view why, std::uint64_t count) {
    if (count > 0) account.drop(why, static_cast<std::int64_t>(count));
  };
  drop("ring full", state.lost);
  drop("thread without a ring", state.control->lost);
  drop("unfinished", state.unfinished);
  drop("invalid record", state.odd);
  if (account.dropped_total() > 0) {
    account.state = trace::Account::State::partial;
    account.reason = core::format_count(static_cast<double>(account.dropped_total())) + " of " +
                     core::format_count(static_cast<double>(account.read)) + " records were lost";
    findings.warnings.push_back({"hooks.lost",
                                 account.reason + ": counts, idle times and memory of GPU runtime calls are incomplete",
                                 "the account 'hooks' in session.json has the reasons; leave a core free for aaco"});
  }
  warn(findings, process_id);
  return findings;
}

}  // namespace aaco::hooks
