#pragma once

#include <memory>
#include <string>
#include <utility>

#include "collectors/probe/source.h"

namespace aaco::collectors::probe {

// A collector that is a set of sources: what is left to it is to say what it measures and to add its sources in open().
class SourcesCollector : public Collector {
 public:
  void sample(trace::Sink& sink) override { sources_.sample(sink, *clock_); }
  void forget() override { sources_.forget(); }
  void close() override { sources_.close(); }
  [[nodiscard]] trace::Account account() const override { return sources_.account(); }

 protected:
  // `name` is the source of its account: "proc".
  SourcesCollector(std::string name, std::unique_ptr<core::Clock> clock) : clock_(std::move(clock)) {
    sources_.set_name(std::move(name));
  }
  SourceSet& sources() { return sources_; }

 private:
  std::unique_ptr<core::Clock> clock_;
  SourceSet sources_;
};

}  // namespace aaco::collectors::probe
