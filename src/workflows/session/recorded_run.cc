#include "workflows/recorded_run.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/files.h"
#include "core/hash.h"
#include "core/strings.h"
#include "hardware/secrets.h"

namespace aaco::workflows {
namespace {

using core::Json;

// Programs that run another one with its arguments.
struct Wrapper {
  std::string_view name;
  std::string_view valued;  // letters of options whose value is the next word
  int operands = 0;         // words before the program
};
constexpr std::array<Wrapper, 15> kWrappers = {{{"env", "uCS", 0},
                                                {"nice", "n", 0},
                                                {"nohup", "", 0},
                                                {"setsid", "", 0},
                                                {"time", "fo", 0},
                                                {"timeout", "ks", 1},
                                                {"taskset", "", 1},
                                                {"chrt", "TPD", 1},
                                                {"ionice", "cn", 0},
                                                {"numactl", "CNmip", 0},
                                                {"stdbuf", "ioe", 0},
                                                {"setarch", "", 1},
                                                {"strace", "abeEIOopPsSuUX", 0},
                                                {"ltrace", "aAeFlnopsuwxX", 0},
                                                {"catchsegv", "", 0}}};

constexpr std::size_t kMaxCommand = 160, kCommandDigits = 8;  // longer ones are told apart by a hash

const Wrapper* wrapper_of(std::string_view name) {
  const auto found = std::find_if(kWrappers.begin(), kWrappers.end(), [&](const Wrapper& one) { return one.name == name; });
  return found == kWrappers.end() ? nullptr : &*found;
}

// Index of the word that the wrapper at `at` runs; the number of words: none.
std::size_t wrapped(const std::vector<std::string>& words, std::size_t at, const Wrapper& wrapper) {
  int operands = wrapper.operands;
  for (++at; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "--") continue;
    if (word.size() > 1 && word[0] == '-') {
      if (word.size() == 2 && wrapper.valued.find(word[1]) != std::string_view::npos) ++at;
    } else if (wrapper.name == "env" && word.find('=') != std::string::npos) {
      continue;
    } else if (operands-- <= 0) {
      return at;
    }
  }
  return words.size();
}

constexpr std::array<std::string_view, 3> kTemporary = {"/tmp/", "/var/tmp/", "/dev/shm/"};
constexpr std::string_view kPathEnds = " \t\n:,;\"'=", kTmp = "(tmp)";

// "tmpab12x9", "tmp.Xy12AbCdEf", as mkstemp, mktemp and Python's tempfile name them.
bool is_generated(std::string_view name) {
  constexpr std::size_t kShortest = 9;
  return name.starts_with("tmp") && name.size() >= kShortest && name.find('/') == std::string_view::npos;
}

std::string without_temporary(std::string_view word) {
  std::string out;
  for (std::size_t i = 0; i < word.size();) {
    const bool may_begin = i == 0 || kPathEnds.find(word[i - 1]) != std::string_view::npos;
    const auto prefix = std::find_if(kTemporary.begin(), kTemporary.end(),
                                     [&](std::string_view one) { return may_begin && word.substr(i).starts_with(one); });
    if (prefix == kTemporary.end()) {
      out += word[i++];
      continue;
    }
    const std::size_t end = std::min(word.find_first_of(kPathEnds, i), word.size());
    const std::string_view path = word.substr(i, end - i);
    const std::string_view base = path.substr(path.rfind('/') + 1);
    out += kTmp;
    if (!base.empty() && !is_generated(base)) out += "/" + std::string(base);
    i = end;
  }
  return out;
}

// What a process observed by its id runs is in its own member.
std::vector<std::string> command_of(const Json& request) {
  std::vector<std::string> words;
  const bool given = !request["command"].items().empty();
  for (const Json& word : request[given ? "command" : "process_command"].items()) words.emplace_back(word.text());
  return words;
}

// Only requests of recordings have this member.
bool is_recording(const Json& request) { return request["hook_libraries"].is_bool(); }

}  // namespace

std::string program_of(const std::vector<std::string>& command) {
  if (command.empty()) return {};
  std::size_t at = 0;
  while (const Wrapper* wrapper = wrapper_of(core::base_name(command[at]))) {
    const std::size_t inner = wrapped(command, at, *wrapper);
    if (inner >= command.size()) break;
    at = inner;
  }
  return core::base_name(command[at]);
}

std::string comparable_command(const std::vector<std::string>& command) {
  std::vector<std::string> words = hardware::without_secrets(command);
  for (std::string& word : words) word = without_temporary(word);
  std::string text = core::join(words, " ");
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
  if (text.size() <= kMaxCommand) return text;
  core::Sha256 hash;
  hash.add(text);
  std::size_t end = kMaxCommand;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // no part of a UTF-8 character
  return text.substr(0, end) + "... (" + hash.finish_hex().substr(0, kCommandDigits) + ")";
}

void add_command_facts(const Json& request, hardware::Fingerprint& fingerprint) {
  if (!is_recording(request)) return;
  const auto words = command_of(request);
  if (words.empty()) return;
  auto facts = fingerprint.facts;
  facts.push_back({"program", program_of(words)});
  facts.push_back({"command", comparable_command(words)});
  fingerprint = hardware::make_fingerprint(std::move(facts));
}

std::string why_no_run_time(const trace::SessionManifest& manifest) {
  if (manifest.kind != "record") return {};
  if (manifest.request["command"].items().empty()) return "it observed a running process (--pid)";
  if (manifest.state != "complete") return "it was interrupted";
  if (std::any_of(manifest.warnings.begin(), manifest.warnings.end(),
                  [](const auto& one) { return one.id == "record.command_ended"; }))
    return "--duration ended its command";
  return manifest.outcome.wall_ns.value_or(0) > 0 ? "" : "its duration was not stored";
}

std::optional<double> run_time_ns(const trace::SessionManifest& manifest) {
  if (manifest.kind != "record" || !why_no_run_time(manifest).empty()) return std::nullopt;
  return static_cast<double>(*manifest.outcome.wall_ns);
}

}  // namespace aaco::workflows
