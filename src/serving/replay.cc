#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/files.h"
#include "core/json.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "serving/prompts.h"

namespace aaco::serving {
namespace {

using core::ErrorCode;
using core::Json;

constexpr std::int64_t kMooncakeBlock = 512;  // tokens per hash id (Mooncake, FAST 2025, trace release)
constexpr std::int64_t kMaxReplayTokens = 2'000'000;

struct Arrival {
  std::int64_t time_ns = 0, prompt_tokens = 0, output_tokens = 0;
  std::vector<std::int64_t> blocks;
  std::string prompt;
};
using Lines = std::vector<std::string_view>;

tl::unexpected<core::Error> bad_trace_line(std::size_t index, std::string_view why) {
  return core::fail(ErrorCode::invalid_input, fmt::format("line {}: {}", index + 1, why));
}

// Days since 1970-01-01 of a date (Hinnant's civil calendar algorithm).
std::int64_t days_of(std::int64_t year, std::int64_t month, std::int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400, in_era = year - era * 400;
  const std::int64_t in_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + in_era * 365 + in_era / 4 - in_era / 100 + in_year - 719468;
}

// "2023-11-16 18:17:03.9799600", with or without an offset from UTC, or seconds; ns.
std::optional<std::int64_t> time_of(std::string_view text) {
  text = core::trim(text);
  if (const auto seconds = core::parse_fixed(text, 9)) return seconds;
  if (text.size() < 19 || text[4] != '-' || text[7] != '-' || text[13] != ':' || text[16] != ':') return std::nullopt;
  const auto year = core::parse_i64(text.substr(0, 4)), month = core::parse_i64(text.substr(5, 2)),
             day = core::parse_i64(text.substr(8, 2));
  const auto hour = core::parse_i64(text.substr(11, 2)), minute = core::parse_i64(text.substr(14, 2));
  std::string_view seconds = text.substr(17);
  if (const std::size_t zone = seconds.find_first_of("+-Zz"); zone != std::string_view::npos) seconds = seconds.substr(0, zone);
  const auto second = core::parse_fixed(seconds, 9);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  if (*month < 1 || *month > 12 || *day < 1 || *day > 31 || *hour > 23 || *minute > 59 || *second < 0 || *second > 60'999'999'999)
    return std::nullopt;
  return ((days_of(*year, *month, *day) * 24 + *hour) * 60 + *minute) * 60'000'000'000 + *second;
}

bool valid(const Arrival& arrival) {
  return arrival.prompt_tokens >= 0 && arrival.output_tokens >= 0 && arrival.prompt_tokens <= kMaxReplayTokens &&
         arrival.output_tokens <= kMaxReplayTokens;
}

// CSV with a header that names the columns.
core::Result<std::vector<Arrival>> parse_csv(const Lines& lines, std::string_view time, std::string_view input,
                                             std::string_view output) {
  const auto header = core::split(lines.front(), ',');
  const auto place = [&](std::string_view name) {
    return static_cast<std::size_t>(
        std::find_if(header.begin(), header.end(), [&](std::string_view field) { return core::trim(field) == name; }) -
        header.begin());
  };
  const std::size_t time_at = place(time), input_at = place(input), output_at = place(output);
  std::vector<Arrival> arrivals;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (core::trim(lines[i]).empty()) continue;
    const auto fields = core::split(lines[i], ',');
    if (fields.size() <= std::max({time_at, input_at, output_at})) return bad_trace_line(i, "columns are missing");
    const auto at = time_of(fields[time_at]);
    const auto prompt = core::parse_i64(fields[input_at]), answer = core::parse_i64(fields[output_at]);
    if (!at) return bad_trace_line(i, fmt::format("invalid time '{}'", fields[time_at]));
    if (!prompt || !answer) return bad_trace_line(i, "invalid number of tokens");
    arrivals.push_back({.time_ns = *at, .prompt_tokens = *prompt, .output_tokens = *answer, .blocks = {}, .prompt = {}});
    if (!valid(arrivals.back())) return bad_trace_line(i, "number of tokens out of range");
  }
  return arrivals;
}

core::Result<std::vector<Arrival>> parse_lines(const Lines& lines) {
  std::vector<Arrival> arrivals;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (core::trim(lines[i]).empty()) continue;
    const auto json = Json::parse(lines[i]);
    if (!json || !json->is_object()) return bad_trace_line(i, "not a JSON object");
    const bool mooncake = json->contains("input_length");
    const auto time = (*json)[mooncake ? "timestamp" : "arrival_s"].as_f64();
    const auto prompt = (*json)[mooncake ? "input_length" : "prompt_tokens"].as_i64();
    const auto answer = (*json)[mooncake ? "output_length" : "output_tokens"].as_i64();
    if (!time || !std::isfinite(*time) || std::abs(*time) > 1e12)
      return bad_trace_line(i, mooncake ? "invalid \"timestamp\"" : "invalid \"arrival_s\"");
    if (!prompt || !answer) return bad_trace_line(i, "the number of tokens is missing");
    Arrival arrival{.time_ns = std::llround(*time * (mooncake ? 1e6 : 1e9) < 9e18 ? *time * (mooncake ? 1e6 : 1e9) : 0),
                    .prompt_tokens = *prompt,
                    .output_tokens = *answer,
                    .blocks = {},
                    .prompt = std::string((*json)["prompt"].text())};
    for (const Json& block : (*json)["hash_ids"].items()) arrival.blocks.push_back(block.as_i64().value_or(0));
    if (!valid(arrival)) return bad_trace_line(i, "number of tokens out of range");
    arrivals.push_back(std::move(arrival));
  }
  return arrivals;
}

core::Result<std::vector<Arrival>> parse_arrivals_of(const Lines& lines) {
  const std::string_view head = lines.front();
  if (head.starts_with('{')) return parse_lines(lines);
  if (head.find("ContextTokens") != std::string_view::npos)
    return parse_csv(lines, "TIMESTAMP", "ContextTokens", "GeneratedTokens");
  if (head.find("Request tokens") != std::string_view::npos)
    return parse_csv(lines, "Timestamp", "Request tokens", "Response tokens");
  return core::fail(ErrorCode::invalid_input, "not a known trace of requests",
                    "supported: Azure LLM CSV, BurstGPT CSV, Mooncake JSONL, AACO JSONL");
}

// Blocks with equal hash ids have equal text.
std::string text_of(const Arrival& arrival, std::uint64_t seed, std::size_t index) {
  if (!arrival.prompt.empty()) return arrival.prompt;
  std::string text;
  std::int64_t left = arrival.prompt_tokens;
  for (const std::int64_t block : arrival.blocks) {
    core::Random random = core::Random(seed).fork(static_cast<std::uint64_t>(block));
    const std::int64_t count = std::min(left, kMooncakeBlock);
    text += random_text(count, random);
    left -= count;
  }
  core::Random random = core::Random(seed ^ 0x5eedULL).fork(index);
  return text + random_text(left, random);
}

}  // namespace

core::Result<std::vector<Prompt>> parse_replay(std::string_view text, std::uint64_t seed) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const Lines lines = core::split_lines(text);
  if (lines.empty()) return core::fail(ErrorCode::invalid_input, "the trace is empty");
  AACO_ASSIGN(auto arrivals, parse_arrivals_of(lines));
  if (arrivals.empty()) return core::fail(ErrorCode::invalid_input, "the trace contains no requests");
  std::stable_sort(arrivals.begin(), arrivals.end(), [](const Arrival& a, const Arrival& b) { return a.time_ns < b.time_ns; });
  std::vector<Prompt> prompts;
  for (const Arrival& arrival : arrivals)
    prompts.push_back({.text = text_of(arrival, seed, prompts.size()),
                       .prompt_tokens = arrival.prompt_tokens,
                       .output_tokens = std::max<std::int64_t>(1, arrival.output_tokens),
                       .offset_ns = arrival.time_ns - arrivals.front().time_ns,
                       .without_output = arrival.output_tokens == 0,
                       .conversation = static_cast<std::int64_t>(prompts.size())});
  return prompts;
}

core::Result<std::vector<Prompt>> read_replay(const std::string& path, std::uint64_t seed) {
  AACO_ASSIGN(const std::string text, core::read_file(path));
  auto prompts = parse_replay(text, seed);
  if (!prompts) return tl::unexpected(std::move(prompts).error().with("reading " + path));
  return prompts;
}

}  // namespace aaco::serving
