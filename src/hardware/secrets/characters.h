#pragma once

#include <cctype>

namespace aaco::hardware::secrets {

inline bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
inline bool is_lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
inline bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
inline bool is_letter(char c) { return is_lower(c) || is_upper(c); }
inline bool is_alnum(char c) { return is_letter(c) || is_digit(c); }

}  // namespace aaco::hardware::secrets
