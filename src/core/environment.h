#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace aaco::core {

// The environment variables as a value; tests make their own.
class Environment {
 public:
  Environment() = default;
  explicit Environment(std::map<std::string, std::string> variables) : variables_(std::move(variables)) {}
  static Environment of_process();

  // The value, or empty where the variable is unset or empty.
  [[nodiscard]] std::optional<std::string> get(std::string_view name) const;
  [[nodiscard]] const std::map<std::string, std::string>& all() const { return variables_; }
  void set(std::string name, std::string value) { variables_[std::move(name)] = std::move(value); }

 private:
  std::map<std::string, std::string> variables_;
};

// Where AACO's own files lie.
struct Paths {
  std::string share;  // data/, configs/ and web/ that came with the program
  // Fits to measurements of others: AACO_CALIBRATIONS, or data/calibration below share. A folder that does not exist: none.
  std::string calibrations;
  std::string cache;     // ${XDG_CACHE_HOME:-~/.cache}/aaco
  std::string registry;  // AACO_REGISTRY, or ${XDG_DATA_HOME:-~/.local/share}/aaco: what the user measured
  std::string sessions;  // AACO_SESSIONS, or ./sessions: the root of the lake
  std::string config;    // ${XDG_CONFIG_HOME:-~/.config}/aaco: the user's models.yaml, backends.yaml

  // `executable` is the program's own path (/proc/self/exe): share is ../share/aaco beside it, or AACO_SHARE.
  static Paths find(const Environment& environment, const std::string& executable);
};

std::string executable_path();

}  // namespace aaco::core
