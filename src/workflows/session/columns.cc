#include "workflows/columns.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace aaco::workflows {
namespace {

// Interrupts a lake's query once `stop` is set; repeatedly, for an interrupt between two statements has no effect.
class StopWatch {
 public:
  StopWatch(tracelake::ColumnLake& lake, const std::atomic<bool>* stop) {
    if (stop != nullptr) thread_ = std::thread([this, &lake, stop] { watch(lake, *stop); });
  }
  StopWatch(const StopWatch&) = delete;
  StopWatch& operator=(const StopWatch&) = delete;
  ~StopWatch() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void watch(tracelake::ColumnLake& lake, const std::atomic<bool>& stop) {
    constexpr std::chrono::milliseconds kPeriod{20};
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kPeriod, [this] { return done_; }))
      if (stop) lake.interrupt();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

}  // namespace

core::Result<tracelake::Columns> query_columns(const std::string& sql, const core::Paths& paths, const std::atomic<bool>* stop) {
  AACO_ASSIGN(const auto lake, tracelake::ColumnLake::open(paths.sessions));
  const StopWatch watch(*lake, stop);
  return lake->columns(sql);
}

std::vector<std::string> session_tables(const std::string& session_path) { return tracelake::tables_of(session_path); }

core::Result<tracelake::Columns> session_columns(const std::string& session_path, const std::string& table) {
  return tracelake::read_columns(session_path, table);
}

}  // namespace aaco::workflows
