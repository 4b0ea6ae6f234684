#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "core/units.h"
#include "workflows/ab_worker.h"
#include "workflows/run_request.h"

namespace aaco::python {

// Reads the options of a call from a JSON object. Each reader leaves its target as it is where the option is missing or null; the
// first problem is kept, and finish() returns it, or that an option is unknown.
class OptionReader {
 public:
  OptionReader(const core::Json& options, std::string call) : options_(options), call_(std::move(call)) {}

  void text(std::string_view name, std::string& to);
  void texts(std::string_view name, std::vector<std::string>& to);  // a text is a list of one
  void flag(std::string_view name, bool& to);
  void number(std::string_view name, std::optional<double>& to);
  void integer(std::string_view name, std::optional<std::int64_t>& to, std::int64_t least);
  // Seconds as a number, or a text such as "500ms". Above zero.
  void time(std::string_view name, std::optional<core::Nanoseconds>& to);
  // 0..1 as a number, or a text such as "5%".
  void ratio(std::string_view name, std::optional<double>& to);
  void sizes(std::string_view name, std::map<std::string, std::int64_t>& to);
  void shapes(std::string_view name, std::map<std::string, std::vector<std::int64_t>>& to);
  void map(std::string_view name, std::map<std::string, std::string>& to);
  void one_of(std::string_view name, std::string& to, const std::vector<std::string>& values);
  void refuse(std::string message, std::string remedy = {});

  core::Status finish();

 private:
  const core::Json& take(std::string_view name);
  void expect(std::string_view name, std::string_view expected);
  const core::Json& options_;
  std::string call_;
  std::set<std::string> known_;
  core::Status problem_;
};

// The options of aaco.run().
core::Result<workflows::RunRequest> run_request(const core::Json& options);
// The same of one side of aaco.ab(), and inject_delay.
core::Result<workflows::AbSide> ab_side(const core::Json& options, const std::string& side);

}  // namespace aaco::python
