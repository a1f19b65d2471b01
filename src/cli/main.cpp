#include <clocale>
#include <csignal>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <cli/app.h>

namespace {

/// A closed standard stream would be replaced by the first file that is opened, and our output would land in it.
/// The replacement refuses what the closed one would have refused.
void keep_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(descriptor, F_GETFD) == -1) (void)open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

}  // namespace

int main(int argc, char** argv) {
  keep_standard_streams();
  std::setlocale(LC_CTYPE, "C.UTF-8");  // for the widths of characters
  // A reader that has gone (| head) is seen as an error of the write, so that a commit is never cut by it; a limit on
  // file sizes is seen as a full disk.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  return splitcount::cli::run(words);
}
