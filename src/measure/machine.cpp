#include <measure/machine.h>

#include <fstream>

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace splitcount::measure {
namespace {

std::string processor_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const auto colon = line.find(": ");
    return colon == std::string::npos ? std::string() : line.substr(colon + 2);
  }
  return {};
}

}  // namespace

Machine this_machine() {
  Machine machine;
  utsname names{};
  if (uname(&names) == 0) machine.system = std::string(names.sysname) + " " + names.release;
  machine.processor = processor_model();
  cpu_set_t usable;
  CPU_ZERO(&usable);
  machine.processors = sched_getaffinity(0, sizeof usable, &usable) == 0
                           ? CPU_COUNT(&usable)
                           : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  machine.memory_bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return machine;
}

}  // namespace splitcount::measure
