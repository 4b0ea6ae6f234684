#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace aaco::collectors::amdgpu {

// Texts of the amdgpu driver's sysfs files. All of them may be padded with NUL bytes, say "N/A", or hold a fraction.

// A number by itself; empty for "N/A" and other words, and for what is not finite.
std::optional<double> parse_level(std::string_view text);

// The clock of the line marked with an asterisk in pp_dpm_sclk and the like ("1: 2100Mhz *", "S: 19Mhz *"), Hz. The first
// where several are marked.
std::optional<double> parse_current_clock(std::string_view text);

// Every level, Hz, in the order of the file.
std::vector<double> parse_clock_levels(std::string_view text);

// "8.0 GT/s PCIe" in transfers per second.
std::optional<double> parse_link_speed(std::string_view text);

// RAS error counts: "ue: 1\nce: 5\n" (the driver adds a line for each kind it knows).
std::optional<double> parse_correctable(std::string_view text);
std::optional<double> parse_uncorrectable(std::string_view text);

}  // namespace aaco::collectors::amdgpu
