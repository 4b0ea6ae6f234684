#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/result.h"
#include "report/live.h"
#include "workflows/services.h"

namespace aaco::workflows {

// Samples the sensors of this machine. One thread at a time.
class MachineWatch {
 public:
  // `root` is where /proc and /sys are; sensors that are not there are left out.
  explicit MachineWatch(const std::string& root = "/");
  MachineWatch(MachineWatch&&) noexcept;
  MachineWatch& operator=(MachineWatch&&) noexcept;
  ~MachineWatch();
  // Reads what is due. Values that need two readings are empty at first.
  const report::LiveMachine& sample();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The sessions that are being made under a root, by what their makers tell (docs/formats/live.md). One thread at a time.
class LiveSessions {
 public:
  explicit LiveSessions(std::string sessions) : root_(std::move(sessions)) {}
  // Reads what was added since the last call. Sessions whose process has gone are left out. Oldest first.
  std::vector<report::LiveSession> read();

  static constexpr std::size_t kMaxBuckets = 480;  // that are kept per session, the newest

 private:
  struct Reading {
    report::LiveSession session;
    std::int64_t offset = 0;
    std::int64_t process_started = 0;
    std::string rest;  // a line that is not whole yet
  };
  std::string root_;
  std::map<std::string, Reading> readings_;  // by file
};

// Processes and their descendants, with what they used since the last look. One thread at a time.
class ProcessWatch {
 public:
  explicit ProcessWatch(std::string root = "/") : root_(std::move(root)) {}
  // Trees of these processes, each parent before its children; at most kMaxProcesses.
  std::vector<report::LiveProcess> look(const std::vector<std::int64_t>& roots);

  static constexpr std::size_t kMaxProcesses = 256;

 private:
  struct Used {
    std::int64_t cpu_ticks = 0, wait_ns = 0, time_ns = 0;
  };
  std::string root_;
  std::map<std::int64_t, Used> before_;
};

// A stored session's telemetry as it happened.
class Replay {
 public:
  static core::Result<Replay> open(const std::string& session, const core::Paths& paths);
  Replay(Replay&&) noexcept;
  Replay& operator=(Replay&&) noexcept;
  ~Replay();
  [[nodiscard]] double length_s() const;
  // The view at this time after the start; times may only grow.
  report::LiveView at(double seconds);

 private:
  struct Impl;
  explicit Replay(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace aaco::workflows
