#include <cctype>

#include "analytics/fingerprint.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::analytics::fingerprint {
namespace {

using core::Json;

// "128x64x16" as [128, 64, 16]; null for anything else.
Json dimensions(std::string_view text) {
  Json list = Json::array();
  for (const std::string_view part : core::split(text, 'x')) {
    const auto value = core::parse_i64(part);
    if (!value || *value < 0) return {};
    list.push(*value);
  }
  return list.items().size() < 2 ? Json() : list;
}

// Tensile's letters for data types: Tensile's Common/DataType table.
std::string_view type_of(char letter) {
  switch (letter) {
    case 'S': return "f32";
    case 'D': return "f64";
    case 'H': return "f16";
    case 'B': return "bf16";
    case 'C': return "c32";
    case 'Z': return "c64";
    case 'I': return "i32";
    case 'X': return "tf32";
    default: return {};
  }
}

// One type from the front of `text`: two letters first ("I8", "F8", "B8").
std::string_view take_type(std::string_view& text) {
  for (const auto& [letters, type] :
       {std::pair<std::string_view, std::string_view>{"F8", "f8"}, {"B8", "bf8"}, {"I8", "i8"}, {"F4", "f4"}})
    if (text.starts_with(letters)) {
      text.remove_prefix(letters.size());
      return type;
    }
  if (text.empty()) return {};
  const std::string_view type = type_of(text.front());
  if (!type.empty()) text.remove_prefix(1);
  return type;
}

// "BBS_BH": input, output and compute type, then flags (B: beta). "SB": one type for all, with beta.
void decode_types(std::string_view token, Json& out) {
  std::string_view rest = token;
  const std::string_view input = take_type(rest);
  if (input.empty()) return;
  out.set("input_type", input);
  if (rest.empty() || rest == "B") {
    out.set("output_type", input).set("compute_type", input);
    return;
  }
  const std::string_view output = take_type(rest);
  if (!output.empty()) out.set("output_type", output);
  const std::string_view compute = take_type(rest);
  if (!compute.empty()) out.set("compute_type", compute);
}

// Which of A and B is transposed follows from the order of their indices: A is i,l and B l,j where nothing is.
void decode_transposes(std::string_view a, std::string_view b, Json& out) {
  if (a == "Ailk" || a == "Alik") out.set("transpose_a", a == "Alik");
  if (b == "Bljk" || b == "Bjlk") out.set("transpose_b", b == "Bjlk");
}

bool all_digits(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text)
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) return false;
  return true;
}

// Tokens such as MT128x64x16, MI16x16x1, GSU4, ISA942.
void decode_token(std::string_view token, Json& out) {
  const auto number = [&](std::string_view prefix, std::string_view key) {
    if (token.starts_with(prefix) && all_digits(token.substr(prefix.size())))
      out.set(key, core::parse_i64(token.substr(prefix.size())));
  };
  if (token.starts_with("MT")) out.set_if("macro_tile", dimensions(token.substr(2)));
  if (token.starts_with("MI")) out.set_if("matrix_instruction", dimensions(token.substr(2)));
  if (token.starts_with("WG") && !token.starts_with("WGM")) out.set_if("work_group", dimensions(token.substr(2)));
  number("GSU", "split_k");
  number("PostGSU", "split_k");
  number("WGM", "work_group_mapping");
  number("SK", "stream_k");
  if (token.starts_with("GSUA")) out.set("split_k_algorithm", token.substr(4));
  if (token.starts_with("ISA")) out.set("architecture", "gfx" + std::string(token.substr(3)));
  if (token == "Bias") out.set("bias", true);
  if (token == "UserArgs") out.set("user_arguments", true);
}

}  // namespace

Json decode_tensile(std::string_view name) {
  const std::size_t begin = name.find("Cijk_");
  if (begin == std::string_view::npos) return {};
  const auto tokens = core::split(name.substr(begin + 5), '_');
  Json out = Json::object();
  std::size_t next = 0;
  if (tokens.size() > 2 && tokens[0].starts_with('A') && tokens[1].starts_with('B')) {
    decode_transposes(tokens[0], tokens[1], out);
    next = 2;
  }
  if (next < tokens.size()) {
    // "B_BS" is split by the input type's own separator.
    std::string types(tokens[next]);
    if (types.size() == 1 && next + 1 < tokens.size() && tokens[next + 1].size() <= 2 && tokens[next + 1] != "BH")
      types += tokens[next + 1];
    decode_types(types, out);
    ++next;
  }
  for (; next < tokens.size(); ++next) decode_token(tokens[next], out);
  return out;
}

}  // namespace aaco::analytics::fingerprint
