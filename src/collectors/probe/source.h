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
// named in the account's notes.
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

 private:
  struct Entry {
    std::unique_ptr<Source> source;
    std::int64_t period_ns = 0;
    std::int64_t due_ns = 0;
  };
  [[nodiscard]] std::int64_t next_due(const Entry& entry, std::size_t index, std::int64_t now) const;
  std::vector<Entry> entries_;
  trace::Account account_;
  const trace::Sink* interned_for_ = nullptr;
};

}  // namespace aaco::collectors::probe
