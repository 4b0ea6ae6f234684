#pragma once

#include <cstdint>
#include <string_view>

namespace aaco::tracelake::remote {

// SipHash-2-4 with a key of zeros: ClickHouse's sipHash64() of a String, by which Distributed tables place telemetry on shards.
// Source: Aumasson and Bernstein, SipHash: a fast short-input PRF, 2012.
std::uint64_t sip_hash64(std::string_view text);

}  // namespace aaco::tracelake::remote
