#include "workflows/jobs.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "core/clock.h"
#include "core/files.h"
#include "core/id.h"
#include "core/random.h"
#include "core/strings.h"
#include "core/subprocess.h"
#include "workflows/baseline.h"
#include "workflows/jobs/job_file.h"
#include "workflows/process_identity.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using core::Json;

constexpr std::chrono::milliseconds kLookPeriod{100};  // at running children
constexpr std::int64_t kEndTime_ns = 10'000'000'000;   // from SIGINT to SIGKILL
constexpr std::int64_t kMinute_ns = 60'000'000'000;
constexpr std::int64_t kMaxProgressFile = 4096;

std::string now_text() { return core::iso8601_utc(core::SystemClock().now_ns(core::ClockId::realtime)); }

core::FileDescriptor open_output(const std::string& path) {
  return core::FileDescriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
}

template <class List>
auto job_named(List& jobs, std::string_view id) -> decltype(&jobs.front()) {
  const auto found = std::find_if(jobs.begin(), jobs.end(), [&](const Job& job) { return job.id == id; });
  return found == jobs.end() ? nullptr : &*found;
}

// <sessions>/.jobs, for its owner alone.
core::Result<JobFolder> make_job_folder(const std::string& sessions) {
  AACO_TRY(core::make_directories(core::parent_path(sessions)));
  JobFolder folder(core::join_path(sessions, ".jobs"));
  for (const std::string& path : {sessions, folder.path()})
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return core::fail_errno(errno, path);
  return folder;
}

struct RunningJob {
  std::string id;
  core::Child child;
  bool cancelled = false;
  std::int64_t kill_at_ns = INT64_MAX;
  std::string excess;  // what it used too much of
};

// What still runs of a job whose server was killed.
struct Orphan {
  std::int64_t process_id = 0, started = 0, kill_at_ns = 0;
};

class StoredJobs final : public Jobs {
 public:
  StoredJobs(ServerPolicy policy, std::string program, const Services& services, JobFolder folder, core::FileDescriptor lock)
      : policy_(std::move(policy)),
        program_(std::move(program)),
        paths_(services.paths),
        sessions_(core::absolute_path(services.paths.sessions)),
        baselines_(core::absolute_path(baseline_folder(services))),
        folder_(std::move(folder)),
        uploads_(uploads_of(sessions_)),
        lock_(std::move(lock)) {}
  ~StoredJobs() override;
  StoredJobs(const StoredJobs&) = delete;
  StoredJobs& operator=(const StoredJobs&) = delete;

  core::Status recover();
  core::Result<Job> start(std::string_view verb, const JobFields& fields) override;
  [[nodiscard]] std::vector<Job> list() const override;
  [[nodiscard]] core::Result<Job> find(std::string_view id) const override;
  core::Result<Job> cancel(std::string_view id) override;
  [[nodiscard]] core::Result<std::string> log(std::string_view id) const override;
  [[nodiscard]] core::Result<std::string> result(std::string_view id) const override;
  core::Result<std::unique_ptr<Upload>> begin_upload(std::string_view name) override {
    const bool allowed = std::count(policy_.verbs.begin(), policy_.verbs.end(), "import") > 0;
    return uploads_.begin(name, {allowed, policy_.max_upload_bytes, policy_.max_uploads});
  }
  [[nodiscard]] const ServerPolicy& policy() const override { return policy_; }
  [[nodiscard]] std::uint64_t revision() const override { return revision_; }

 private:
  void work();
  void begin_waiting();
  [[nodiscard]] bool may_begin(const Job& job) const;
  void begin(Job& job);
  core::Result<core::Child> spawn(const Job& job) const;
  void look_at_running();
  void finish(const RunningJob& running, int exit_code);
  void forget_oldest();
  void store(const Job& job);
  Job* known(std::string_view id) { return job_named(jobs_, id); }
  [[nodiscard]] const Job* known(std::string_view id) const { return job_named(jobs_, id); }

  ServerPolicy policy_;
  std::string program_;
  core::Paths paths_;
  std::string sessions_, baselines_;
  JobFolder folder_;
  Uploads uploads_;
  core::FileDescriptor lock_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<Job> jobs_;  // oldest first
  std::vector<RunningJob> running_;
  std::vector<Orphan> orphans_;
  std::deque<std::int64_t> starts_ns_;
  bool stopping_ = false;
  std::atomic<std::uint64_t> revision_{0};
  std::thread worker_;
};

StoredJobs::~StoredJobs() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (RunningJob& running : running_) running.child.signal(SIGINT);
  }
  changed_.notify_all();
  if (worker_.joinable()) worker_.join();
}

core::Status StoredJobs::recover() {
  AACO_ASSIGN(jobs_, folder_.read());
  const std::int64_t now_ns = core::monotonic_ns();
  for (Job& job : jobs_) {
    if (job.state != "running") continue;
    if (job.process_started > 0 && process_start_ticks(job.process_id) == job.process_started) {
      ::kill(static_cast<pid_t>(-job.process_id), SIGINT);  // it keeps what it has measured
      orphans_.push_back({job.process_id, job.process_started, now_ns + kEndTime_ns});
    }
    job.state = "interrupted";
    job.ended = now_text();
    job.message = "the server ended while the job ran";
    AACO_TRY(folder_.write(job));
  }
  worker_ = std::thread([this] { work(); });
  return {};
}

// That a state cannot be written to a full disk does not end the job.
void StoredJobs::store(const Job& job) {
  (void)folder_.write(job);
  ++revision_;
}

core::Result<Job> StoredJobs::start(std::string_view verb, const JobFields& fields) {
  const auto& verbs = job_verbs();
  const auto found = std::find_if(verbs.begin(), verbs.end(), [&](const JobVerb& one) { return one.name == verb; });
  if (found == verbs.end()) return core::fail(ErrorCode::not_found, "no job has the verb '" + std::string(verb) + "'");
  core::Paths paths = paths_;
  paths.sessions = sessions_;
  AACO_ASSIGN(auto words, job_words(*found, fields, policy_, paths));
  const core::SystemClock clock;
  Job job;
  job.id = core::make_session_id(clock.now_ns(core::ClockId::realtime), core::system_entropy()).text;
  job.verb = found->name;
  job.state = "queued";
  job.words = folder_.with_results(*found, job.id, std::move(words));
  job.measures = found->measures;
  if (job.verb == "gate")  // of stored sessions: nothing is measured
    job.measures = std::none_of(fields.begin(), fields.end(), [](const auto& field) { return field.first == "session"; });
  job.created = now_text();
  {
    const std::lock_guard lock(mutex_);
    const std::int64_t now_ns = core::monotonic_ns();
    while (!starts_ns_.empty() && now_ns - starts_ns_.front() > kMinute_ns) starts_ns_.pop_front();
    const auto waiting = std::count_if(jobs_.begin(), jobs_.end(), [](const Job& one) { return one.state == "queued"; });
    if (static_cast<std::size_t>(waiting) >= policy_.waiting_jobs)
      return core::fail(ErrorCode::exhausted, "too many jobs are waiting", "cancel one, or try again later");
    if (starts_ns_.size() >= policy_.jobs_per_minute)
      return core::fail(ErrorCode::exhausted, "too many jobs were started in this minute", "try again later");
    AACO_TRY(folder_.write(job));
    starts_ns_.push_back(now_ns);
    jobs_.push_back(job);
    ++revision_;
  }
  changed_.notify_all();
  return job;
}

std::vector<Job> StoredJobs::list() const {
  const std::lock_guard lock(mutex_);
  return {jobs_.rbegin(), jobs_.rend()};
}

core::Result<Job> StoredJobs::find(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const Job* job = known(id);
  if (job == nullptr) return core::fail(ErrorCode::not_found, "no such job");
  return *job;
}

core::Result<Job> StoredJobs::cancel(std::string_view id) {
  const std::lock_guard lock(mutex_);
  Job* job = known(id);
  if (job == nullptr) return core::fail(ErrorCode::not_found, "no such job");
  if (job->ended_already()) return core::fail(ErrorCode::conflict, "the job has already ended: " + job->state);
  if (job->state == "queued") {
    job->state = "cancelled";
    job->ended = now_text();
    store(*job);
    return *job;
  }
  for (RunningJob& running : running_) {
    if (running.id != id || running.cancelled) continue;
    running.cancelled = true;
    running.kill_at_ns = core::monotonic_ns() + kEndTime_ns;
    running.child.signal(SIGINT);
  }
  job->progress = "cancelling";
  ++revision_;
  return *job;
}

core::Result<std::string> StoredJobs::log(std::string_view id) const {
  AACO_ASSIGN(const Job job, find(id));
  const std::string file = folder_.file(job.id, ".log");
  if (!core::exists(file)) return std::string();
  return core::read_file(file, policy_.max_log_bytes * 4);
}

core::Result<std::string> StoredJobs::result(std::string_view id) const {
  AACO_ASSIGN(const Job job, find(id));
  const std::string file = folder_.file(job.id, ".result");
  if (!job.ended_already()) return core::fail(ErrorCode::conflict, "the job has not ended", "ask again when its state is done");
  if (job.state != "done" || !core::exists(file))
    return core::fail(ErrorCode::not_found, "this job has no result", "see its log");
  return core::read_file(file, policy_.max_result_bytes);
}

void StoredJobs::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    look_at_running();
    if (stopping_ && running_.empty()) return;
    if (!stopping_) begin_waiting();
    if (running_.empty() && orphans_.empty() && !stopping_)
      changed_.wait(lock);
    else
      changed_.wait_for(lock, kLookPeriod);
  }
}

bool StoredJobs::may_begin(const Job& job) const {
  const auto like = std::count_if(running_.begin(), running_.end(), [&](const RunningJob& running) {
    const Job* other = known(running.id);
    return other != nullptr && other->measures == job.measures;
  });
  return job.measures ? like == 0 && orphans_.empty() : static_cast<std::size_t>(like) < policy_.other_jobs;
}

void StoredJobs::begin_waiting() {
  for (Job& job : jobs_)
    if (job.state == "queued" && may_begin(job)) begin(job);
}

core::Result<core::Child> StoredJobs::spawn(const Job& job) const {
  const bool own_output = job.verb == "record";
  const auto log = open_output(folder_.file(job.id, ".log"));
  const auto result = open_output(folder_.file(job.id, ".result"));
  const core::FileDescriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!log.valid() || !result.valid()) return core::fail_errno(errno, "cannot write the job's log");
  core::Command command;
  command.arguments = {program_, "--sessions", sessions_};
  command.arguments.insert(command.arguments.end(), job.words.begin(), job.words.end());
  if (own_output)  // after "record --json"
    command.arguments.insert(command.arguments.begin() + 5, "--report-to=" + folder_.file(job.id, ".result"));
  command.directory = folder_.path();
  command.output = core::Command::Output::inherit;
  command.input_fd = null.get();
  command.output_fd = own_output ? log.get() : result.get();
  command.error_fd = log.get();
  command.set_environment = {
      {"AACO_PROGRESS_FILE", folder_.file(job.id, ".progress")}, {"AACO_BASELINES", baselines_}, {"NO_COLOR", "1"}};
  return core::Child::start(command);
}

void StoredJobs::begin(Job& job) {
  auto child = spawn(job);
  job.started = now_text();
  if (child) {
    job.state = "running";
    job.process_id = child->pid();
    job.process_started = process_start_ticks(child->pid());
    running_.push_back({job.id, std::move(*child), false, INT64_MAX, {}});
  } else {
    job.state = "failed";
    job.ended = job.started;
    job.message = child.error().message;
  }
  store(job);
}

void StoredJobs::look_at_running() {
  const std::int64_t now_ns = core::monotonic_ns();
  for (auto running = running_.begin(); running != running_.end();) {
    if (const auto code = running->child.poll()) {
      finish(*running, *code);
      running = running_.erase(running);
      continue;
    }
    if (stopping_ && running->kill_at_ns == INT64_MAX) running->kill_at_ns = now_ns + kEndTime_ns;
    if (core::file_size(folder_.file(running->id, ".log")).value_or(0) > policy_.max_log_bytes) running->excess = "log";
    if (core::file_size(folder_.file(running->id, ".result")).value_or(0) > policy_.max_result_bytes) running->excess = "result";
    if (now_ns > running->kill_at_ns || !running->excess.empty()) running->child.signal(SIGKILL);
    if (Job* job = known(running->id); job != nullptr && !running->cancelled) {
      const auto text = core::read_file(folder_.file(running->id, ".progress"), kMaxProgressFile);
      if (text && !text->empty() && *text != job->progress) {
        job->progress = *text;
        ++revision_;
      }
    }
    ++running;
  }
  std::erase_if(orphans_, [&](const Orphan& orphan) {
    if (process_start_ticks(orphan.process_id) != orphan.started) return true;
    if (now_ns > orphan.kill_at_ns) ::kill(static_cast<pid_t>(-orphan.process_id), SIGKILL);
    return false;
  });
}

void StoredJobs::finish(const RunningJob& running, int exit_code) {
  Job* job = known(running.id);
  if (job == nullptr) return;
  const auto text = core::read_file(folder_.file(running.id, ".result"), policy_.max_result_bytes);
  const auto document = text ? Json::parse(*text) : tl::unexpected<core::Error>(text.error());
  job->exit_code = exit_code;
  job->ended = now_text();
  job->progress.clear();
  if (document) job->session = (*document)["session"]["id"].text();
  if (!running.excess.empty()) {
    job->state = "failed";
    job->message = "the " + running.excess + " became larger than the server keeps";
    job->hint = "raise max_" + running.excess + " of configs/server.yaml";
  } else if (running.cancelled) {
    job->state = "cancelled";
  } else if (stopping_) {
    job->state = "interrupted";
    job->message = "the server ended while the job ran";
  } else if (document) {
    job->state = "done";  // exit codes 1 and 4 are verdicts, those of `record` the program's
  } else {
    job->state = "failed";
    read_error(core::read_file(folder_.file(running.id, ".log"), policy_.max_log_bytes).value_or(""), *job);
  }
  (void)core::remove_tree(folder_.file(running.id, ".progress"));
  if (job->state == "done") uploads_.forget(job->words);
  store(*job);
  forget_oldest();
}

void StoredJobs::forget_oldest() {
  while (jobs_.size() > policy_.kept_jobs) {
    const auto oldest = std::find_if(jobs_.begin(), jobs_.end(), [](const Job& job) { return job.ended_already(); });
    if (oldest == jobs_.end()) return;
    folder_.remove(oldest->id);
    jobs_.erase(oldest);
  }
}

}  // namespace

core::Result<std::unique_ptr<Jobs>> Jobs::open(ServerPolicy policy, std::string program, const Services& services) {
  AACO_ASSIGN(JobFolder folder, make_job_folder(core::absolute_path(services.paths.sessions)));
  core::FileDescriptor lock(::open(folder.file(".lock", "").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.valid()) return core::fail_errno(errno, folder.path());
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return core::fail(ErrorCode::conflict, "another server runs the jobs of these sessions", "send jobs to that server");
  auto jobs = std::make_unique<StoredJobs>(std::move(policy), std::move(program), services, std::move(folder), std::move(lock));
  AACO_TRY(jobs->recover());
  return jobs;
}

}  // namespace aaco::workflows
