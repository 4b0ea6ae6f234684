#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "collectors/probe/source.h"
#include "collectors/proc/process_tree.h"

namespace aaco::collectors::proc {

// The sources of process.* metrics. They share one tree; entity "tree" is the sum over it, "pid N" one process of it. A
// process that was found after the first sample counts from the reading after it was found.

// Finds new processes and threads; emits process.count, process.threads_count.
class TreeSource final : public probe::Source {
 public:
  explicit TreeSource(std::shared_ptr<ProcessTree> tree) : tree_(std::move(tree)) {}
  [[nodiscard]] std::string name() const override { return "proc.tree"; }
  core::Status open(const SysRoot& root, const Target& target) override;
  void intern(trace::Sink& sink) override;
  void sample(probe::Emitter& out) override;
  void forget() override { tree_->forget(); }

 private:
  std::shared_ptr<ProcessTree> tree_;
  trace::NameId tree_entity_, processes_, threads_;
  trace::Sink* sink_ = nullptr;
};

// CPU time of the tree's processes, ended threads included; in ns on the real machine, by one system call a process.
class CpuUseSource final : public probe::Source {
 public:
  explicit CpuUseSource(std::shared_ptr<ProcessTree> tree) : tree_(std::move(tree)) {}
  [[nodiscard]] std::string name() const override { return "proc.cpu_use"; }
  core::Status open(const SysRoot& root, const Target& target) override;
  void intern(trace::Sink& sink) override;
  void sample(probe::Emitter& out) override;
  void forget() override {
    before_ns_.reset();
    pending_ns_ = pending_seconds_ = 0;
  }

 private:
  std::shared_ptr<ProcessTree> tree_;
  std::optional<std::int64_t> before_ns_;
  trace::NameId tree_entity_, cores_;
  double online_ = 0;                            // CPUs; 0: unknown
  double pending_ns_ = 0, pending_seconds_ = 0;  // of intervals whose rate was impossible: they count with the next ones
};

// Time the tree's threads were runnable while no CPU was free for them.
class RunQueueSource final : public probe::Source {
 public:
  explicit RunQueueSource(std::shared_ptr<ProcessTree> tree) : tree_(std::move(tree)) {}
  [[nodiscard]] std::string name() const override { return "proc.run_queue"; }
  core::Status open(const SysRoot& root, const Target& target) override;
  void intern(trace::Sink& sink) override;
  void sample(probe::Emitter& out) override;
  void forget() override { before_ns_.reset(); }

 private:
  std::shared_ptr<ProcessTree> tree_;
  std::optional<std::int64_t> before_ns_;
  std::int64_t turn_ = 0;
  trace::NameId tree_entity_, wait_;
};

// Resident memory, page faults, CPU time since the start, processes that are stopped or wait for storage at the instant.
class ProcessStatSource final : public probe::Source {
 public:
  explicit ProcessStatSource(std::shared_ptr<ProcessTree> tree) : tree_(std::move(tree)) {}
  [[nodiscard]] std::string name() const override { return "proc.process_stat"; }
  core::Status open(const SysRoot& root, const Target& target) override;
  void intern(trace::Sink& sink) override;
  void sample(probe::Emitter& out) override;
  void forget() override { before_ns_.reset(); }

 private:
  std::shared_ptr<ProcessTree> tree_;
  std::optional<std::int64_t> before_ns_;
  trace::NameId tree_entity_, rss_, minor_, major_, cpu_time_, system_time_, stopped_, disk_sleep_;
};

// Peak memory, context switches, storage I/O.
class ProcessStatusSource final : public probe::Source {
 public:
  explicit ProcessStatusSource(std::shared_ptr<ProcessTree> tree) : tree_(std::move(tree)) {}
  [[nodiscard]] std::string name() const override { return "proc.process_status"; }
  core::Status open(const SysRoot& root, const Target& target) override;
  void intern(trace::Sink& sink) override;
  void sample(probe::Emitter& out) override;
  void forget() override { before_ns_.reset(); }

 private:
  void emit_switches(probe::Emitter& out, std::optional<double> seconds);
  void emit_memory(probe::Emitter& out);
  void emit_io(probe::Emitter& out, std::optional<double> seconds);

  std::shared_ptr<ProcessTree> tree_;
  std::optional<std::int64_t> before_ns_;
  trace::NameId tree_entity_, peak_, swap_, voluntary_, involuntary_, read_, written_;
};

}  // namespace aaco::collectors::proc
