#include "workflows/llm/server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using serving::Outcome;

constexpr std::int64_t kListTimeoutNs = 10'000'000'000;
constexpr int kTries = 3;  // of the first request, where its failure may be one of many

core::Error refusal(Outcome outcome, int status, std::string message) {
  core::Error error{ErrorCode::io, std::move(message), {}, {}};
  if (outcome == Outcome::timeout) error.code = ErrorCode::timed_out;
  if (status == 401 || status == 403)
    error.remedy = "check the API key: --api-key-file or AACO_API_KEY";
  else if (status == 404)
    error.remedy = "check the path of --url (most servers: /v1) and --model";
  else if (status >= 300 && status < 400)
    error.remedy = "use the address it redirects to as --url: a load does not follow redirections";
  else if (outcome == Outcome::protocol && error.message.find("returned application/json") != std::string::npos)
    error.remedy = "the server does not stream ('stream': true): check its options, or measure it with streaming on";
  else if (outcome == Outcome::protocol)
    error.remedy = "check that --url is the address of an OpenAI-compatible API (most servers: http://HOST:PORT/v1)";
  else if (outcome == Outcome::tls)
    error.remedy = "check that the server speaks TLS and that its certificate is valid; --ca-file adds a certificate authority";
  else if (outcome == Outcome::timeout)
    error.remedy = "check the server's log, or raise --timeout";
  else if (status == 429)
    error.remedy = "the server limits the request rate: wait, or use --retries";
  else
    error.remedy = "check the server's log";
  return error;
}

// One of many requests may fail like this; the load counts them.
bool may_pass(const serving::RequestRecord& record) {
  return record.outcome == Outcome::http_429 || record.outcome == Outcome::http_5xx || record.outcome == Outcome::stream_error ||
         record.outcome == Outcome::truncated || record.outcome == Outcome::reset;
}

bool may_not_know_an_option(const serving::RequestRecord& record) {
  return record.http_status == 400 || record.http_status == 422;
}

bool wants_completion_limit(const serving::RequestRecord& record, const LlmPlan& plan) {
  return may_not_know_an_option(record) && !plan.body.completion_limit && plan.body.api == serving::Api::chat &&
         record.detail.find("max_completion_tokens") != std::string::npos;
}

core::Result<serving::RequestRecord> first_answer(serving::Client& client, const LlmPlan& plan) {
  const LlmLevel one{.name = "probe", .concurrency = 1, .offsets_ns = {}, .requests = 1, .duration_ns = {}};
  serving::RequestRecord record;
  for (int tries = 0; tries < kTries; ++tries) {
    LlmWork work(plan, one, UINT64_MAX);
    AACO_ASSIGN(auto outcome, client.run({.concurrency = 1}, work));
    record = std::move(outcome.requests.at(0));
    if (!may_pass(record)) break;
  }
  return record;
}

// The inode of the socket that listens on the port, from a table of /proc/net.
std::optional<std::string> listening_inode(const std::string& table, std::uint16_t port) {
  const auto text = core::read_file(table);
  if (!text) return std::nullopt;
  const std::string suffix = fmt::format(":{:04X}", port);
  for (const std::string_view line : core::split_lines(*text)) {
    const auto words = core::split_words(line);
    if (words.size() > 9 && words[1].ends_with(suffix) && words[3] == "0A") return std::string(words[9]);
  }
  return std::nullopt;
}

bool is_local(const std::string& host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }

}  // namespace

core::Result<std::string> first_model(const serving::Client& client, const serving::Target& target, std::int64_t timeout_ns) {
  const std::string url = target.url("/models");
  AACO_ASSIGN(const serving::ModelList list, client.models(std::min(kListTimeoutNs, timeout_ns)));
  if (!list.names.empty()) return list.names.front();
  const std::string path = "check that --url ends with the path of the API (most servers: /v1), or name the model with --model";
  if (list.outcome == Outcome::ok) return core::fail(ErrorCode::invalid_input, "the server lists no model at " + url, path);
  core::Error error =
      refusal(list.outcome, list.http_status.value_or(0), "cannot list the models at " + url + ": " + list.detail);
  if (list.outcome == Outcome::protocol || list.http_status == 404) error.remedy = path;
  if (list.outcome == Outcome::timeout) error.remedy = "check the server's log, raise --timeout, or name the model with --model";
  return tl::unexpected(std::move(error));
}

core::Result<Probed> probe(serving::Client& client, LlmPlan& plan) {
  // What servers of this API may not know, one after the other and both.
  struct Options {
    bool length_control, usage;
  };
  std::vector<Options> tries = {{true, true}, {false, true}, {true, false}, {false, false}};
  if (!plan.body.ignore_eos) tries = {{false, true}, {false, false}};
  std::optional<core::Error> refused;
  for (const Options& options : tries) {
    plan.body.ignore_eos = options.length_control;
    plan.body.ask_usage = options.usage;
    AACO_ASSIGN(serving::RequestRecord record, first_answer(client, plan));
    if (wants_completion_limit(record, plan)) {
      plan.body.completion_limit = true;
      AACO_ASSIGN(record, first_answer(client, plan));
    }
    if (record.outcome == Outcome::ok || record.outcome == Outcome::cancelled)
      return Probed{.no_length_control = tries.front().length_control && !options.length_control,
                    .no_usage_option = !options.usage,
                    .completion_limit = plan.body.completion_limit,
                    .counts_tokens = record.usage.output_tokens.has_value()};
    refused = refusal(record.outcome, record.http_status.value_or(0), "the first request failed: " + record.detail);
    if (!may_not_know_an_option(record)) break;
  }
  return tl::unexpected(*std::move(refused));
}

std::optional<std::int64_t> server_process(const serving::Target& target, const std::string& proc) {
  if (!is_local(target.server.host) || target.proxy) return std::nullopt;
  auto inode = listening_inode(proc + "/net/tcp", target.server.port);
  if (!inode) inode = listening_inode(proc + "/net/tcp6", target.server.port);
  const auto entries = core::list_directory(proc);
  if (!inode || !entries) return std::nullopt;
  const std::string wanted = "socket:[" + *inode + "]";
  for (const std::string& entry : *entries) {
    const auto process = core::parse_i64(entry);
    if (!process) continue;
    const std::string folder = proc + "/" + entry + "/fd";
    const auto files = core::list_directory(folder);
    if (!files) continue;
    for (const std::string& file : *files) {
      std::array<char, 128> link{};
      const ssize_t size = ::readlink((folder + "/" + file).c_str(), link.data(), link.size());
      if (size > 0 && wanted == std::string_view(link.data(), static_cast<std::size_t>(size))) return process;
    }
  }
  return std::nullopt;
}

}  // namespace aaco::workflows
