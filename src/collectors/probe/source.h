#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collectors/collector.h"
#include "collectors/probe/emitter.h"
#include "core/clock.h"
#include "trace/account.h"

namespace aaco::collectors::probe {

// One file, or one family of files, of a collector, read at a rate of its own.
class Source {
 public:
  virtual ~Source() = default;
  // For accounts: "proc.stat".
  [[nodiscard]] virtual std::string name() const = 0;
  // unsupported or permission where this machine has no such file for us.
  virtual core::Status open(const SysRoot& root, const Target& target) = 0;
  // Interns metric names; called before the first sample.
  virtual void intern(trace::Sink& sink) = 0;
  virtual void sample(Emitter& out) = 0;
  virtual void forget() {}
};

// Sources under one roof, each sampled when its period has passed (0: at every sample). What cannot be opened is left out and
// named in the account's notes. A source whose reading takes long (a driver that asks its firmware) is read less often than
// asked, so that each takes at most 1/50 of the time; the notes say so.
class SourceSet {
 public:
  void add(std::unique_ptr<Source> source, std::int64_t period_ns);
  // Fails where not one source opens; the error is that of the first.
  core::Status open(const SysRoot& root, const Target& target);
  void sample(trace::Sink& sink, const core::Clock& clock);
  void forget();
  void close() { entries_.clear(); }
  [[nodiscard]] const trace::Account& account() const { return account_; }
  void set_name(std::string source) { account_.source = std::move(source); }
  void note(std::string text) { account_.notes.push_back(std::move(text)); }

 private:
  struct Entry {
    std::unique_ptr<Source> source;
    std::int64_t period_ns = 0;
    std::int64_t due_ns = 0;
    std::int64_t cost_ns = 0;  // of a reading, rising slowly so that one preempted reading counts for little
    bool slowed = false;
  };
  [[nodiscard]] std::int64_t next_due(const Entry& entry, std::size_t index, std::int64_t now) const;
  void account_cost(Entry& entry, std::int64_t took_ns);
  std::vector<Entry> entries_;
  trace::Account account_;
  const trace::Sink* interned_for_ = nullptr;
};

}  // namespace aaco::collectors::probe
