#include <cstdio>
#include <iostream>
#include <string>

#include "tests/serving/fault_server.h"

// The fault server as a process: prints its port, then a line of JSON per served request for each line it reads ("log"), and ends
// with its input.
int main() {
  aaco::serving_test::FaultServer server;
  std::printf("%d\n", server.port());
  std::fflush(stdout);
  std::string line;
  while (std::getline(std::cin, line)) {
    for (const auto& served : server.log()) {
      std::printf(R"({"scenario":"%s","received_ns":%lld,"events":[)", served.scenario.c_str(),
                  static_cast<long long>(served.received_ns));
      const char* separator = "";
      for (const auto& event : served.events) {
        std::printf("%s[%lld,%lld]", separator, static_cast<long long>(event.time_ns), static_cast<long long>(event.tokens));
        separator = ",";
      }
      std::printf("]}\n");
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}
