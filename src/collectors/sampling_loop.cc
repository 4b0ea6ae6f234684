#include "collectors/sampling_loop.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>

#include "collectors/pace.h"
#include "collectors/row_buffer.h"
#include "collectors/wake_word.h"
#include "core/clock.h"

namespace aaco::collectors {
namespace {

constexpr core::Nanoseconds kShortestPeriod{5'000'000};
// The kernel may join the wake-up with another one within this share of a period: samples are stamped when they are read, so
// being punctual is worth less than not disturbing.
constexpr int kSlackShare = 20;
constexpr std::int64_t kPacedSamples = 25;  // between two looks at the cost

std::int64_t thread_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

// The lowest bits of the command word; the rest counts the commands, so that each is a change.
enum class Order : std::uint32_t { run = 0, pause = 1, stop = 2 };
constexpr std::uint32_t kOrderBits = 2;
Order order_of(std::uint32_t word) { return static_cast<Order>(word & ((1U << kOrderBits) - 1)); }

}  // namespace

struct SamplingLoop::Impl {
  std::vector<std::unique_ptr<Collector>> collectors;
  std::vector<trace::Account> refused;
  SamplingOptions options;
  RowBuffer rows;
  SamplingAccount account;
  WakeWord command;       // written by the owner
  WakeWord acknowledged;  // written by the thread: the pause command it sleeps in
  std::thread thread;
  bool stopped = false;

  std::uint32_t order(Order next);
  void run();
  void sample_until_told(std::uint32_t& seen);
  core::Nanoseconds current_period{0};  // the thread's own, from here
  std::int64_t paced_cpu_ns = 0;
  void keep_pace();
};

std::uint32_t SamplingLoop::Impl::order(Order next) {
  const std::uint32_t word = (((command.load() >> kOrderBits) + 1) << kOrderBits) | static_cast<std::uint32_t>(next);
  command.store_and_wake(word);
  return word;
}

// The CPU time since the last call decides the period from here.
void SamplingLoop::Impl::keep_pace() {
  const std::int64_t cpu_ns = thread_cpu_ns();
  current_period = affordable_period(options.period, core::Nanoseconds(cpu_ns - paced_cpu_ns), kPacedSamples);
  paced_cpu_ns = cpu_ns;
  if (current_period > options.period) account.longest_period = std::max(account.longest_period, current_period);
}

// Samples at each deadline until the command changes.
void SamplingLoop::Impl::sample_until_told(std::uint32_t& seen) {
  const std::int64_t begin = core::monotonic_ns();
  std::int64_t deadline = begin;
  while (command.load() == seen) {
    for (const auto& collector : collectors) collector->sample(rows);
    ++account.samples;
    if (account.samples % kPacedSamples == 0) keep_pace();
    const std::int64_t period = current_period.count();
    deadline += period;
    for (std::int64_t now = core::monotonic_ns(); now < deadline && command.load() == seen; now = core::monotonic_ns())
      command.wait_change_until(seen, deadline);
    if (const std::int64_t late = core::monotonic_ns() - deadline; late > period) {
      account.missed_deadlines += late / period;
      deadline += late / period * period;
    }
  }
  account.wall_time += core::Nanoseconds(core::monotonic_ns() - begin);
  seen = command.load();
}

void SamplingLoop::Impl::run() {
  pthread_setname_np(pthread_self(), "aaco-sampler");
  prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(options.period.count() / kSlackShare), 0, 0, 0);
  const std::int64_t cpu_begin = thread_cpu_ns();
  current_period = options.period;
  paced_cpu_ns = cpu_begin;
  std::uint32_t seen = command.load();
  while (order_of(seen) != Order::stop) {
    if (order_of(seen) == Order::run) {
      sample_until_told(seen);
    } else {
      for (const auto& collector : collectors) collector->forget();
      acknowledged.store_and_wake(seen);
      command.wait_change(seen);
      seen = command.load();
    }
  }
  account.cpu_time = core::Nanoseconds(thread_cpu_ns() - cpu_begin);
}

SamplingLoop::SamplingLoop(std::vector<std::unique_ptr<Collector>> collectors, SamplingOptions options)
    : impl_(std::make_unique<Impl>()) {
  impl_->options = std::move(options);
  for (auto& collector : collectors) {
    if (const core::Status opened = collector->open(impl_->options.root, impl_->options.target); opened) {
      impl_->collectors.push_back(std::move(collector));
    } else {
      trace::Account account = collector->account();
      account.source = collector->info().name;
      const bool absent =
          opened.error().code == core::ErrorCode::unsupported || opened.error().code == core::ErrorCode::permission;
      account.state = absent ? trace::Account::State::unsupported : trace::Account::State::failed;
      account.reason = opened.error().text();
      impl_->refused.push_back(std::move(account));
    }
  }
}

SamplingLoop::~SamplingLoop() {
  if (!impl_->thread.joinable()) return;
  impl_->order(Order::stop);
  impl_->thread.join();
}

core::Status SamplingLoop::start() {
  if (impl_->options.period < kShortestPeriod)
    return core::fail(core::ErrorCode::invalid_argument,
                      "sampling period below 5 ms: sampling that often would disturb the measurement", "use 5ms or more");
  if (impl_->stopped || impl_->thread.joinable())
    return core::fail(core::ErrorCode::conflict, "the sampling loop has already been started", "create a new loop");
  // Signals are for the program's other threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  core::Status status;
  try {
    impl_->thread = std::thread([impl = impl_.get()] { impl->run(); });
  } catch (const std::system_error& error) {
    status = core::fail(core::ErrorCode::exhausted, std::string("cannot start the sampling thread: ") + error.what(),
                        "raise the process limit (ulimit -u), or run without telemetry");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return status;
}

void SamplingLoop::pause() {
  if (!impl_->thread.joinable() || order_of(impl_->command.load()) != Order::run) return;
  const std::uint32_t word = impl_->order(Order::pause);
  for (std::uint32_t seen = impl_->acknowledged.load(); seen != word; seen = impl_->acknowledged.load())
    impl_->acknowledged.wait_change(seen);
}

void SamplingLoop::resume() {
  if (impl_->thread.joinable() && order_of(impl_->command.load()) == Order::pause) impl_->order(Order::run);
}

void SamplingLoop::drain(trace::Sink& sink) { impl_->rows.drain(sink); }

void SamplingLoop::stop(trace::Sink& sink) {
  if (std::exchange(impl_->stopped, true)) return;
  if (impl_->thread.joinable()) {
    impl_->order(Order::stop);
    impl_->thread.join();
  }
  for (const auto& collector : impl_->collectors) collector->close();
  impl_->rows.drain_all(sink);
}

SamplingAccount SamplingLoop::sampling() const { return impl_->account; }

std::vector<trace::Account> SamplingLoop::accounts() const {
  std::vector<trace::Account> accounts;
  for (const auto& collector : impl_->collectors) accounts.push_back(collector->account());
  accounts.insert(accounts.end(), impl_->refused.begin(), impl_->refused.end());
  return accounts;
}

}  // namespace aaco::collectors
