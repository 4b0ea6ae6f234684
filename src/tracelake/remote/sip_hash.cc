#include "tracelake/remote/sip_hash.h"

#include <bit>
#include <cstddef>

namespace aaco::tracelake::remote {
namespace {

struct SipState {
  std::uint64_t v0 = 0x736f6d6570736575ULL, v1 = 0x646f72616e646f6dULL, v2 = 0x6c7967656e657261ULL, v3 = 0x7465646279746573ULL;
  void rounds(int count) {
    for (; count > 0; --count) {
      v0 += v1;
      v1 = std::rotl(v1, 13) ^ v0;
      v0 = std::rotl(v0, 32);
      v2 += v3;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1;
      v1 = std::rotl(v1, 17) ^ v2;
      v2 = std::rotl(v2, 32);
    }
  }
  void take(std::uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
};

}  // namespace

std::uint64_t sip_hash64(std::string_view text) {
  SipState state;
  std::uint64_t word = 0;
  std::size_t at = 0;
  for (const char c : text) {
    word |= std::uint64_t{static_cast<unsigned char>(c)} << (at % 8 * 8);
    if (++at % 8 == 0) {
      state.take(word);
      word = 0;
    }
  }
  state.take(word | std::uint64_t{text.size() & 0xff} << 56);
  state.v2 ^= 0xff;
  state.rounds(4);
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace aaco::tracelake::remote
