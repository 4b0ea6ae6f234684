#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "importers/xla/rows.h"
#include "trace/account.h"

namespace aaco::importers::xplane {

// One XPlane. Field numbers are those of tsl/profiler/protobuf/xplane.proto, in plane.cc.
class Plane {
 public:
  // Reads names; `text` must outlive the plane.
  explicit Plane(std::string_view text);
  [[nodiscard]] std::string_view name() const { return name_; }
  // False: the text ended inside a field, and what came before is used.
  [[nodiscard]] bool whole() const { return whole_; }
  [[nodiscard]] std::int64_t events() const { return events_; }
  // Events as rows.
  void read(xla::Rows& rows, trace::Account& account);

 private:
  struct Statistic {
    std::string_view name, text;
    std::uint64_t value = 0;
  };
  void read_line(std::string_view text, xla::Rows& rows, trace::Account& account);
  bool read_event(std::string_view text, std::int64_t line_start_ns, xla::Event& event, const char*& problem) const;
  [[nodiscard]] Statistic statistic(std::string_view text) const;
  void apply(const Statistic& statistic, xla::Event& event) const;

  std::string_view text_, name_;
  std::unordered_map<std::int64_t, std::string_view> event_names_, statistic_names_;
  std::int64_t events_ = 0;
  bool whole_ = true;
};

}  // namespace aaco::importers::xplane
