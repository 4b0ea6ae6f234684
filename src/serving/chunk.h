#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace aaco::serving {

enum class ChunkKind : std::uint8_t { role, content, reasoning, tool_call, usage, error, done, other };
std::string_view to_string(ChunkKind kind);
// Whether it carries output of the model: content, reasoning or a tool call's argument.
inline bool is_output(ChunkKind kind) {
  return kind == ChunkKind::content || kind == ChunkKind::reasoning || kind == ChunkKind::tool_call;
}

inline constexpr std::string_view kDone = "[DONE]";  // the data of the last event

// What the server says about the whole request so far.
struct Usage {
  std::optional<std::int64_t> prompt_tokens, output_tokens, cached_tokens;
  std::optional<std::int64_t> reasoning_tokens;  // of output_tokens, sent or not
  bool operator==(const Usage&) const = default;
};

// What an event of a streamed answer says. A role-only or empty delta is `role`: it is no token.
struct Chunk {
  ChunkKind kind = ChunkKind::other;
  std::int64_t bytes = 0;  // of content
  std::string text;        // the content, where texts are kept
  std::string finish_reason;
  std::optional<Usage> usage;  // with content: continuous usage
  std::string error;           // of kind error
  std::optional<std::int64_t> error_status;
  std::optional<std::int64_t> server_prompt_ns, server_decode_ns;  // llama.cpp's `timings`
};

// Reads the events of OpenAI-compatible streams, of both chat and text completions. Reused: it keeps its memory.
class ChunkReader {
 public:
  explicit ChunkReader(bool keep_text = false);
  ChunkReader(ChunkReader&&) noexcept;
  ~ChunkReader();
  // `event` is the event's name ("error" is one of kind error whatever its data), `data` its data. The chunk is valid until the
  // next call. NaN, infinities and halves of surrogate pairs, which some servers write, are read as null and U+FFFD. Fails with
  // invalid_input on other data that is not a JSON object.
  core::Result<const Chunk*> read(std::string_view event, std::string_view data);
  // The usage and content of a response that is one JSON document instead of a stream.
  core::Result<const Chunk*> read_document(std::string_view document) { return read({}, document); }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The message of an error document: {"error": {"message"}}, {"error": "..."}, {"message"}, {"detail"}; empty otherwise.
std::string error_message(std::string_view document);

}  // namespace aaco::serving
