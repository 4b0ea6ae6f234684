#include "serving/chunk.h"

#include <simdjson.h>

#include <array>
#include <cmath>

#include "core/json.h"
#include "core/strings.h"
#include "serving/mended_json.h"

namespace aaco::serving {
namespace {

using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::array<std::string_view, 8> kKindNames = {"role",  "content", "reasoning", "tool_call",
                                                        "usage", "error",   "done",      "other"};

std::string_view text_of(const element& parent, std::string_view key) {
  std::string_view text;
  return parent.at_key(key).get(text) == simdjson::SUCCESS ? text : std::string_view();
}

std::optional<std::int64_t> count_of(const element& parent, std::string_view key) {
  std::int64_t value = 0;
  if (parent.at_key(key).get(value) != simdjson::SUCCESS || value < 0) return std::nullopt;
  return value;
}

std::optional<std::int64_t> milliseconds_of(const element& parent, std::string_view key) {
  double value = 0;
  if (parent.at_key(key).get(value) != simdjson::SUCCESS || !(value >= 0) || value > 1e12) return std::nullopt;
  return std::llround(value * 1e6);
}

std::optional<Usage> usage_of(const element& document) {
  element usage;
  if (document.at_key("usage").get(usage) != simdjson::SUCCESS || !usage.is_object()) return std::nullopt;
  Usage read{.prompt_tokens = count_of(usage, "prompt_tokens"),
             .output_tokens = count_of(usage, "completion_tokens"),
             .cached_tokens = {},
             .reasoning_tokens = {}};
  element details;
  if (usage.at_key("prompt_tokens_details").get(details) == simdjson::SUCCESS && details.is_object())
    read.cached_tokens = count_of(details, "cached_tokens");
  if (usage.at_key("completion_tokens_details").get(details) == simdjson::SUCCESS && details.is_object())
    read.reasoning_tokens = count_of(details, "reasoning_tokens");
  return read;
}

std::string message_of(const element& error) {
  std::string_view text;
  if (error.get(text) == simdjson::SUCCESS) return std::string(text);
  if (!error.is_object()) return {};
  return std::string(text_of(error, "message"));
}

// The arguments of the tool calls of a delta; their ids and names are no output that a user sees.
std::int64_t tool_bytes(const element& delta) {
  simdjson::dom::array calls;
  std::int64_t bytes = 0;
  if (delta.at_key("tool_calls").get(calls) == simdjson::SUCCESS)
    for (const element one : calls) {
      element function;
      if (one.is_object() && one.at_key("function").get(function) == simdjson::SUCCESS && function.is_object())
        bytes += static_cast<std::int64_t>(text_of(function, "arguments").size());
    }
  element call;  // before tool calls
  if (delta.at_key("function_call").get(call) == simdjson::SUCCESS && call.is_object())
    bytes += static_cast<std::int64_t>(text_of(call, "arguments").size());
  return bytes;
}

}  // namespace

std::string_view to_string(ChunkKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

struct ChunkReader::State {
  simdjson::dom::parser parser;
  std::string padded;
  Chunk chunk;
  bool keep_text = false;

  void take_output(ChunkKind kind, std::string_view text) {
    if (text.empty()) return;
    if (!is_output(chunk.kind)) chunk.kind = kind;
    chunk.bytes += static_cast<std::int64_t>(text.size());
    if (keep_text) chunk.text += text;
  }
  void take_content(const element& delta);
  void take_choice(const element& choice);
  void take(const element& document);
};

// A text, or a list of parts: {"text"}, or {"thinking"} of a text or of parts.
void ChunkReader::State::take_content(const element& delta) {
  take_output(ChunkKind::content, text_of(delta, "content"));
  simdjson::dom::array parts, thoughts;
  if (delta.at_key("content").get(parts) != simdjson::SUCCESS) return;
  for (const element part : parts) {
    if (!part.is_object()) continue;
    take_output(ChunkKind::content, text_of(part, "text"));
    take_output(ChunkKind::reasoning, text_of(part, "thinking"));
    if (part.at_key("thinking").get(thoughts) != simdjson::SUCCESS) continue;
    for (const element thought : thoughts)
      if (thought.is_object()) take_output(ChunkKind::reasoning, text_of(thought, "text"));
  }
}

void ChunkReader::State::take_choice(const element& choice) {
  if (!choice.is_object()) return;
  if (const auto reason = text_of(choice, "finish_reason"); !reason.empty()) chunk.finish_reason = reason;
  take_output(ChunkKind::content, text_of(choice, "text"));
  for (const std::string_view key : {"delta", "message"}) {
    element delta;
    if (choice.at_key(key).get(delta) != simdjson::SUCCESS || !delta.is_object()) continue;
    if (chunk.kind == ChunkKind::other) chunk.kind = ChunkKind::role;
    take_output(ChunkKind::reasoning, text_of(delta, "reasoning_content"));
    take_output(ChunkKind::reasoning, text_of(delta, "reasoning"));
    take_content(delta);
    take_output(ChunkKind::content, text_of(delta, "refusal"));
    if (const std::int64_t bytes = tool_bytes(delta); bytes > 0) {
      if (!is_output(chunk.kind)) chunk.kind = ChunkKind::tool_call;
      chunk.bytes += bytes;
    }
  }
}

void ChunkReader::State::take(const element& document) {
  element error;
  if (document.at_key("error").get(error) == simdjson::SUCCESS && !error.is_null()) {
    chunk.kind = ChunkKind::error;
    chunk.error = message_of(error);
    if (error.is_object()) chunk.error_status = count_of(error, "code");
    return;
  }
  if (text_of(document, "object") == "error") {  // without an "error" around it
    chunk.kind = ChunkKind::error;
    chunk.error = text_of(document, "message");
    chunk.error_status = count_of(document, "code");
    return;
  }
  simdjson::dom::array choices;
  if (document.at_key("choices").get(choices) == simdjson::SUCCESS)
    for (const element choice : choices) take_choice(choice);
  chunk.usage = usage_of(document);
  if (chunk.usage && !is_output(chunk.kind) && chunk.finish_reason.empty()) chunk.kind = ChunkKind::usage;
  element timings;
  if (document.at_key("timings").get(timings) == simdjson::SUCCESS && timings.is_object()) {
    chunk.server_prompt_ns = milliseconds_of(timings, "prompt_ms");
    chunk.server_decode_ns = milliseconds_of(timings, "predicted_ms");
  }
}

ChunkReader::ChunkReader(bool keep_text) : state_(std::make_unique<State>()) { state_->keep_text = keep_text; }
ChunkReader::ChunkReader(ChunkReader&&) noexcept = default;
ChunkReader::~ChunkReader() = default;

core::Result<const Chunk*> ChunkReader::read(std::string_view event, std::string_view data) {
  State& state = *state_;
  state.chunk = {};
  if (core::trim(data) == kDone) {
    state.chunk.kind = ChunkKind::done;
    return &state.chunk;
  }
  state.padded.reserve(data.size() + simdjson::SIMDJSON_PADDING);
  state.padded = data;
  element document;
  auto failure = state.parser.parse(state.padded.data(), state.padded.size(), false).get(document);
  if (failure != simdjson::SUCCESS) {
    state.padded = mended_json(data);
    state.padded.reserve(state.padded.size() + simdjson::SIMDJSON_PADDING);
    failure = state.parser.parse(state.padded.data(), state.padded.size(), false).get(document);
  }
  if (event == "error" && (failure != simdjson::SUCCESS || !document.is_object())) {
    state.chunk.kind = ChunkKind::error;
    state.chunk.error = std::string(data.substr(0, 200));
    return &state.chunk;
  }
  if (failure != simdjson::SUCCESS || !document.is_object())
    return core::fail(core::ErrorCode::invalid_input,
                      "an event of the stream is not a JSON object: '" + std::string(data.substr(0, 80)) + "'");
  state.take(document);
  if (event == "error" && state.chunk.kind != ChunkKind::error) {
    state.chunk.kind = ChunkKind::error;
    state.chunk.error = text_of(document, "message");
  }
  return &state.chunk;
}

std::string error_message(std::string_view document) {
  const auto parsed = core::Json::parse(document);
  if (!parsed || !parsed->is_object()) return {};
  const core::Json& error = (*parsed)["error"];
  for (const core::Json* json : {&error["message"], &error, &(*parsed)["message"], &(*parsed)["detail"]})
    if (json->is_string()) return std::string(json->text());
  return {};
}

}  // namespace aaco::serving
