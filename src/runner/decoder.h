#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/result.h"
#include "graph/graph.h"
#include "runner/backend.h"

// Language models with a key/value cache: what their inputs mean, and how tokens are fed to them.
namespace aaco::runner::llm {

// How a decoder takes its cache and tells where its tokens are. Empty names: the model has no such input.
struct DecoderLayout {
  // Optimum's exports concatenate past and present; ONNX Runtime GenAI's use GroupQueryAttention, whose past and present may be
  // one buffer.
  enum class Family { optimum, genai } family = Family::optimum;
  struct Pair {
    std::string past, present;
    std::int64_t head_size = 0;
  };
  TensorInfo ids;
  TensorInfo mask;          // [batch, past + new], ones
  TensorInfo positions;     // [batch, new]
  TensorInfo cache_branch;  // use_cache_branch: whether there is a past
  TensorInfo lengths;       // seqlens_k: tokens of each sequence with the new ones, less 1
  TensorInfo total_length;  // total_sequence_length: past + new
  std::string logits;
  std::vector<Pair> cache;  // keys and values of each layer
  std::int64_t layers = 0, kv_heads = 0;
  ElementType cache_type = ElementType::unknown;
  std::optional<std::int64_t> batch;  // where the model fixes it
  std::optional<std::int64_t>
      max_positions;  // rows of its table of positions; empty: it computes them, or its graph does not tell
  std::optional<std::int64_t> vocabulary;

  // Keys and values of so many tokens of each sequence.
  [[nodiscard]] std::int64_t cache_bytes(std::int64_t sequences, std::int64_t tokens) const;
};
std::string_view to_string(DecoderLayout::Family family);

// From the graph's inputs and outputs: past and present in pairs of [batch, heads, tokens, size]. Fails with unsupported, saying
// why, for what is no decoder, has no cache, or has inputs of unknown meaning.
core::Result<DecoderLayout> find_decoder_layout(const graph::Graph& graph);

// The shapes of all inputs for `length` new tokens after `past`.
std::vector<TensorInfo> decoder_inputs(const DecoderLayout& layout, std::int64_t batch, std::int64_t past, std::int64_t length);

// One call: `start` and `end` are around all of it, from known tokens to the next ones; `run` is the runtime's part.
struct DecoderStep {
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t run_ns = 0;
  std::int64_t past = 0, length = 0;  // tokens of each sequence in the cache before, and fed
};

// Feeds sequences of equal length to an opened decoder. One thread.
class Decoder {
 public:
  struct Options {
    std::int64_t batch = 1;
    std::int64_t capacity = 0;  // tokens of each sequence at most
    bool in_place = false;      // one buffer of `capacity` tokens for past and present (Family::genai, host memory)
    std::uint64_t seed = 1;     // of tokens that cannot be picked from the logits
  };
  Decoder(Backend& backend, DecoderLayout layout, Options options);

  // Forgets all tokens. Before the first feed(), and for new sequences.
  void restart();
  // Feeds [batch, length] token ids, sequence by sequence, and picks the next token of each: that of the highest logit, where
  // the host can read the logits.
  core::Result<DecoderStep> feed(std::span<const std::int64_t> tokens);
  [[nodiscard]] const std::vector<std::int64_t>& next() const { return next_; }
  [[nodiscard]] std::int64_t past() const { return past_; }
  // Bytes of the present tensors as the runtime holds them.
  core::Result<std::int64_t> cache_bytes();
  // Logits of the last position of sequence `index`; unsupported where the host cannot read them.
  core::Result<std::vector<float>> last_logits(std::int64_t index);

 private:
  std::vector<TensorData> inputs_for(std::span<const std::int64_t> tokens) const;
  core::Status pick();

  Backend& backend_;
  DecoderLayout layout_;
  Options options_;
  std::vector<CarriedValue> carried_;
  std::vector<std::int64_t> next_;
  std::int64_t past_ = 0;
  bool bound_ = false;  // once: buffers that are in place stay
  core::Random random_;
};

}  // namespace aaco::runner::llm
