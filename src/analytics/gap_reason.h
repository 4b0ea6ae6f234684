#pragma once

#include <string>
#include <string_view>

// Why a node or an operator took longer than the device's roofs allow.
namespace aaco::analytics::roofline {

inline constexpr double kCloseToCeiling = 0.6;  // part of the attainable that counts as reached (our own judgement)
inline constexpr double kSmallNodeNs = 20'000;  // CPU nodes below this are mostly the runtime's overhead (our own judgement)
inline constexpr double kShapeLoss = 0.75;      // a GPU shape that uses less of the tiles or units explains a gap (likewise)

// "compute" where it computes longer than it moves data, else "memory": a launch floor is no ceiling.
std::string_view ceiling_of(double compute_time, double memory_time);

// All executions of one graph node on a CPU in one run of the graph; measured_ns is positive.
struct NodeGap {
  double measured_ns = 0;
  double attainable_ns = 0;
  double predicted_lower_ns = 0, predicted_upper_ns = 0;
  double count = 1;                       // executions
  double tile_ratio = 1, wave_ratio = 1;  // share of vector lanes and of cores that its shape uses
  std::string_view ceiling = "memory";    // of ceiling_of()
  bool comparable = true;                 // the prediction is for what ran: a run on fewer cores is never a surprise
};

// All calls of one operator on a GPU with one shape; measured_ns and count are positive.
struct SiteGap {
  double measured_ns = 0;
  double attainable_ns = 0;
  double predicted_lower_ns = 0, predicted_upper_ns = 0;  // of one call
  double floor_ns = 0;                                    // of one call: starting and ending its kernels
  double count = 1;                                       // calls
  double kernels = 1;                                     // launched by all calls
  double needed = 1;                                      // kernels that one call needs
  double tile_ratio = 1, wave_ratio = 1;                  // share of tiles and of compute units that its shape uses
  std::string_view ceiling = "memory";
};

struct GapReason {
  std::string text;       // one clause
  bool surprise = false;  // the measured time lies outside the prediction's interval
  bool operator==(const GapReason&) const = default;
};

GapReason reason_of(const NodeGap& node);
GapReason reason_of(const SiteGap& site);

}  // namespace aaco::analytics::roofline
