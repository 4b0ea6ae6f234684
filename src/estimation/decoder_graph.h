#pragma once

#include <cstdint>
#include <string>

#include "core/result.h"
#include "estimation/decoder.h"
#include "graph/graph.h"

// Decoder-only language models in graphs of any file: written out operator by operator, with fused attention, as PyTorch exports.
namespace aaco::estimation {

// What one run of the graph does.
struct DecoderStep {
  std::int64_t batch = 1, tokens = 1, past = 0;  // tokens: new ones of each sequence; past: cached ones
  graph::ElementType activations = graph::ElementType::float16, cache = graph::ElementType::float16;
  bool operator==(const DecoderStep&) const = default;
};
struct RecognisedDecoder {
  DecoderArchitecture model;
  DecoderStep step;
};

// `bound`: sizes bound and shapes inferred (graph/load.h). Fails with unsupported, saying what of a decoder is missing or is not
// recognised: token ids, scores of the vocabulary, causal attention, layers that are alike, products of known roles.
core::Result<RecognisedDecoder> recognise_decoder(const graph::Graph& bound, const std::string& name);

// The same step as serving stacks run it: Q, K and V in one product, attention on a cache that is written in place, grouped
// queries shared, residuals added in the norms, gate and up in one product, scores of each sequence's last token only. Sizes are
// fixed and shapes known; weights have types and no data.
graph::Graph served_step(const RecognisedDecoder& decoder);

}  // namespace aaco::estimation
