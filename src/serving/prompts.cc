#include "serving/prompts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/files.h"
#include "core/json.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::serving {
namespace {

using core::ErrorCode;
using core::Json;

constexpr std::array<std::string_view, 64> kWords = {
    " the", " of",   " and",  " to",    " in",    " is",  " you",  " that",  " it",    " he",   " was",  " for",   " on",
    " are", " as",   " with", " his",   " they",  " at",  " be",   " this",  " have",  " from", " or",   " one",   " had",
    " by",  " word", " but",  " not",   " what",  " all", " were", " we",    " when",  " your", " can",  " said",  " there",
    " use", " an",   " each", " which", " she",   " do",  " how",  " their", " if",    " will", " up",   " other", " about",
    " out", " many", " then", " them",  " these", " so",  " some", " her",   " would", " make", " like", " him"};

tl::unexpected<core::Error> bad_line(std::size_t line, std::string_view why) {
  return core::fail(ErrorCode::invalid_input, fmt::format("line {}: {}", line, why));
}

// Conversations of some exports begin with an answer.
bool is_asked(const Json& turn) {
  const std::string_view from = turn["from"].text();
  return from == "human" || from == "user";
}

core::Result<std::vector<Prompt>> parse_share_gpt(const Json& document) {
  std::vector<Prompt> prompts;
  for (const Json& entry : document.items()) {
    const auto& turns = entry["conversations"].items();
    const auto asked = std::find_if(turns.begin(), turns.end(), [](const Json& turn) { return is_asked(turn); });
    if (asked == turns.end() || asked + 1 == turns.end() || (*asked)["value"].text().empty()) continue;
    Prompt prompt{.text = std::string((*asked)["value"].text()),
                  .prompt_tokens = 0,
                  .output_tokens = {},
                  .offset_ns = {},
                  .conversation = static_cast<std::int64_t>(prompts.size())};
    prompt.prompt_tokens = static_cast<std::int64_t>(core::split_words(prompt.text).size());
    prompt.output_tokens =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(core::split_words((*(asked + 1))["value"].text()).size()));
    prompts.push_back(std::move(prompt));
  }
  if (prompts.empty()) return core::fail(ErrorCode::invalid_input, "no conversation with a first message and an answer");
  return prompts;
}

core::Result<std::vector<Prompt>> parse_prompt_lines(std::string_view text) {
  std::vector<Prompt> prompts;
  std::size_t number = 0;
  for (const std::string_view line : core::split_lines(text)) {
    ++number;
    if (core::trim(line).empty()) continue;
    const auto json = Json::parse(line);
    if (!json) return bad_line(number, "not JSON");
    const Json& prompt = (*json)["prompt"];
    if (!prompt.is_string()) return bad_line(number, "\"prompt\" is missing or not a string");
    Prompt read{.text = std::string(prompt.text()),
                .prompt_tokens = 0,
                .output_tokens = (*json)["output_tokens"].as_i64(),
                .offset_ns = {},
                .conversation = static_cast<std::int64_t>(prompts.size())};
    read.prompt_tokens = static_cast<std::int64_t>(core::split_words(read.text).size());
    if (read.output_tokens && (*read.output_tokens < 1 || *read.output_tokens > kMaxTokens))
      return bad_line(number, "\"output_tokens\" is out of range");
    prompts.push_back(std::move(read));
  }
  if (prompts.empty()) return core::fail(ErrorCode::invalid_input, "the file contains no prompts");
  return prompts;
}

}  // namespace

std::string_view to_string(Api api) { return api == Api::chat ? "chat" : "completions"; }
std::string_view request_path(Api api) { return api == Api::chat ? "/chat/completions" : "/completions"; }

std::int64_t Length::draw(core::Random& random) const {
  double value = first;
  if (kind == Kind::uniform) value = first + std::floor(random.uniform() * (second - first + 1));
  if (kind == Kind::normal) value = first + second * random.normal();
  return std::llround(std::clamp(value, 1.0, static_cast<double>(kMaxTokens)));
}

core::Result<Length> parse_length(std::string_view text) {
  const auto fields = core::split(text, ':');
  const auto bad = core::fail(ErrorCode::invalid_argument, fmt::format("invalid length '{}'", text),
                              "expected N, uniform:LOW:HIGH or normal:MEAN:DEVIATION");
  const bool named = fields.size() == 3;
  if (!named && fields.size() != 1) return bad;
  Length length;
  if (named && fields[0] != "uniform" && fields[0] != "normal") return bad;
  if (named) length.kind = fields[0] == "uniform" ? Length::Kind::uniform : Length::Kind::normal;
  const auto first = core::parse_f64(named ? fields[1] : fields[0]);
  const auto second = named ? core::parse_f64(fields[2]) : std::optional<double>(0);
  if (!first || !second || !(*first >= 1) || !(*second >= 0) || *first > kMaxTokens || *second > kMaxTokens) return bad;
  if (length.kind == Length::Kind::uniform && *second < *first) return bad;
  length.first = *first;
  length.second = *second;
  return length;
}

std::string to_string(const Length& length) {
  switch (length.kind) {
    case Length::Kind::fixed: return fmt::format("{}", length.first);
    case Length::Kind::uniform: return fmt::format("uniform:{}:{}", length.first, length.second);
    case Length::Kind::normal: return fmt::format("normal:{}:{}", length.first, length.second);
  }
  return {};
}

std::string random_text(std::int64_t tokens, core::Random& random) {
  std::string text;
  text.reserve(static_cast<std::size_t>(tokens) * 6);
  for (std::int64_t i = 0; i < tokens; ++i) text += kWords[random.below(kWords.size())];
  return text;
}

core::Result<std::vector<Prompt>> parse_prompts(std::string_view text) {
  if (!core::trim(text.substr(0, 64)).starts_with('[')) return parse_prompt_lines(text);
  AACO_ASSIGN(const Json document, Json::parse(text));
  return parse_share_gpt(document);
}

core::Result<std::vector<Prompt>> read_prompts(const std::string& path) {
  AACO_ASSIGN(const std::string text, core::read_file(path));
  auto prompts = parse_prompts(text);
  if (!prompts) return tl::unexpected(std::move(prompts).error().with("reading " + path));
  return prompts;
}

namespace {

std::string finish_body(Json body, const BodyOptions& options, std::int64_t output_tokens) {
  body.set(options.completion_limit ? "max_completion_tokens" : "max_tokens", output_tokens);
  body.set("stream", true);
  Json stream_options = Json::object({{"include_usage", true}});
  if (options.continuous_usage) stream_options.set("continuous_usage_stats", true);
  if (options.ask_usage) body.set("stream_options", std::move(stream_options));
  body.set("temperature", 0);
  body.set("seed", options.seed);
  if (options.ignore_eos) body.set("ignore_eos", true).set("min_tokens", output_tokens);
  return body.dump(-1);
}

}  // namespace

std::string request_body(const BodyOptions& options, const std::string& prompt, std::int64_t output_tokens) {
  if (options.api == Api::chat) return conversation_body(options, {prompt}, output_tokens);
  return finish_body(Json::object({{"model", options.model}, {"prompt", prompt}}), options, output_tokens);
}

std::string conversation_body(const BodyOptions& options, const std::vector<std::string>& said, std::int64_t output_tokens) {
  Json messages = Json::array();
  for (std::size_t i = 0; i < said.size(); ++i)
    messages.push(Json::object({{"role", i % 2 == 0 ? "user" : "assistant"}, {"content", said[i]}}));
  return finish_body(Json::object({{"model", options.model}, {"messages", std::move(messages)}}), options, output_tokens);
}

}  // namespace aaco::serving
