#include <cli/stop.h>

#include <csignal>

namespace splitcount::cli {
namespace {

std::atomic<bool> stop_asked{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void ask_to_stop(int /*signal*/) { stop_asked.store(true); }

}  // namespace

const std::atomic<bool>& stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = ask_to_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  return stop_asked;
}

}  // namespace splitcount::cli
