#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "collectors/ebpf/event_source.h"
#include "collectors/ebpf/interval_builder.h"
#include "collectors/ebpf/stack_book.h"
#include "collectors/ebpf/thread_names.h"
#include "core/clock.h"

namespace aaco::collectors::ebpf {
namespace {

constexpr std::chrono::milliseconds kPoll{20};
// Events of all rings that are older than this are all there: a program holds its record for microseconds only.
constexpr std::int64_t kSettleNs = 200'000'000;
// What is kept in memory at most where nobody drains: 400 MB.
constexpr std::size_t kMaxEvents = std::size_t{8} << 20;

constexpr const char* kMemoryLimit = "in-memory event limit reached";
constexpr const char* kRingFull = "kernel ring buffer full";
constexpr const char* kOutside = "outside a recorded block";

constexpr std::array<const char*, wire_kinds> kKinds = {"switch",         "wakeup",     "migrate",   "page fault", "interrupt",
                                                        "soft interrupt", "block I/O",  "fork",      "exit",       "GPU job",
                                                        "GPU fence",      "GPU buffer", "GPU memory"};

struct Window {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = INT64_MAX;
};

class Watch final : public SchedulerWatch {
 public:
  Watch(std::unique_ptr<EventSource> source, const WatchOptions& options)
      : source_(std::move(source)),
        names_(options.root),
        book_(options.root),
        process_(static_cast<std::uint32_t>(options.process_id)) {
    reader_ = std::thread([this] { read_along(); });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return reader_ready_; });
  }
  ~Watch() override { end_reader(); }

  void resume() override {
    const std::lock_guard lock(mutex_);
    if (recording_ || ended_) return;
    recording_ = true;
    windows_.push_back({core::monotonic_ns()});
    source_->set_enabled(true);
    changed_.notify_all();
  }

  void pause() override {
    const std::lock_guard lock(mutex_);
    if (!recording_) return;
    source_->set_enabled(false);
    windows_.back().end_ns = core::monotonic_ns();
    recording_ = false;
    read_rings();
  }

  void stop_adopting() override { source_->forget(process_); }

  void drain(trace::Sink& sink) override {
    const std::int64_t now = core::monotonic_ns();
    if (now - drained_ns_ < kSettleNs) return;  // what is not settled yet is looked at again by each
    drained_ns_ = now;
    build(sink, now - kSettleNs);
  }

  void finish(trace::Sink& sink) override {
    if (ended_) return;
    pause();
    end_reader();
    read_rings();
    build(sink, INT64_MAX);
  }

  [[nodiscard]] const std::vector<Attachment>& attachments() const override { return source_->attachments(); }

  std::vector<OffCpuStack> off_cpu_stacks() override { return book_.stacks(); }

  [[nodiscard]] trace::Account account() const override {
    trace::Account account;
    account.source = "ebpf";
    account.keep(kept_);
    if (outside_ > 0) account.drop(kOutside, outside_);
    if (beyond_memory_ > 0) account.drop(kMemoryLimit, beyond_memory_);
    const WireCounts counts = source_->counts().total;
    for (std::size_t kind = 0; kind < wire_kinds; ++kind) {
      if (counts.lost[kind] == 0) continue;
      account.drop(kRingFull, static_cast<std::int64_t>(counts.lost[kind]));
      account.notes.push_back(std::to_string(counts.lost[kind]) + " lost events of kind " + kKinds.at(kind));
    }
    if (counts.untracked > 0)
      account.notes.push_back(std::to_string(counts.untracked) + " processes, threads or requests not tracked (limit reached)");
    if (counts.stacks_lost > 0)
      account.notes.push_back(std::to_string(counts.stacks_lost) + " stacks of waiting threads lost (stack map full)");
    for (const Attachment& attached : source_->attachments()) {
      if (attached.way.empty()) {
        account.state = trace::Account::State::partial;
        account.notes.push_back(attached.event + " is not traced: " + attached.reason);
      } else {
        account.notes.push_back(attached.event + " by " + attached.way);
      }
    }
    if (account.dropped_total() > outside_) account.state = trace::Account::State::partial;
    return account;
  }

 private:
  void read_along() {
    pthread_setname_np(pthread_self(), "aaco-ebpf");
    std::unique_lock lock(mutex_);
    source_->skip_this_thread();
    reader_ready_ = true;
    changed_.notify_all();
    while (!stop_) {
      if (recording_) {
        changed_.wait_for(lock, kPoll, [this] { return stop_; });
        if (recording_) read_rings();
      } else {
        changed_.wait(lock, [this] { return stop_ || recording_; });
      }
    }
  }

  void end_reader() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      ended_ = true;
    }
    changed_.notify_all();
    if (reader_.joinable()) reader_.join();
  }

  // With the mutex, or alone.
  void read_rings() {
    const std::size_t before = pending_.size();
    source_->read(pending_);
    if (pending_.size() > kMaxEvents) {
      beyond_memory_ += static_cast<std::int64_t>(pending_.size() - std::max(before, kMaxEvents));
      pending_.resize(std::max(before, kMaxEvents));
    }
    const std::int64_t now_ns = core::monotonic_ns();
    for (std::size_t i = before; i < pending_.size(); ++i) {
      book_.note(pending_[i], *source_, now_ns);
      note_end(pending_[i]);
    }
  }

  // A process that has ended leaves the tree: its number may be another's soon.
  void note_end(const WireEvent& event) {
    if (event.kind != wire_exit) return;
    char text[sizeof(event.value) + sizeof(event.duration_ns) + 1] = {};
    std::memcpy(text, &event.value, sizeof(event.value));
    std::memcpy(text + sizeof(event.value), &event.duration_ns, sizeof(event.duration_ns));
    names_.ended(event.thread, text);
    if ((event.state & wire_state_group_dead) != 0) ended_processes_.push_back(event.process);
  }

  void build(trace::Sink& sink, std::int64_t horizon_ns) {
    std::vector<WireEvent> events;
    std::vector<Window> windows;
    {
      const std::lock_guard lock(mutex_);
      for (const std::uint32_t process : std::exchange(leaving_processes_, std::exchange(ended_processes_, {})))
        source_->forget(process);
      events.swap(pending_);
      windows = windows_;
    }
    std::stable_sort(events.begin(), events.end(), [](const WireEvent& a, const WireEvent& b) { return a.time_ns < b.time_ns; });
    const auto later = std::partition_point(events.begin(), events.end(), [horizon_ns](const WireEvent& event) {
      return static_cast<std::int64_t>(event.time_ns) < horizon_ns;
    });
    if (!builder_ || &sink != sink_) {
      builder_.emplace(
          sink, [this](std::uint32_t process, std::uint32_t thread) { return names_.of_thread(process, thread); },
          [this](std::uint32_t number) { return names_.of_interrupt(number); },
          [this](const OffCpuKey& key, std::int64_t duration_ns) { book_.add(key, duration_ns); });
      sink_ = &sink;
    }
    for (auto event = events.begin(); event != later; ++event) feed(*event, windows);
    close_windows(windows, horizon_ns);
    const std::lock_guard lock(mutex_);
    pending_.insert(pending_.begin(), later, events.end());
  }

  void feed(const WireEvent& event, const std::vector<Window>& windows) {
    const auto time_ns = static_cast<std::int64_t>(event.time_ns);
    close_windows(windows, time_ns);
    if (event.kind == wire_exit || event.kind == wire_fork) {
      if (in_window_) builder_->add(event);
      ++kept_;
      return;
    }
    if (!in_window_ || time_ns < windows[window_].begin_ns) {
      ++outside_;
      return;
    }
    builder_->add(event);
    ++kept_;
  }

  // Begins and ends windows up to a time.
  void close_windows(const std::vector<Window>& windows, std::int64_t time_ns) {
    while (window_ < windows.size()) {
      if (!in_window_) {
        if (windows[window_].begin_ns > time_ns) return;
        builder_->begin_window(windows[window_].begin_ns);
        in_window_ = true;
      }
      if (windows[window_].end_ns >= time_ns) return;
      builder_->end_window(windows[window_].end_ns);
      in_window_ = false;
      ++window_;
    }
  }

  std::unique_ptr<EventSource> source_;
  ThreadNames names_;
  StackBook book_;  // note() under the mutex; add() and stacks() by the caller's thread, whose sums note() does not touch
  std::uint32_t process_;
  std::thread reader_;
  std::mutex mutex_;  // what both threads touch: down to ended_processes_
  std::condition_variable changed_;
  bool reader_ready_ = false, recording_ = false, stop_ = false, ended_ = false;
  std::vector<WireEvent> pending_;
  std::vector<Window> windows_;
  std::int64_t beyond_memory_ = 0;
  std::vector<std::uint32_t> ended_processes_, leaving_processes_;
  std::optional<IntervalBuilder> builder_;
  trace::Sink* sink_ = nullptr;
  std::size_t window_ = 0;
  bool in_window_ = false;
  std::int64_t kept_ = 0, outside_ = 0, drained_ns_ = 0;
};

}  // namespace

std::unique_ptr<SchedulerWatch> make_watch(std::unique_ptr<EventSource> source, const WatchOptions& options) {
  return std::make_unique<Watch>(std::move(source), options);
}

}  // namespace aaco::collectors::ebpf

namespace aaco::collectors {

core::Result<std::unique_ptr<SchedulerWatch>> SchedulerWatch::open(const WatchOptions& options) {
  AACO_ASSIGN(auto source, ebpf::open_kernel(options));
  return ebpf::make_watch(std::move(source), options);
}

}  // namespace aaco::collectors
